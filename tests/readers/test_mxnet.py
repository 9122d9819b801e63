"""MXNet's profiler: operators from pairs of events, memory, and files without their end."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from traceview import capture, store

SAMPLE = "samples/mxnet/mxnet-1.9.1-lenet-cpu.json.gz"


def rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(query).fetchall())


def test_operators(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    found = rows(connection, "SELECT name, category, backend, count(*) FROM ops WHERE category = 'conv' GROUP BY ALL")
    assert sorted(found) == [("Convolution", "conv", "cpu/0", 4), ("_backward_Convolution", "conv", "cpu/0", 4)]
    assert rows(connection, "SELECT count(*) FROM conv_calls") == [(8,)]
    assert rows(connection, "SELECT name, count(*) FROM counters GROUP BY 1") == [("Memory: cpu/0", 122)]
    assert rows(connection, "SELECT n_events, n_kept, problems FROM captures") == [(640, 640, None)]
    # An operator is there twice, on its device and as a task: only the first is an operator.
    assert rows(connection, "SELECT count(*) FROM ops") == rows(connection, "SELECT count(*) FROM ranges") == [(128,)]


def test_a_collected_run_has_steps_layers_and_onednns_account(captures: Any, root: Path) -> None:
    connection = captures.open(root / "samples/mxnet/mxnet-1.9.1-lenet-collected-cpu")
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(4,), (5,)]
    calls = "SELECT layer, direction, algorithm, count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    assert rows(connection, calls) == [
        ("conv1", "fprop", "explicit_gemm", 2),
        ("conv1", "wgrad", "explicit_gemm", 2),
        ("conv2", "dgrad", "explicit_gemm", 2),
        ("conv2", "fprop", "explicit_gemm", 2),
        ("conv2", "wgrad", "explicit_gemm", 2),
    ]
    assert rows(connection, "SELECT count(*) FROM primitives WHERE op_id IS NULL") == [(0,)]
    assert rows(connection, "SELECT DISTINCT layer FROM ops WHERE name = 'Activation' ORDER BY 1") == [
        ("relu1",), ("tanh1",), ("tanh2",),
    ]  # fmt: skip


@pytest.mark.parametrize("lines", [30, 500, 2000, 4000])
def test_a_file_without_its_end(root: Path, tmp_path: Path, lines: int) -> None:
    text = gzip.decompress((root / SAMPLE).read_bytes()).splitlines(keepends=True)
    path = tmp_path / "cut.json"
    path.write_bytes(b"".join(text[:lines]))
    store.convert([path], tmp_path / "out")
    connection = capture.connect(tmp_path / "out")
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]
    assert rows(connection, "SELECT n_events - n_kept <= 1 FROM captures") == [(True,)]
