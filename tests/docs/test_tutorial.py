"""docs/tutorial.md: its commands run one after the other on its script, and its change keeps the script's numbers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
SCRIPT, CHANGE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SLOW = re.search(r"def compand.*?\n\n\n", SCRIPT, re.DOTALL)[0]  # type: ignore[index]
STEPS = re.split(r"\n## \d\. ", PAGE)[1:]
COMMANDS = [re.findall(r"^    ((?:traceview|for) .*)", step, re.MULTILINE) for step in STEPS]
"""Commands of each step of the page."""


def test_the_change_gives_the_same_numbers() -> None:
    torch: Any = pytest.importorskip("torch")
    values = torch.rand(16, 1000, generator=torch.Generator().manual_seed(1)) * 2 - 1
    given = []
    for text in (SLOW, CHANGE):
        names: dict[str, Any] = {}
        exec("import math, torch\n" + text, names)
        given.append(names["compand"](values))
    assert torch.allclose(*given, atol=1e-6) and given[0].abs().mean() > values.abs().mean() + 0.2


def test_the_line_that_the_page_names_is_the_loop() -> None:
    assert "Mostly at train.py:22 " in PAGE and "for value in sound" in SCRIPT.splitlines()[21]


def test_every_step_has_its_commands() -> None:
    assert [len(commands) for commands in COMMANDS] == [1, 1, 2, 1, 2, 2]


@pytest.mark.long
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def shell(command: str) -> str:
        bash = ["bash", "-ec", command]
        done = subprocess.run(bash, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    record, look, find, keep = ([shell(command) for command in commands] for commands in COMMANDS[:4])
    script.write_text(SCRIPT.replace(SLOW, CHANGE + "\n\n"), encoding="utf-8")
    prove, _ = ([shell(command) for command in commands] for commands in COMMANDS[4:])
    # Eight runs, and one number.
    assert record[0].count("loss ") == 4 and len(set((record[0] + find[0] + prove[0]).split("\n"))) == 2
    assert "collect --stacks tells lines" in look[0] and keep == [""]
    (section,) = json.loads(shell("traceview report lines lines --format json"))["sections"]
    assert max(section["rows"], key=lambda row: row["host_ns"] or 0)["line"].startswith("train.py(22): ")
    assert prove[1].startswith("Comparison\nB ")
    in_place = ["aten::log1p" in shell(f"traceview report {run} ops --format csv") for run in ("before1", "after1")]
    assert in_place == [False, True]
