"""MXNet's profiler: operators from pairs of events, memory, and files without their end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows
from given import pick, section

from traceview import store

SAMPLE = "samples/mxnet/mxnet-1.9.1-lenet-cpu.json.gz"


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("lines", [30, 500, 2000, 4000])
def test_a_file_without_its_end(root: Path, tmp_path: Path, lines: int) -> None:
    text = gzip.decompress((root / SAMPLE).read_bytes()).splitlines(keepends=True)
    path = tmp_path / "cut.json"
    path.write_bytes(b"".join(text[:lines]))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]
    assert rows(connection, "SELECT n_events - n_kept <= 1 FROM captures") == [(True,)]


@pytest.mark.slow
def test_operators_of_gpus_are_what_their_devices_did(tmp_path: Path) -> None:
    """Each GPU is a process of the file. The operators of both carry one name at one time, and stay apart."""
    names = ["cpu/0", "gpu/0", "gpu/1", "MXNET_C_API"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "args": {"name": name}, "pid": pid, "name": "process_name"} for pid, name in enumerate(names)
    ]

    def span(pid: int, name: str, start: int, end: int) -> None:
        row = {"name": name, "cat": "operator", "pid": pid, "tid": 100 + pid}
        events.extend([{**row, "ph": "B", "ts": start}, {**row, "ph": "E", "ts": end}])

    span(0, "DeleteVariable", 0, 5)
    for gpu in (1, 2):
        span(gpu, "CopyCPU2GPU", 0, 10)
        span(gpu, "Convolution", 10, 40)
    path = tmp_path / "unknown"
    path.write_text(json.dumps({"traceEvents": events}))
    connection = connected(store.convert([path], tmp_path / "out"))
    assert rows(connection, "SELECT device, name, dur_ns, category FROM kernels ORDER BY device") == [
        (0, "Convolution", 30_000, "conv"),
        (1, "Convolution", 30_000, "conv"),
    ]
    assert rows(connection, "SELECT device, direction, dur_ns FROM memcpys ORDER BY device") == [
        (0, "HtoD", 10_000),
        (1, "HtoD", 10_000),
    ]
    assert rows(connection, "SELECT device, kind FROM devices ORDER BY device") == [(0, "gpu"), (1, "gpu")]
    assert rows(connection, "SELECT direction, total_ns FROM conv_calls") == [("fprop", 30_000)] * 2
    shares = section(connection, "overview/categories")
    assert pick(shares, "category", "calls", "busy_ns", "step_pct") == [
        ("conv", 2, 60_000, 75.0),
        ("memcpy_htod", 2, 20_000, 25.0),
        ("(GPU idle)", None, 0, 0.0),
    ]
