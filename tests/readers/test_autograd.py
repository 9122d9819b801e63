"""PyTorch's own profiler before Kineto: operators, their marks, and what events around them say of a device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from asked import connected, rows

from traceview import store

SAMPLE = "samples/autograd/torch-2.13.0-conv-cpu.json.gz"


def test_operators_of_a_cpu_and_steps_by_the_optimizer(captures: Any, root: Path) -> None:
    connection = captures.open(root / SAMPLE)
    calls = "SELECT op_name, direction, count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    assert rows(connection, calls) == [("aten::conv2d", "fprop", 3), ("aten::convolution_backward", None, 3)]
    assert rows(connection, "SELECT count(*) FROM ranges WHERE kind = 'phase' AND name = 'optimizer'") == [(3,)]
    assert rows(connection, "SELECT step FROM steps WHERE NOT is_warmup ORDER BY 1") == [(1,), (2,)]
    assert rows(connection, "SELECT count(*) FROM kernels") == [(0,)]


def event(pid: str, name: str, start: float, end: float, tid: int = 0, **more: Any) -> dict[str, Any]:
    return {"name": name, "ph": "X", "ts": start, "dur": end - start, "tid": tid, "pid": f"{pid} functions", **more}


def both(number: int, name: str, host: tuple[float, float], device: tuple[float, float], kernel: str = "") -> list[Any]:
    """An operator, the flow to its row on device 0, and that row."""
    flow = {"cat": "cpu_to_cuda", "id": number, "args": {}}
    return [
        event("CPU", name, *host, tid=1),
        {"name": name, "ph": "s", "ts": host[0], "tid": 1, "pid": "CPU functions", **flow},
        {"name": kernel or name, "ph": "f", "ts": device[0], "tid": 0, "pid": "CUDA functions", **flow},
        event("CUDA", kernel or name, *device),
    ]


def opened(tmp_path: Path, events: list[Any]) -> Any:
    path = tmp_path / "unknown"
    path.write_text(json.dumps(events))
    return connected(store.convert([path], tmp_path / "out"))


def test_a_moment_of_a_device_belongs_to_the_innermost_operator(tmp_path: Path) -> None:
    """PyTorch 1.7 puts events of the device around each operator, those inside of others too."""
    connection = opened(
        tmp_path,
        [
            *both(0, "conv2d", (0, 50), (100, 200)),
            *both(1, "cudnn_convolution", (5, 40), (100, 190)),
            *both(2, "empty", (10, 12), (110.5, 112.75)),
            *both(3, "relu", (60, 70), (210, 230)),
        ],
    )
    kernels = "SELECT name, start_ns, dur_ns, op_name, op_link FROM kernels ORDER BY start_ns"
    assert rows(connection, kernels) == [
        ("cudnn_convolution", 100_000, 10_500, "cudnn_convolution", "external_id"),
        ("empty", 110_500, 2_250, "empty", "external_id"),
        ("cudnn_convolution", 112_750, 77_250, "cudnn_convolution", "external_id"),
        ("conv2d", 190_000, 10_000, "conv2d", "external_id"),
        ("relu", 210_000, 20_000, "relu", "external_id"),
    ]
    assert rows(connection, "SELECT device, kind FROM devices") == [(0, "gpu")]
    assert rows(connection, "SELECT direction, total_ns FROM conv_calls") == [("fprop", 100_000)]
    assert rows(connection, "SELECT n FROM quality WHERE kind LIKE '%between two of its events%'") == [(4,)]
    assert rows(connection, "SELECT count(*), count(DISTINCT id) FROM kernels") == [(5, 5)]


def test_kernels_that_nvprof_recorded_are_kernels(tmp_path: Path) -> None:
    connection = opened(tmp_path, both(0, "mm", (0, 50), (100, 200), "volta_sgemm_128x64_nn"))
    found = "SELECT name, category, op_name, op_link FROM kernels"
    assert rows(connection, found) == [("volta_sgemm_128x64_nn", "gemm", "mm", "external_id")]
    assert rows(connection, "SELECT n FROM quality WHERE kind LIKE '%between two of its events%'") == []
