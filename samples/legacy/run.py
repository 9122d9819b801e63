"""Builds an environment for every old framework, and shows a real training step of each: what `make legacy` runs.

    python samples/legacy/run.py FOLDER [NAME...]

FOLDER is where the environments lie, with their captures; `samples/environments.py` builds them. Invariant: what cannot
be built here is said and skipped, what can be built has to work: the exit code is 1 where a capture fails or its report
lacks what the environment's `shows` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples"))

from environments import ENVIRONMENTS, build, place  # noqa: E402

TRACEVIEW = [sys.executable, "-m", "traceview"]


def main(folder: Path, names: list[str]) -> int:
    """Build and show each environment; the exit code."""
    wrong = []
    for name in names or [name for name, about in ENVIRONMENTS.items() if "command" in about]:
        about = ENVIRONMENTS[name]
        print(f"\n=== {about['title']} ===", flush=True)
        trouble = build(folder, about)
        if trouble:
            print(f"SKIPPED: {trouble}", flush=True)
        elif not show(place(folder, about), about):
            wrong.append(name)
    if wrong:
        print(f"\nFAILED: {', '.join(wrong)}", flush=True)
    return 1 if wrong else 0


def variables(folder: Path, about: dict[str, Any]) -> dict[str, str]:
    """The environment of a run."""
    own = {key: value.format(folder=folder) for key, value in about.get("variables", {}).items()}
    return {**os.environ, "PYTHONPATH": str(ROOT), **own}


def show(folder: Path, about: dict[str, Any]) -> bool:
    """Collect the environment's command and print its report; whether that shows what it should."""
    capture = folder / "capture"
    shutil.rmtree(capture, ignore_errors=True)
    command = [str(folder / "bin" / "python"), *about["command"]]
    collect = [*TRACEVIEW, "collect", "-o", str(capture), "--wait", "2", "--steps", "3", "--", *command]
    if subprocess.run(collect, cwd=ROOT, env=variables(folder, about)).returncode:
        return False
    words = [*TRACEVIEW, "report", str(capture), *about.get("reports", ()), "--all", "--limit", "0"]
    report = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    print(report.stdout, report.stderr, sep="", flush=True)
    lacking = [text for text in about.get("shows", ()) if text not in report.stdout]
    if lacking:
        print(f"the report does not show: {', '.join(lacking)}", flush=True)
    return report.returncode == 0 and not lacking


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
