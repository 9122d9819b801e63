"""A timeline for the tests of exports: a step with operators, calls, two streams, and what does not nest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb

from traceview import store
from traceview.analysis import stacks, timeline
from traceview.exports import exporter

HOSTILE = "evil;\x1b]0;x\x07</script>\n\u202e\x00 'kernel\""


def event(cat: str, name: str, ts: float, dur: float, tid: int = 7, **args: Any) -> dict[str, Any]:
    """A complete event of the Kineto trace; what has a stream is on the device."""
    pid = 0 if "stream" in args else 70
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


EVENTS = [
    event("user_annotation", "ProfilerStep#3", -100, 400),
    event("cpu_op", "aten::conv2d", 0, 100, **{"External id": 1, "Input Dims": [[2, 3, 8, 8], [4, 3, 3, 3]]}),
    event("cpu_op", "aten::cudnn_convolution", 10, 60, **{"External id": 2}),
    event("cuda_runtime", "cudaLaunchKernel", 20, 5, correlation=1),
    event("cuda_runtime", "cudaLaunchKernel", 40, 5, correlation=2),
    event("kernel", "implicit_convolve_sgemm", 50, 40, 1, device=0, stream=1, correlation=1, grid=[2, 1, 1]),
    # Begins before the other ends, on the same stream.
    event("kernel", HOSTILE, 80, 30, 1, device=0, stream=1, correlation=2),
    # An annotation that ends after the operator around it.
    event("user_annotation", "crosses", 90, 60),
    event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 120, 10, 2, device=0, stream=2, bytes=4096, correlation=9),
    event("cpu_op", "aten::empty", 200, 0, **{"External id": 3}),
    {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 70, "tid": 7, "ts": 60, "s": "t",
     "args": {"Total Allocated": 1024, "Total Reserved": 2048, "Device Type": 1, "Device Id": 0}},
]  # fmt: skip


def made(tmp_path: Path, events: list[dict[str, Any]]) -> Any:
    """A connection to the capture of these events."""
    tmp_path.mkdir(exist_ok=True)
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    return store.open_capture(store.convert([trace], tmp_path / "capture"))


def opened(tmp_path: Path, events: list[dict[str, Any]], rank: int | None = None, step: int | None = None) -> Any:
    """Return the connection with the part to be exported chosen."""
    connection = made(tmp_path, events)
    timeline.choose(connection, rank, step)
    stacks.work_out(connection)
    return connection


def written(connection: duckdb.DuckDBPyConnection, form: str) -> bytes:
    """The file of a format."""
    return b"".join(exporter(form).pieces(connection))
