"""The commands of docs/compare.md run."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from traceview import cli
from traceview.analysis import compare

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs/compare.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line) for line in PAGE.splitlines() if line.startswith("    traceview ")]


@pytest.mark.long
def test_the_commands_of_the_page_run(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(root / "samples", tmp_path / "samples", ignore=shutil.ignore_patterns("*.traceview"))
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) == 4
    for command in COMMANDS:
        assert cli.main(command[1:]) == 0
        captured = capsys.readouterr()
        assert captured.err == "" or command[1] == "baseline"
        if "-o" in command:
            assert captured.out == ""
            assert "Comparison" in (tmp_path / command[command.index("-o") + 1]).read_text(encoding="utf-8")
        elif command[1] == "compare":
            assert re.match(r"Comparison\nB (is|and A are) ", captured.out), captured.out[:200]
            assert cli.main([*command[1:], "--all"]) == 0
            assert "\nB: Steps: " in capsys.readouterr().out


def test_the_page_names_every_section() -> None:
    for query in compare.plan().sections:
        assert query.name in PAGE, query.name
