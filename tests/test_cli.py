"""Exit codes, and the last resort: a fault of ours is one sentence, and with --debug a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview import cli, store
from traceview.commands import list as list_verb


def broken(*_: object, **__: object) -> int:
    raise RuntimeError("bad \x1b[31mname\nsecond line")


def test_a_fault_while_reading_a_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(store, "open_capture", broken)
    assert cli.main(["report", "some-trace.json"]) == 3
    assert capsys.readouterr() == (
        "",
        "traceview: an unexpected RuntimeError while reading some-trace.json (bad \\x1b[31mname). "
        "This is a fault of traceview: --debug shows where; please report it.\n",
    )
    monkeypatch.setattr(store, "convert", broken)
    assert cli.main(["convert", "a", "b", "-o", "c"]) == 3
    assert "while reading a, b" in capsys.readouterr().err


def test_a_fault_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(list_verb, "run", broken)
    assert cli.main(["list", "formats"]) == 2
    assert capsys.readouterr().err.startswith("traceview: an unexpected RuntimeError (bad")


@pytest.mark.parametrize("command", [["--debug", "report", "x"], ["report", "x", "--debug"]])
def test_debug_hides_nothing(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setattr(store, "open_capture", broken)
    with pytest.raises(RuntimeError, match="second line"):
        cli.main(command)


def test_an_expected_failure_is_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path / "absent")]) == 3
    assert capsys.readouterr().err == f"traceview: {tmp_path}/absent does not exist.\n"
