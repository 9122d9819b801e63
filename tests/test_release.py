"""Release: one version everywhere, valid metadata, the same bytes for the same commit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import traceview

ROOT = Path(__file__).parents[1]


def test_one_version_stands_everywhere() -> None:
    version = traceview.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert next(line for line in changes.splitlines() if line.startswith("## ")).startswith(f"## {version}")


def test_workflows_run_what_the_makefile_has() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        words = [step["run"].split() for job in jobs for step in job["steps"] if "run" in step]
        assert words and all(word[0] == "make" and f"\n{word[1]}:" in made for word in words)


def test_the_workflow_runs_lint_tests_wheels_docs_and_the_action_on_all_pythons() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    made = {name: [step["run"].split()[1] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert made == {
        "test": ["test"], "test-all": ["test-all"], "site": ["site"],
        "wheel": ["dist"], "wheel-installed": ["try-wheel"], "action": ["install"],
    }  # fmt: skip
    assert jobs["test"]["strategy"]["matrix"] == jobs["wheel-installed"]["strategy"]["matrix"]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    given = [step["with"] for step in jobs["action"]["steps"] if step.get("uses") == "./"]
    assert len(given) == 2 and all(step.keys() <= inputs.keys() for step in given)
    assert all((ROOT / step["command"].split()[1]).is_file() for step in given)


@pytest.mark.long
def test_a_commit_is_built_to_the_same_valid_files_each_time(tmp_path: Path) -> None:
    built = []
    for name in ("one", "other"):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / name), str(ROOT)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        subprocess.run(command, check=True, capture_output=True, env=environment)
        built.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert built[0] == built[1] and len(built[0]) == 2
    files = [str(path) for path in (tmp_path / "one").iterdir()]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True, capture_output=True)
