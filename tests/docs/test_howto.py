"""Every command of docs/howto.md runs on the samples that it names."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from traceview import cli

PAGE = (Path(__file__).resolve().parents[2] / "docs/howto.md").read_text(encoding="utf-8")
TRACES = dict(re.findall(r"`?(\w)=(samples/\S+\.gz)`", PAGE))
PARTS = PAGE.split("\n## ")[1:]


@pytest.mark.parametrize("part", PARTS, ids=[part.splitlines()[0] for part in PARTS])
def test_the_commands_of_an_answer_run(
    part: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for line in part.splitlines() if line.startswith("    traceview ")]
    commands = [shlex.split(re.sub(r"\$(\w)", lambda name: TRACES[name[1]], line))[1:] for line in lines]
    for place in {word for command in commands for word in command if word.startswith("samples/")}:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (root / place).is_dir() else shutil.copyfile)(root / place, tmp_path / place)
    monkeypatch.chdir(tmp_path)
    assert commands
    for command in commands:
        assert cli.main(command) == 0, capsys.readouterr().err
        to = command[command.index("-o") + 1] if "-o" in command else None
        shown = capsys.readouterr()
        assert (tmp_path / to).stat().st_size > 200 if to else len(shown.out + shown.err) > 40


def test_claims_about_single_answers_hold(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "a.json.gz"
    shutil.copyfile(root / TRACES["A"], trace)
    for letter, command, words in (
        ("C", ["report", "conv"], "direct"),
        ("D", ["advise", "plain_layout_on_cpu"], "Plain layout on a CPU"),
    ):
        shutil.copyfile(root / TRACES[letter], tmp_path / letter)
        assert cli.main([command[0], str(tmp_path / letter), command[1]]) == 0
        assert words in capsys.readouterr().out
    assert cli.main(["report", str(trace), "lines"]) == 0
    assert "--stacks" in capsys.readouterr().out
