"""PyTorch's own profiler before Kineto: operators of the CPU, and their times on a device.

Capture with `torch.autograd.profiler.profile(use_cuda=True)` before PyTorch 1.8, `profile(use_kineto=False)` since, and
`export_chrome_trace`. Format: torch/autograd/profiler_util.py. Times are microseconds from the start of the profiler. A
row of a device carries the name of its operator and reaches from an event of the device before it to one after it: what
the device waits for in between is in it. Rows nest as operators do; a moment belongs to the innermost.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.ingest.derive.spans import fetch, load
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import Form, fill

NAME = "autograd"
TITLE = "PyTorch autograd profiler JSON (without Kineto)"
HOW = "torch.autograd.profiler.profile(use_kineto=False), export_chrome_trace(path)"

FORM = Form(folder=NAME, tables=("ops", "ranges", "kernels", "links", "events"))
_ROWS = re.compile(rb'"pid"\s*:\s*"(?:CPU|CUDA|NPU|GPU) functions"')
TIMED = "operators whose time on a device is that between two of its events: waits in between look like work"


def sniff(peek: Peek) -> bool:
    """Events of a process that is called CPU functions or CUDA functions."""
    return bool(_ROWS.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    metadata = fill(stream, sink, FORM)
    sink.replace("links", sql.text("ingest/kineto/links_joined"))
    _cut(sink)
    if n_timed := sink.connection.execute(sql.text("ingest/autograd/timed")).fetchall()[0][0]:
        sink.problem(TIMED, n_timed)
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="PyTorch autograd profiler", framework="PyTorch", metadata=metadata)


def _cut(sink: Sink) -> None:
    """Let each moment of a device belong to the innermost row."""
    text = sql.texts("ingest/autograd")
    edges, rows = fetch(sink.connection, text("edges")), load(sink.connection, text("rows"))
    found = rows.innermost(edges["device"], 2 * edges["at_ns"] + 1)
    at = np.flatnonzero(found >= 0)
    piece = {"id": rows.id[found[at]], "start_ns": edges["at_ns"][at], "dur_ns": edges["dur_ns"][at]}
    sink.connection.register("piece", pa.table(piece))
    sink.replace("kernels", text("placed", first=str(sink.next_id)))
    sink.connection.unregister("piece")
    sink.next_id += len(at)
    sink.connection.execute(text("devices"))
