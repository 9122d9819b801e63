"""`traceview report`: every format, limits, parameters, files, and names that attack."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from cases import first

from traceview import cli, sql
from traceview.analysis import findings, reports
from traceview.analysis.model import Section
from traceview.store import views

SAMPLES = Path(__file__).parents[2] / "samples"


def run(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    assert cli.main(["report", *map(str, args)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.slow
def test_the_overview_is_what_is_shown_without_a_name(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace)
    assert text == run(capsys, trace, "overview")
    assert text.startswith("Overview: per step and rank") and "\nAttributed: " in text


def test_times_of_kernels(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = next(line for line in run(capsys, trace, "kernels").splitlines() if line.startswith("ampere_sgemm"))
    cells = line.split()
    share, calls, total, mean, median, sd, least, most = cells[1:9]
    assert (share, calls, total, sd) == ("66.7", "2", "200.0", "0.000") and cells[9] == "gemm"
    assert {float(cell) for cell in (mean, median, least, most)} == {100}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "csv", "markdown", "json"])
def test_a_hostile_name_is_only_shown(
    trace: Path, capsys: pytest.CaptureFixture[str], form: str, hostile_kernel: str
) -> None:
    text = run(capsys, trace, "kernels", "--format", form)
    assert "\x1b" not in text and hostile_kernel not in text
    shown = {
        "table": "=evil\\x1b[2J|\\n<b>`x`",
        "csv": "'=evil\\x1b[2J|\\n<b>`x`,",
        "markdown": "| `=evil\\x1b[2J\\x7c\\n<b>\\x60x\\x60` |",
        "json": '"=evil\\u001b[2J|\\n<b>`x`"',
    }
    assert shown[form] in text


def test_json_is_one_object_or_an_array(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = json.loads(run(capsys, trace, "kernels", "--format", "json"))
    rows = one["sections"][0]["rows"]
    assert one["report"] == "kernels"
    assert [(row["calls"], row["total_ns"]) for row in rows] == [(2, 200_000), (2, 100_000)]
    two = json.loads(run(capsys, trace, "kernels", "copies", "kernels", "--format", "json"))
    assert [report["report"] for report in two] == ["kernels", "copies"]
    assert two[0] == one


def test_csv_of_one_section(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(run(capsys, trace, "kernels", "--format", "csv"))))
    assert [row["total_ns"] for row in rows] == ["200000", "100000"]


@pytest.mark.slow
def test_the_footer_is_said_once(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("table", "markdown"):
        assert run(capsys, trace, "kernels", "copies", "--format", form).count("Attributed: ") == 1


@pytest.mark.slow
def test_a_limit_says_what_it_left_out(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace, "kernels", "--limit", "1")
    assert "--limit 0 shows all 2 rows." in text and "(1 other)" in text
    assert "evil" not in text
    assert "left out" not in run(capsys, trace, "kernels", "--limit", "0")
    section = json.loads(run(capsys, trace, "kernels", "--limit", "1", "--format", "json"))["sections"][0]
    assert len(section["rows"]) == 1 and section["note"].startswith("1 of 2 rows")


@pytest.mark.slow
def test_into_a_file(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, trace, "kernels", "-o", tmp_path / "a.txt") == ""
    assert (tmp_path / "a.txt").read_text(encoding="utf-8").startswith("Kernels\n")
    assert cli.main(["report", str(trace), "-o", str(tmp_path / "no" / "a.txt")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_show_sql_needs_no_input(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "not-there.json", "kernels", "--show-sql")
    assert "-- queries/kernels/" in text and "uses queries/views/: " in text
    assert text.rstrip().endswith(";")


def test_names_are_checked_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "not-there.json", "kernel"]) == 2
    error = capsys.readouterr().err
    assert "did you mean kernels" in error
    assert "`traceview list reports`" in error
    assert cli.main(["report", "not-there.json", "zzz"]) == 2
    error = capsys.readouterr().err
    assert all(name in error for name in reports.names())


def test_parameters_are_checked(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(trace), "kernels", "--set", "no_such=1"]) == 2
    assert "unknown parameter 'no_such'" in capsys.readouterr().err
    assert cli.main(["report", str(trace), "whatif", "--set", "costs=communication,Layout"]) == 2
    told = "costs = 'communication,Layout': there is no 'Layout'; did you mean layout? choices are: layout, firstlayer"
    assert told in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["report", str(trace), "kernels", "--set", "novalue"])
    assert "NAME=VALUE" in capsys.readouterr().err


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(trace: Path, root: Path) -> None:
    command = f"'{sys.executable}' -m traceview report '{trace}' kernels --limit 0 | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Kernels\n", "")


@pytest.mark.slow
def test_output_is_utf8_in_any_locale(trace: Path, root: Path) -> None:
    command = [sys.executable, "-m", "traceview", "report", str(trace), "kernels"]
    done = subprocess.run(
        command, cwd=root, capture_output=True, env={"PYTHONIOENCODING": "ascii", "HOME": "/nonexistent"}
    )
    assert done.returncode == 0, done.stderr
    assert "─" in done.stdout.decode("utf-8")


def test_what_could_have_been_used_is_shown_with_conv_only(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Algorithms that cuDNN could have used" in run(capsys, trace, "conv", "--admissible")
    assert "Algorithms that cuDNN could have used" not in run(capsys, trace, "conv")
    assert cli.main(["report", str(trace), "--admissible"]) == 2


@pytest.mark.slow
def test_the_device_can_be_said(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def device(*args: str) -> str:
        sections = json.loads(run(capsys, trace, "--format", "json", *args))["sections"]
        return str(next(section for section in sections if section["name"] == "run")["rows"][0]["device"])

    assert device("--gpu", "MI300X") == "MI300X"
    assert device() != "MI300X"


def test_a_device_that_nobody_knows_is_refused(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["report", str(trace), "--gpu", "Voodoo 2"])
    assert "'Voodoo 2' is not a known GPU; known are " in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "names"),
    first(
        2,
        [
            ("theano_profile/theano-1.0.5-lenet-cpu.txt.gz", []),
            ("kineto/torch-2.13.0-alexnet-cpu.json.gz", ["overview"]),
            ("kineto/torch-2.13.0-lenet-ddp-cpu", ["overview", "idle"]),
            ("xplane/jax-0.10.2-alexnet-cpu.xplane.pb.gz", []),
        ],
    ),
)
def test_the_headline_is_printed_before_the_best_finding_is_looked_for(
    sample: str, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file gets in one piece what is printed in two."""
    path, whole = SAMPLES / sample, tmp_path / "whole.txt"
    printed: list[str] = []
    before: list[str] = []
    best = findings.best

    def watched(connection: duckdb.DuckDBPyConnection, is_remembered: bool = False) -> Section:
        before.extend(printed)
        return best(connection, is_remembered)

    with monkeypatch.context() as patched:
        patched.setattr(findings, "best", watched)
        patched.setattr(sys.stdout, "write", printed.append)
        assert cli.main(["report", str(path), *names]) == 0
    assert cli.main(["report", str(path), *names, "-o", str(whole)]) == 0
    assert "".join(printed) == whole.read_text(encoding="utf-8")
    first, second = printed
    assert before == [first]
    assert second.splitlines()[0].startswith(("Best finding", "No "))


@pytest.mark.slow
@pytest.mark.parametrize("names", [[], ["overview", "idle"], ["conv", "--limit", "2"], ["--all"]])
def test_the_second_time_no_query_is_asked(
    names: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    remembered: None,
) -> None:
    forms = [[], ["--format", "json"], ["--format", "csv"], ["--format", "markdown"]]
    words = ["report", str(SAMPLES / "kineto/torch-2.13.0-lenet-cpu.json.gz"), *names]
    first = [cli.main([*words, *form]) or capsys.readouterr().out for form in forms]
    monkeypatch.setattr(sql.Query, "run", lambda *_: pytest.fail("a query was asked"))
    monkeypatch.setattr(views, "connect", lambda *_: pytest.fail("a connection was made"))
    assert [cli.main([*words, *form]) or capsys.readouterr().out for form in forms] == first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ("torch-2.13.0-lenet-cpu.json.gz", ["critical", "--set", "step=4"]),
        ("torch-2.13.0-lenet-cpu.json.gz", ["conv", "--admissible"]),
        ("torch-2.13.0-lenet-ddp-cpu", ["overview", "--rank", "1"]),
    ],
)
def test_an_answer_is_not_taken_for_that_to_another_question(
    sample: str,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    remembered: None,
) -> None:
    trace = SAMPLES / "kineto" / sample
    plain, other = (run(capsys, trace, *asked, "--format", "json") for asked in (words[:1], words))
    assert run(capsys, trace, *words[:1], "--format", "json") == plain != other


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [
        "kineto/torch-2.13.0-alexnet-cpu.json.gz",
        "cntk_timing/cntk-2.7-lenet-cpu.txt.gz",
        pytest.param("kineto/torch-2.13.0-lenet-ddp-cpu", marks=pytest.mark.long),
        pytest.param("onnxruntime/onnxruntime-1.31.1-alexnet-cpu.json.gz", marks=pytest.mark.long),
    ],
)
def test_the_overview_fills_one_screen(
    sample: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, SAMPLES / sample).splitlines()
    assert len(lines) < 40 and max(map(len, lines)) <= 80
    assert {"Time by category"} <= set(lines)
    rest = lines[-1].removeprefix("--all shows more: ").rstrip(".").split(", ")
    everything = run(capsys, SAMPLES / sample, "--all").splitlines()
    is_there = "convolutions" in rest or "Most expensive convolutions" in lines
    assert len(everything) > len(lines) and ("Most expensive convolutions" in everything) == is_there


@pytest.mark.slow
def test_convolutions_with_their_conversions_are_shares_of_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    trace = SAMPLES / "onednn" / "onednn-3.7.3-tensorflow-alexnet-cpu.log.gz"
    sections = {part["name"]: part for part in json.loads(run(capsys, trace, "--format", "json"))["sections"]}
    (row,) = sections["headline"]["rows"]
    shares = {entry["category"]: entry["step_pct"] for entry in sections["categories"]["rows"]}
    assert row["conv_pct"] == pytest.approx(shares["conv"])
    both = shares["conv"] + shares["layout_transpose"]
    assert row["with_layout"] == f", {both:.1f} % with layout conversions"


@pytest.mark.slow
def test_colour_is_kept_for_a_pager(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[" not in run(capsys, trace)
    text = run(capsys, trace, "--color", "always")
    # Neither yellow nor cyan, which nobody reads on white.
    assert "\x1b[1;35m" in text and not any(f"\x1b[{code}m" in text for code in (33, 36, "1;36"))
    assert "\x1b[" not in run(capsys, trace, "--color", "never")
