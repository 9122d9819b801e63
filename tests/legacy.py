"""Runs real programs of old frameworks under the collectors, in the environments that `make legacy` builds.

TRACEVIEW_LEGACY names the folder of those environments; a framework without one is a skip.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import rows as rows

from traceview import store

ROOT = Path(__file__).parents[1]
TRAINING = ROOT / "samples" / "training"
FOLDER = os.environ.get("TRACEVIEW_LEGACY")


def python(name: str) -> Path:
    """The interpreter of an environment; a skip, said, where there is none."""
    found = None if FOLDER is None else ROOT / FOLDER / name
    if found is None or not (found / ".installed").exists():
        pytest.skip(f"no environment for {name}; `make legacy` builds it and runs this test")
    return found / "bin" / "python"


def collect(name: str, folder: Path, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """`python WORDS` under `traceview collect` in an environment, the capture in `folder/capture`."""
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--wait", "2", "--steps", "3", "--"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables, "PYTHONPATH": str(ROOT)}
    words = (*command, python(name), *words)
    return subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


def described(folder: Path) -> dict[str, Any]:
    """Return the first rank's facts in the capture."""
    rank: dict[str, Any] = json.loads((folder / "capture" / "capture.json").read_text())["ranks"][0]
    return rank


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """The capture's views."""
    return store.open_capture(folder / "capture")


def program(folder: Path, body: str) -> Path:
    """A script in `folder`."""
    path = folder / "program.py"
    path.write_text(body)
    return path


def compiled() -> dict[str, str]:
    """Return the variables that keep Theano's compiled code with its environment, so that it is compiled once."""
    return {"THEANO_FLAGS": f"base_compiledir={python('theano').parents[1] / 'compiled'}"}
