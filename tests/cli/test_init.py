"""Exit codes, and the last resort: a fault of ours is one sentence, and with --debug a traceback."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path

import pytest

from traceview import cli, store
from traceview.cli import list as list_verb
from traceview.store import materialized

SAMPLE = Path(__file__).resolve().parents[2] / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


def broken(*_: object, **__: object) -> int:
    raise RuntimeError("bad \x1b[31mname\nsecond line")


def test_a_fault_while_reading_a_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(store, "converted", broken)
    assert cli.main(["report", "some-trace.json"]) == 3
    assert capsys.readouterr() == (
        "",
        "traceview: an unexpected RuntimeError while reading some-trace.json (bad \\x1b[31mname). "
        "This is a bug in traceview; please report it with the output of --debug.\n",
    )
    monkeypatch.setattr(store, "convert", broken)
    assert cli.main(["convert", "a", "b", "-o", "c"]) == 3
    assert "while reading a, b" in capsys.readouterr().err


def test_what_a_disk_refuses_is_not_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def locked(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/data/locked")

    monkeypatch.setattr(store, "converted", locked)
    assert cli.main(["report", "some-trace.json"]) == 3
    assert capsys.readouterr().err == "traceview: cannot read or write /data/locked: Permission denied.\n"


@pytest.mark.parametrize(
    "words",
    [
        ["report", "a.json", "-o", "a.json"],
        ["advise", "a.json", "-o", "./a.json"],
        ["sql", "a.json", "SELECT 1", "-o", "a.json"],
        ["export", "a.json", "--to", "perfetto", "-o", "same.json"],
        ["page", "a.json", "-o", "a.json"],
        ["compare", "b.json", "a.json", "-o", "a.json"],
    ],
)
def test_an_answer_does_not_take_the_place_of_its_trace(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(trace.read_bytes())
    (tmp_path / "same.json").symlink_to("a.json")
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 2
    assert f"{words[-1]} is the input and would be overwritten; choose another name" in capsys.readouterr().err
    assert (tmp_path / "a.json").read_bytes() == trace.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["sql", "SELECT 1", "a.json"], 2, "the trace comes before the query: traceview sql a.json 'SELECT 1'"),
        (["sql", "a.json", " ; "], 2, "the query is empty; give one, for example"),
        (["mcp", "absent.json"], 3, "absent.json does not exist; did you mean a.json?"),
        (["report", "a.json", "--memory", "9" * 15 + "TB"], 2, "is more than any machine has"),
        (["report", "a.json", "--threads", "999999999"], 2, "'999999999' is more than 1,024"),
        (["compare", "a.json", "a.json", "--step", "5-1"], 2, "'5-1' is not a range of steps; write for example 1-16"),
        (
            ["advise", "a.json", "--set", "layout_conv_pct=nan"],
            2,
            "layout_conv_pct = 'nan' is not a number: found abov",
        ),
        pytest.param(
            ["advise", "a.json", "--set", "layout_conv_pct=1e400"],
            2,
            "layout_conv_pct = '1e400' is not a number: found",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_slip_is_one_sentence(
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    says: str,
) -> None:
    (tmp_path / "a.json").write_bytes(trace.read_bytes())
    monkeypatch.chdir(tmp_path)
    try:
        found = cli.main(words)
    except SystemExit as end:
        found = int(end.code or 0)
    captured = capsys.readouterr()
    assert (found, captured.out, captured.err.count("\n")) == (code, "", 1)
    assert says in captured.err


def test_a_fault_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(list_verb, "run", broken)
    assert cli.main(["list", "formats"]) == 2
    assert capsys.readouterr().err.startswith("traceview: an unexpected RuntimeError (bad")


@pytest.mark.parametrize("command", [["--debug", "report", "x"], ["report", "x", "--debug"]])
def test_debug_hides_nothing(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setattr(store, "converted", broken)
    with pytest.raises(RuntimeError, match="second line"):
        cli.main(command)


def test_an_expected_failure_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path / "absent")]) == 3
    assert capsys.readouterr().err == f"traceview: {tmp_path}/absent does not exist.\n"


@pytest.mark.long
def test_a_wrong_bit_in_what_is_materialized_is_worked_out_again(tmp_path: Path) -> None:
    trace = tmp_path / SAMPLE.name
    trace.write_bytes(SAMPLE.read_bytes())

    def report() -> tuple[int, str, str]:
        command = [sys.executable, "-m", "traceview", "report", str(trace), "layers", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True)
        # Several threads add up: the last digits of a sum are not the same each time.
        said = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.9g}", done.stdout)
        return done.returncode, said, done.stderr

    right = report()
    assert right[0] == 0 and "conv1" in right[1]
    place = materialized.place(tmp_path / f"{SAMPLE.name}.traceview")
    for file in place.glob("*.parquet"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    assert report() == right


def test_complaints_show_names_and_do_not_act_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[2J\nforged\u3164\u202e"
    shown = "\\x1b[2J\\nforged\\u3164\\u202e"
    assert cli.main(["report", str(tmp_path / name)]) == 3
    assert capsys.readouterr().err == f"traceview: {tmp_path}/{shown} does not exist.\n"
    with pytest.raises(SystemExit):
        cli.main(["report", "x", f"--{name}"])
    assert capsys.readouterr().err.startswith(f"traceview: there is no option --{shown} (see ")
    assert cli.main(["sql", str(SAMPLE), "-f", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith(f"traceview: cannot read {tmp_path}/{shown}: ")


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(24, "Too many open files"), ImportError("failed to map segment")]
)
def test_what_the_machine_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def lacking(*_: object, **__: object) -> int:
        raise RuntimeError("while at work") from error

    monkeypatch.setattr(store, "converted", lacking)
    assert cli.main(["report", "x"]) == 3
    said = capsys.readouterr().err
    assert "raise" in said and "limit" in said and "fault of" not in said


@pytest.mark.slow
@pytest.mark.parametrize("url", ["https://example.com/a/trace.json.gz", "ftp://example.com/trace.json"])
def test_a_url_is_not_a_path(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["report", url], ["convert", url, "-o", "never"], ["compare", str(SAMPLE), url]):
        assert cli.main(words) == 3
        assert f"{url} is a URL, and traceview does not download" in capsys.readouterr().err
    assert cli.main(["report", "file:///no/such/trace"]) == 3
    assert "give the path /no/such/trace instead" in capsys.readouterr().err
