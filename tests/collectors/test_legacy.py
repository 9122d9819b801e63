"""Real programs of old frameworks under the collectors, in the environments that `make legacy` builds.

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

from traceview import store

ROOT = Path(__file__).parents[2]
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
    """What the capture says of its first rank."""
    rank: dict[str, Any] = json.loads((folder / "capture" / "capture.json").read_text())["ranks"][0]
    return rank


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """The capture's views."""
    return store.open_capture(folder / "capture")


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def program(folder: Path, body: str) -> Path:
    """A script in `folder`."""
    path = folder / "program.py"
    path.write_text(body)
    return path


@pytest.fixture(scope="module")
def lenet_mxnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LeNet in Gluon, collected once."""
    folder = tmp_path_factory.mktemp("mxnet")
    done = collect("mxnet", folder, TRAINING / "lenet_mxnet.py", "--steps", "8", "--batch", "8", "--threads", "1")
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first == "lenet: 431080 parameters, batch 8, cpu, nchw" and last.startswith("step 8: loss ")
    assert [path.name for path in folder.iterdir()] == ["capture"]
    return folder


def test_mxnet_steps_and_facts(lenet_mxnet):
    about = described(lenet_mxnet)
    assert (about["framework"], about["framework_version"]) == ("mxnet", "1.9.1")
    assert (about["model"]["parameters"], about["model"]["batch"], about["threads"]) == (431_080, 8, 1)
    assert about["model"]["parameter_dtypes"] == ["float32"]
    assert about["steps"] == {"source": "optimizer", "first": 3, "recorded": 3}
    connection = opened(lenet_mxnet)
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(3,), (4,), (5,)]
    phases = "SELECT DISTINCT name FROM ranges WHERE kind = 'phase' ORDER BY 1"
    assert rows(connection, phases) == [("backward",), ("forward",), ("optimizer",)]
    assert rows(connection, "SELECT * FROM quality") == []


def test_mxnet_primitives_lie_in_their_operators(lenet_mxnet):
    connection = opened(lenet_mxnet)
    assert rows(connection, "SELECT count(*) > 0, count(*) FILTER (op_id IS NULL OR step IS NULL) FROM primitives") == [
        (True, 0)
    ]
    owners = "SELECT DISTINCT kind, op_name FROM primitives WHERE kind IN ('convolution', 'inner_product') ORDER BY ALL"
    assert rows(connection, owners) == [
        ("convolution", "Convolution"),
        ("convolution", "_backward_Convolution"),
        ("inner_product", "FullyConnected"),
        ("inner_product", "_backward_FullyConnected"),
    ]
