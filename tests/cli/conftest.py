"""A small trace with steps, kernels, a copy and hostile names, for the verbs that read one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HOSTILE_KERNEL = "=evil\x1b[2J|\n<b>`x`"


def _events() -> list[dict[str, object]]:
    """Two steps; in each an operator launches two kernels and a copy."""
    events: list[dict[str, object]] = []
    correlation = 0
    for step in (1, 2):
        zero = 1_000 * step
        span = {"ph": "X", "pid": 10, "tid": 10}
        events.append({**span, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": zero, "dur": 900})
        events.append({**span, "cat": "cpu_op", "name": "aten::addmm", "ts": zero + 10, "dur": 200, "args": {}})
        for position, (category, name, dur) in enumerate(
            [("kernel", "ampere_sgemm_32x32_sliced1x4_tn", 100), ("kernel", HOSTILE_KERNEL, 50), ("gpu_memcpy", "", 20)]
        ):
            correlation += 1
            args: dict[str, object] = {"correlation": correlation, "device": 0, "stream": 7}
            start = zero + 20 + 10 * position
            launch = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start, "dur": 5}
            events.append({**span, **launch, "args": {"correlation": correlation}})
            if category == "gpu_memcpy":
                name, args["bytes"] = "Memcpy HtoD (Pageable -> Device)", 4096
            where = {"ph": "X", "pid": 0, "tid": 7, "cat": category, "name": name}
            events.append({**where, "ts": zero + 300 + 150 * position, "dur": dur, "args": args})
    return events


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace file; its cache is made beside it by the first test that opens it."""
    path = tmp_path_factory.mktemp("traces") / "small.json"
    content = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Toy"}], "traceEvents": _events()}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def hostile_kernel() -> str:
    return HOSTILE_KERNEL
