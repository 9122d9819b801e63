"""Real programs under `traceview collect`, with the interpreter that has the frameworks.

TRACEVIEW_TEST_PYTHON names an interpreter with the frameworks (`make frameworks` builds one and runs these tests); else
the one that runs the tests is tried. A framework that it lacks is a skip.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from traceview import store

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
PYTHON = os.environ.get("TRACEVIEW_TEST_PYTHON") or sys.executable
# Without them TensorFlow tells of its start on stderr.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}


@functools.cache
def has(module: str) -> bool:
    """Whether the interpreter has a module."""
    words = [PYTHON, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"]
    return subprocess.run(words).returncode == 0


def need(*modules: str) -> None:
    """Skip, and say so, where the interpreter lacks a framework."""
    for module in modules:
        if not has(module):
            pytest.skip(f"{PYTHON} has no {module}; `make frameworks` runs this test")


def run(
    folder: Path, *words: object, options: Sequence[str] = (), **variables: str
) -> subprocess.CompletedProcess[str]:
    """`python WORDS` under `traceview collect`, with these options of it; the capture in `folder/capture`."""
    collect = ["collect", "-o", "capture", "--wait", "2", "--steps", "3", *options]
    command = [sys.executable, "-m", "traceview", *collect, "--"]
    environment = {**os.environ, **QUIET, **variables, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*command, PYTHON, *map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


def program(folder: Path, body: str) -> Path:
    """A script in `folder`."""
    path = folder / "program.py"
    path.write_text(body)
    return path


def described(folder: Path) -> dict[str, Any]:
    """Return the first rank's facts in the capture."""
    rank: dict[str, Any] = json.loads((folder / "capture" / "capture.json").read_text())["ranks"][0]
    return rank


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """The capture's views."""
    return store.open_capture(folder / "capture")
