"""Chrome trace JSON, as PyTorch's profiler writes it: for chrome://tracing, Perfetto's page, HTA and other tools.

Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU and libkineto's
`output_json.cpp` (https://github.com/pytorch/kineto). Events keep the profiler's own categories, so that tools that
look for kernels find them; what traceview derives is the argument `traceview` of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from traceview.analysis import timeline
from traceview.exports import ascii_json, texts
from traceview.lazy import duckdb

EXTENSION = ".json"
TITLE = "Chrome trace JSON for chrome://tracing, Perfetto and tools that read PyTorch profiler files"

PARTS = ("names", "kernels", "copies", "ops", "calls", "others", "flows", "counters")
"""Queries of `queries/export/chrome`, each a column of events."""

choose = timeline.choose


def pieces(connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
    """One JSON object with the array `traceEvents`."""
    head = "".join(next(texts(connection, "chrome/head")))
    yield b"{" if head == "{}" else ascii_json(head[:-1]) + b","
    yield b'"traceEvents":[\n'
    lead = ""
    for part in PARTS:
        for events in texts(connection, f"chrome/{part}"):
            if events:
                yield ascii_json(lead + ",\n".join(events))
                lead = ",\n"
    yield b"\n]}\n"
