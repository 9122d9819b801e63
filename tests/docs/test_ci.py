"""docs/ci.md and action.yml: their commands run, on a real training script, as a CI service would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FENCED = {kind: re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL) for kind in ("yaml", "groovy")}
GITHUB, GITLAB = map(yaml.safe_load, FENCED["yaml"])
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TRAIN = """
import torch
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 900, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(12):
    optimizer.zero_grad()
    model(torch.randn(8, 3, 32, 32)).square().mean().backward()
    optimizer.step()
"""


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as CI services do, in a folder with a training script."""
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
    )


def commands() -> list[str]:
    """The commands of the recipe for GitLab, apart from the installation."""
    return [line for line in GITLAB["step-time"]["script"] if not line.startswith("pip ")]


def test_the_recipes_say_the_same() -> None:
    assert commands() == re.findall(r"sh '(.*)'", FENCED["groovy"][0])
    given = GITHUB["jobs"]["step-time"]["steps"][-1]["with"]
    assert set(given) <= set(ACTION["inputs"])
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


@pytest.mark.long
def test_the_recipe_for_gitlab_and_jenkins_runs(tmp_path: Path) -> None:
    record, compare = commands()
    done = shell(f"{record}\ntraceview baseline save main run1 run2 run3 run4", tmp_path)
    assert done.returncode == 0, done.stderr
    # The same runs as the baseline: the machine's noise is none.
    done = shell(compare, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "checks.xml").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.long
def test_the_action_records_saves_and_compares(tmp_path: Path) -> None:
    (script,) = (step["run"] for step in ACTION["runs"]["steps"] if step["name"] == "Record and compare")
    summary, temporary = tmp_path / "summary", tmp_path / "temporary"
    temporary.mkdir()
    inputs: dict[str, Any] = {
        name.upper().replace("-", "_"): about.get("default", "") for name, about in ACTION["inputs"].items()
    }
    runner = {"RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_SHA": "1f3a2bc"}
    given = {**inputs, **runner, "COMMAND": "python train.py", "RUNS": "2"}
    done = shell(script, tmp_path, **{**given, "SAVE": "true"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "traceview-baselines" / "main.json").is_file()
    # Two runs of each side cannot show a difference: that is no failure, unless it is asked for.
    done = shell(script, tmp_path, **{**given, "FAIL_OVER": "5% layer=10%"})
    assert done.returncode == 0, done.stderr
    assert summary.read_text(encoding="utf-8").startswith("### traceview: no failed checks of ")
