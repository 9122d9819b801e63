"""`traceview compare`: every format, exit codes, baselines, hostile names."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cases import first
from compared import IMPLICIT, network, stepping
from given import Given, write

from traceview import cli


def run(capsys: pytest.CaptureFixture[str], *args: object, code: int = 0) -> str:
    assert cli.main(["compare", *map(str, args)]) == code
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *args: object, code: int = 2) -> str:
    """Return the error that is printed instead of a comparison."""
    assert cli.main(["compare", *map(str, args)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def saved(folder: Path, given: Given) -> Path:
    """A capture that every verb opens."""
    write(folder, given)
    (folder / "converted.json").write_text(json.dumps({"schema": _schema()}), encoding="utf-8")
    return folder


def _schema() -> str:
    from traceview.tables import SCHEMA_VERSION

    return SCHEMA_VERSION


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Steps of 1000 and of 1100 microseconds."""
    folder = tmp_path_factory.mktemp("pair")
    fast = saved(folder / "fast", stepping((1000, 1004, 996, 1002, 998)))
    return fast, saved(folder / "slow", stepping((1100, 1104, 1096, 1102, 1098), busy=150))


@pytest.mark.slow
def test_a_table_with_bars(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, *pair, "--all")
    assert text.startswith("Comparison\n")
    lines = text.splitlines()
    (whole,) = [line for line in lines if "(whole step)" in line]
    assert whole.split() == ["B", "(whole", "step)", "-", "-", "1.000", "1.100", "0.100", *whole.split()[8:]]
    assert whole.split()[10:] == ["0.100", "1.10", "100.0", "█" * 10]
    (slow,) = [line for line in lines if "larger than the noise; " in line]
    assert slow.split()[:4] == ["B", "2", "1,100", "3.162"]
    assert slow.endswith("█" * 10)
    assert "A: Steps: 5 counted; step source: " in text and "B: Steps: 5 counted; step source: " in text


@pytest.mark.long
@pytest.mark.parametrize(("form", "sign"), [("json", "\\u2588"), ("csv", "█"), ("markdown", "█")])
def test_bars_are_for_the_terminal_only(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], form: str, sign: str
) -> None:
    text = run(capsys, *pair, "--format", form)
    assert sign not in text and "(whole step)" in text


@pytest.mark.slow
def test_csv_holds_exact_numbers(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    parts = run(capsys, *pair, "--format", "csv").split("\n\n# section: ")
    section = next(part for part in parts if part.startswith("ranking\n"))
    rows = list(csv.DictReader(io.StringIO(section.partition("\n")[2])))
    assert [(row["run"], float(row["step_ns"])) for row in rows] == [("A", 1_000_000.0), ("B", 1_100_000.0)]


@pytest.mark.long
def test_a_baseline_is_a_capture_or_a_saved_comparison(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast, slow = pair
    saved_comparison, kept = tmp_path / "saved.json", tmp_path / "kept.json"
    assert run(capsys, fast, slow, "--format", "json", "-o", saved_comparison) == ""
    assert cli.main(["baseline", "save", str(kept), str(fast)]) == 0
    by_file = run(capsys, slow, "--baseline", saved_comparison)
    assert by_file == run(capsys, slow, "--baseline", kept) == run(capsys, fast, slow)
    assert by_file == run(capsys, slow, "--baseline", fast)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "code"), first(1, [("5%", 1), ("11", 0)]))
def test_the_exit_code_of_a_check(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], limit: str, code: int
) -> None:
    fast, slow = pair
    assert cli.main(["compare", str(slow), "--baseline", str(fast), "--fail-over", limit]) == code
    errors = capsys.readouterr().err
    reserved = "larger than the noise; not checked: model (taken for the same, since both ran the same command), "
    said = f"traceview: a step of B takes 10.0 % longer than one of A ({reserved}batch, precision, passes)\n"
    assert errors == (said if code else f"traceview: B passes, but: {reserved}batch, precision, passes\n")
    assert cli.main(["compare", str(fast), "--baseline", str(slow), "--fail-over", limit]) == 0


@pytest.mark.long
@pytest.mark.parametrize("steps", [(900, 1700), (900, 1700, 900, 1700, 900, 1700)])
def test_what_noise_explains_is_no_failure_unless_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], steps: tuple[int, ...]
) -> None:
    fast, slow = saved(tmp_path / "a", stepping((700, 1300) * 3)), saved(tmp_path / "b", stepping(steps))
    run(capsys, fast, slow, "--fail-over", "5%")
    assert cli.main(["compare", str(fast), str(slow), "--fail-over", "5%", "--strict"]) == 1
    few = " (few steps)" if len(steps) < 5 else ""
    said = f"traceview: a step of B takes 30.0 % longer than one of A (within the noise{few}; not checked: "
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.slow
@pytest.mark.parametrize("form", first(1, ["table", "csv", "json", "markdown"]))
def test_what_two_logs_do_not_tell_is_said_in_every_format_and_by_a_check(
    root: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    log = root / "samples" / "theano_profile" / "theano-1.0.5-lenet-cpu.txt.gz"
    command = ["compare", str(log), str(log), "--format", form, "--limit", "1", "--fail-over", "5%"]
    for strict, code in (((), 0), (("--strict",), 1)):
        assert cli.main([*command, *strict]) == code
        assert capsys.readouterr().err == (
            "traceview: B step cannot be checked: not ranked: nothing tells that both ran the same model\n"
        )
    assert cli.main([*command, "--accept", "model"]) == 0
    shown = capsys.readouterr()
    verdict = "cannot tell from noise: a log gives no deviation; not checked: model, batch, precision"
    assert verdict in shown.out and shown.err == f"traceview: B passes, but: {verdict}\n"
    # CSV has no lines under its tables.
    told = "A: Steps: the log has no single steps; its times are averages over 20 calls." in shown.out
    assert told == (form != "csv") and "times are for the whole recording" not in shown.out


@pytest.mark.long
def test_what_may_not_be_ranked_cannot_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = saved(tmp_path / "small", network((IMPLICIT, IMPLICIT)))
    large = saved(tmp_path / "large", network((IMPLICIT, IMPLICIT), batch=8))
    assert cli.main(["compare", str(small), str(large)]) == 0
    assert cli.main(["compare", str(small), str(large), "--fail-over", "5%"]) == 0
    assert capsys.readouterr().err == "traceview: B step cannot be checked: not ranked: batch differs\n"
    assert cli.main(["compare", str(small), str(large), "--fail-over", "5%", "--strict"]) == 1
    assert cli.main(["compare", str(small), str(large), "--fail-over", "5%", "--accept", "batch"]) == 0


@pytest.mark.long
def test_one_run_without_steps_makes_all_be_compared_as_a_whole(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = Given()
    given.kernel("ampere_sgemm_128x64_nn", 0, 500)
    whole = saved(tmp_path / "whole", given)
    found = json.loads(run(capsys, pair[0], whole, "--format", "json"))
    section = next(section for section in found["sections"] if section["name"] == "difference")
    assert [(row["part"], row["base_ns"], row["busy_ns"]) for row in section["rows"]] == [
        ("(whole step)", 4_102_000.0, 500_000.0),
        ("idle: unknown", 3_602_000.0, 0.0),
        ("gemm", 500_000.0, 500_000.0),
    ]
    run(capsys, pair[0], whole, "--fail-over", "5%", "--strict", code=1)
    baseline = tmp_path / "saved.json"
    assert cli.main(["baseline", "save", str(baseline), str(pair[0])]) == 0
    assert cli.main(["compare", str(baseline), str(whole)]) == 2
    assert "holds times per step" in capsys.readouterr().err


@pytest.mark.slow
def test_chosen_steps(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, *pair, "--step", "2-2", "--format", "json"))
    section = next(section for section in found["sections"] if section["name"] == "ranking")
    assert [row["step_ns"] for row in section["rows"]] == [1_004_000, 1_104_000]
    unchecked = "; not checked: model (taken for the same, since both ran the same command), batch, precision, passes"
    assert section["rows"][1]["verdict"] == f"cannot tell from noise: fewer than two steps{unchecked}"
    said = refused(capsys, *pair, "--step", "7-9")
    assert "has none of the steps asked for; `traceview report INPUT steps` lists them." in said


@pytest.mark.slow
def test_a_saved_comparison_of_some_steps_stands_for_these_alone(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast, slow = pair
    some, every = tmp_path / "some.json", tmp_path / "every.json"
    run(capsys, fast, slow, "--step", "2-2", "--format", "json", "-o", some)
    run(capsys, fast, slow, "--format", "json", "-o", every)
    told = "is a saved comparison of --step 2-2, the other inputs of all steps but warm-up; choose the same"
    assert told in refused(capsys, some, slow)
    told = "is a saved comparison of all steps but warm-up, the other inputs of --nth-step 2; choose the same"
    assert told in refused(capsys, every, slow, "--nth-step", "2")
    by_file = run(capsys, some, slow, "--step", "2-2", "--format", "csv")
    assert by_file == run(capsys, fast, slow, "--step", "2-2", "--format", "csv")


@pytest.mark.parametrize(
    "wrong", [("--step", "first"), ("--fail-over", "much"), ("--fail-over", "line=5%"), ("--accept", "anything")]
)
def test_wrong_options(trace: Path, wrong: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        cli.main(["compare", str(trace), *wrong])
    assert error.value.code == 2 and capsys.readouterr().err.startswith(f"traceview: {wrong[0]}: ")


def test_one_run_is_compared_with_nothing(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for more in ((), ("--format", "json"), ("--fail-over", "5%")):
        assert "name another, or a --baseline" in refused(capsys, pair[0], *more)
    assert "name another" in refused(capsys, "--a", *pair)


@pytest.mark.parametrize(
    "content", ['{"report": "compare"', '{"report": "compare", "runs": 3}', '{"report": "compare"}']
)
def test_a_damaged_baseline_is_said(
    trace: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(content, encoding="utf-8")
    said = refused(capsys, trace, "--baseline", baseline, code=3)
    assert said == f"traceview: {baseline} is not a comparison written by `traceview compare --format json`.\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", first(2, ["table", "csv", "markdown", "json"]))
def test_a_hostile_name_is_only_shown(
    trace: Path, capsys: pytest.CaptureFixture[str], form: str, hostile_kernel: str
) -> None:
    text = run(capsys, trace, trace, "--format", form)
    assert "\x1b" not in text and hostile_kernel not in text and "evil" in text


def test_every_query_is_printed(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace, trace, "--show-sql")
    for name in ("compare/window/chosen_rows", "compare/facts/cell", "compare/views/pair", "compare/difference"):
        assert f"-- queries/{name}.sql: " in text


@pytest.mark.long
def test_several_recordings_of_each_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = [saved(tmp_path / f"old{n}", stepping((1000 + n, 1000 + n))) for n in range(3)]
    new = [saved(tmp_path / f"new{n}", stepping((1200 + n, 1200 + n))) for n in range(3)]
    text = run(capsys, "--a", *old, "--b", *new, "--fail-over", "5%", code=1)
    assert text.startswith(
        "Comparison\nB is 20.0 % slower than A (90 % interval +19.8 % to +20.2 %; 3 and 3 recordings)"
    )
    baseline = tmp_path / "saved.json"
    assert cli.main(["baseline", "save", str(baseline), *map(str, old)]) == 0
    assert run(capsys, "--baseline", baseline, "--b", *new) == text
    (answer, *_) = json.loads(run(capsys, "--a", *old, "--b", *new, "--format", "json"))["sections"]
    assert answer["rows"][0]["run"] == "B" and answer["rows"][0]["sentence"].startswith("B is 20.0 % slower")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ((), "name the runs to compare: traceview compare A B"),
        (("--b", "x"), "--b is compared with --a or with a --baseline; name one."),
        (("--a", "x", "--baseline", "y"), "--a and --baseline both name run A; leave one out."),
        (("x", "y", "--checks", "c.xml"), "--checks and --annotations say what --fail-over found; give a limit."),
        (("x", "y", "--fail-over", "5%", "--checks", "c.txt"), "--checks writes FILE.xml or FILE.md, not c.txt."),
        (("x", "--nth-step", "1", "--step", "1-2"), "--step and --nth-step both choose steps; leave one out."),
    ],
)
def test_sides_that_do_not_fit_together(wrong: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, *wrong) == f"traceview: {told}\n"


@pytest.mark.slow
def test_aligned_steps(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, *pair, "--nth-step", "2", "--format", "json"))
    section = next(section for section in found["sections"] if section["name"] == "ranking")
    assert [row["step_ns"] for row in section["rows"]] == [1_004_000, 1_104_000]


def test_a_step_of_a_recording_without_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = Given()
    given.kernel("k", 0, 10)
    trace = str(saved(tmp_path / "run", given))
    for asked in (["export", trace, "--to", "chrome", "--step", "1"], ["page", trace, "--step", "1"]):
        assert cli.main(asked) == 2
        assert capsys.readouterr().err == "traceview: the capture has no step 1; it has no steps.\n"
    told = f"traceview: {trace} has no steps; leave out --step and --nth-step.\n"
    assert refused(capsys, trace, trace, "--nth-step", "1") == told


@pytest.mark.slow
def test_a_comparison_fills_one_screen(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, *pair).splitlines()
    assert len(lines) < 40 and max(map(len, lines)) <= 80
    # An interval and the value of the other run are never left out.
    place = lines.index("Where the difference goes")
    head = [word for line in lines[place + 1 : place + 3] for word in line.split() if word[0] != "["]
    assert sorted(head) == sorted(["run", "part", "base", "busy", "diff", "low", "high", "ratio"])
    assert any("low  " in line and "verdict" in line for line in lines)
    assert lines[-1].endswith(".") and any("--all shows more: " in line for line in lines)
