"""Builds an environment for every old framework, and shows a real training step of each: what `make legacy` runs.

    python samples/legacy/run.py FOLDER [NAME...]

FOLDER keeps the environments and the captures. Invariant: what cannot be built here is said and skipped, what can be
built has to work: the exit code is 1 where a capture fails or its report lacks what the environment's `shows` names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = tomllib.loads((Path(__file__).parent / "environments.toml").read_text(encoding="utf-8"))
TRACEVIEW = [sys.executable, "-m", "traceview"]


def main(folder: Path, names: list[str]) -> int:
    """Build and show each environment; the exit code."""
    wrong = []
    for name in names or ENVIRONMENTS:
        about = ENVIRONMENTS[name]
        print(f"\n=== {about['title']} ===", flush=True)
        trouble = build(folder / name, about)
        if trouble:
            print(f"SKIPPED: {trouble}", flush=True)
        elif not show(folder / name, about):
            wrong.append(name)
    if wrong:
        print(f"\nFAILED: {', '.join(wrong)}", flush=True)
    return 1 if wrong else 0


def build(folder: Path, about: dict[str, Any]) -> str | None:
    """Make the environment, unless it is there; returns why it cannot be, None where it can."""
    recipe = json.dumps([about["packages"], about.get("setup")])
    stamp = folder / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe:
        return None
    python = next(filter(None, map(interpreter, about["python"])), None)
    if python is None:
        return f"it needs Python {' or '.join(about['python'])}, on the PATH or in pyenv (pyenv install 3.X)"
    shutil.rmtree(folder, ignore_errors=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    setup = [word.format(folder=folder) for word in about.get("setup", ())]
    for command in ([python, "-m", "venv", folder], [*pip, *about["packages"]], setup):
        done = subprocess.run(command, cwd=ROOT, env=clean(), capture_output=True, text=True) if command else None
        if done is not None and done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()
            return f"`{' '.join(map(str, command))}` failed: {said[-1] if said else done.returncode}"
    stamp.write_text(recipe, encoding="utf-8")
    return None


def interpreter(version: str) -> str | None:
    """The path of a Python of that version that runs here; pyenv's own commands may refuse to."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = shutil.which(f"python{version}")
    for candidate in filter(None, [found, *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]):
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([candidate, "-c", code], env=clean(), capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def clean() -> dict[str, str]:
    """This process's environment without what would lead another Python astray."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}


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
    words = [*TRACEVIEW, "report", str(capture), *about.get("reports", ())]
    report = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    print(report.stdout, report.stderr, sep="", flush=True)
    lacking = [text for text in about.get("shows", ()) if text not in report.stdout]
    if lacking:
        print(f"the report does not show: {', '.join(lacking)}", flush=True)
    return report.returncode == 0 and not lacking


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
