"""Kineto's events of accelerators other than CUDA's and ROCm's; the traces are built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import opened, rows

OP = {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 7, "tid": 7, "ts": 100, "dur": 50}


def event(category: str, name: str, **facts: Any) -> dict[str, Any]:
    return {**OP, "cat": category, "name": name, "ts": 110, "dur": 5, "args": {"correlation": 42}, **facts}


def text(*events: dict[str, Any]) -> str:
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events})


def test_what_an_mtia_device_ran_are_kernels(tmp_path: Path) -> None:
    place = {"pid": 0, "ts": 130, "args": {"correlation": 42, "device": 0, "stream": 7}}
    launch, ran = event("mtia_runtime", "runtimeEnqueue"), event("mtia_ccp_events", "gemm_ccp", **place)
    found = opened(tmp_path, text(OP, launch, ran))
    query = "SELECT kind, name, device, op_name FROM activities"
    assert rows(found, query) == [("kernel", "gemm_ccp", "gpu 0", "aten::relu")]


def test_an_mtia_device_is_called_by_its_label(tmp_path: Path) -> None:
    label = {"ph": "M", "name": "process_labels", "pid": 9, "tid": 0, "ts": 0, "args": {"labels": "MTIA 9"}}
    found = opened(tmp_path, text(OP, label, event("mtia_ccp_events", "fc", pid=9)))
    assert rows(found, "SELECT kind FROM accelerator") == [("mtia",)]


def test_what_an_mtia_device_waits_for_is_no_work(tmp_path: Path) -> None:
    place = {"pid": 0, "args": {"correlation": 42, "device": 0, "stream": 7}}
    waits = event("mtia_ccp_events", "event_wait", ts=120, dur=300, **place)
    found = opened(tmp_path, text(OP, waits, event("mtia_ccp_events", "pe_exe", ts=430, **place)))
    assert rows(found, "SELECT kind, name, device FROM activities") == [("kernel", "pe_exe", "mtia 0")]
    assert rows(found, "SELECT name, dur_ns FROM raw.events WHERE category = 'mtia_ccp_events'") == [
        ("event_wait", 300_000)
    ]


def test_what_an_mtia_device_requests_of_its_dma_is_copied(tmp_path: Path) -> None:
    def copy(direction: str, size: int, **when: float) -> dict[str, Any]:
        args = {"stream": 102, "direction": direction, "size": size, "sqid": 1}
        return event("mtia_ccp_events", "dma_request", pid=9, tid=408, args=args, **when)

    up, down = copy("HOST_TO_DEVICE", 1852, ts=130, dur=14), copy("DEVICE_TO_HOST", 16, ts=150, dur=8)
    found = opened(tmp_path, text(OP, event("mtia_ccp_events", "fc-dtype_Float", pid=9), up, down))
    query = "SELECT direction, category, size_bytes, dur_ns, stream FROM memcpys ORDER BY start_ns"
    assert rows(found, query) == [
        ("HtoD", "memcpy_htod", 1852, 14_000, 102),
        ("DtoH", "memcpy_dtoh", 16, 8_000, 102),
    ]
    assert rows(found, "SELECT name FROM raw.kernels") == [("fc-dtype_Float",)]


def test_memory_that_an_xpu_driver_did_not_allocate_is_pageable(tmp_path: Path) -> None:
    names = {
        "Memcpy M2D (MEMORY(Unknown) -> DEVICE)": ("memcpy_htod", "HtoD", "pageable", "device"),
        "Memcpy D2M (DEVICE -> MEMORY(Unknown))": ("memcpy_dtoh", "DtoH", "device", "pageable"),
        "Memcpy D2D (DEVICE -> DEVICE)": ("memcpy_dtod", "DtoD", "device", "device"),
        "Memcpy S2D (SHARED -> DEVICE)": ("other", "unknown", "shared", "device"),
    }
    place = {"pid": 0, "args": {"device": 0, "stream": 7, "bytes": 4096}}
    copies = [event("gpu_memcpy", name, ts=10 * at, **place) for at, name in enumerate(names)]
    found = opened(tmp_path, text(OP, *copies))
    query = "SELECT name, category, direction, src_kind, dst_kind FROM memcpys"
    assert {name: tuple(facts) for name, *facts in rows(found, query)} == names


@pytest.mark.parametrize("n_ops", [1, 400])
def test_rows_of_an_npu_are_not_read_and_that_is_said(tmp_path: Path, n_ops: int) -> None:
    """The profiler of Ascend's torch_npu: steps are operators, and what the NPU ran has no category."""
    label = {"ph": "M", "name": "process_labels", "pid": 9, "args": {"labels": "NPU"}}
    step = {**OP, "name": "ProfilerStep#1", "dur": 60}
    ran = {"ph": "X", "name": "aclnnMatmul_MatMulV2", "pid": 9, "tid": 2, "ts": 120, "dur": 20, "args": {}}
    found = opened(tmp_path, text(step, *[OP] * n_ops, label, ran, {**ran, "ts": 140}))
    assert rows(found, "FROM activities") == []
    assert rows(found, "SELECT n_rows FROM unrecorded") == [(2,)]
    assert rows(found, "SELECT kind, name FROM raw.ranges") == [("step", "ProfilerStep#1")]
    assert {name for (name,) in rows(found, "SELECT name FROM raw.ops")} == {"aten::relu"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("category", "name", "is_host"),
    [
        ("privateuse1_runtime", "aclrtLaunchKernel", False),
        ("mtia_insight", "insight", False),
        ("xpu_runtime", "urEnqueueKernelLaunch", False),
        ("hpu_op", "synLaunch", False),
        ("cuda_runtime", "cudaGetDeviceCount", True),
        ("overhead", "Activity Buffer Request", True),
    ],
)
def test_an_accelerator_of_which_nothing_was_recorded_is_no_busy_cpu(
    tmp_path: Path, category: str, name: str, is_host: bool
) -> None:
    found = opened(tmp_path, text(OP, event(category, name)))
    assert rows(found, "SELECT DISTINCT kind FROM activities") == ([("op",)] if is_host else [])
