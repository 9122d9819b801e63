"""Builds environments of frameworks, each once: what `make frameworks` and `make legacy` use.

    python environments.py FOLDER [NAME...]

FOLDER is where they lie (`.venv-frameworks`, `.venv-legacy/NAME`); names and packages are in `environments.toml` beside
this file. What cannot be built here is said; the exit code is then 1.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
"""Folder that commands of the table are relative to."""
ENVIRONMENTS = tomllib.loads((Path(__file__).parent / "environments.toml").read_text(encoding="utf-8"))
INSTALL = TOP / ".ci" / "install"


def main(folder: Path, names: list[str]) -> int:
    """Build each environment; the exit code."""
    code = 0
    for name in names or ENVIRONMENTS:
        if name not in ENVIRONMENTS:
            print(f"there is no environment {name}; choose from {', '.join(ENVIRONMENTS)}", file=sys.stderr)
            return 2
        trouble = build(folder, ENVIRONMENTS[name])
        print(f"{name}: {trouble or place(folder, ENVIRONMENTS[name])}", flush=True)
        code |= int(trouble is not None)
    return code


def place(folder: Path, about: Mapping[str, Any]) -> Path:
    """Return the folder of an environment; links stay as they are, as its Python is told by its path."""
    return (folder / about["folder"]).absolute()


def build(folder: Path, about: Mapping[str, Any]) -> str | None:
    """Make the environment, unless it is there; returns why it cannot be, None where it can."""
    there = place(folder, about)
    recipe = json.dumps([about["packages"], about.get("setup")])
    stamp = there / ".installed"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe:
        return None
    versions = about.get("python")
    python = next(filter(None, map(interpreter, versions)), None) if versions else sys.executable
    if python is None:
        return f"it needs Python {' or '.join(versions)}, on the PATH or in pyenv (pyenv install 3.X)"
    shutil.rmtree(there, ignore_errors=True)
    trouble = _run([python, "-m", "venv", there])
    for command in () if trouble else _installing(there, about):
        trouble = trouble or _run(command)
    if trouble is None:
        stamp.write_text(recipe, encoding="utf-8")
    return trouble


def _installing(there: Path, about: Mapping[str, Any]) -> list[list[Any]]:
    """The commands that fill an environment."""
    pip = [there / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # In a checkout: uv, with pip's settings.
    install = [INSTALL, there] if INSTALL.exists() else pip
    setup = [word.format(folder=there) for word in about.get("setup", ())]
    return [command for command in ([*install, *about["packages"]], setup) if command]


def _run(command: list[Any]) -> str | None:
    """Run a command; why it failed, where it did."""
    done = subprocess.run(command, cwd=TOP, env=clean(), capture_output=True, text=True)
    if not done.returncode:
        return None
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return f"`{' '.join(map(str, command))}` failed: {said[-1] if said else done.returncode}"


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


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
