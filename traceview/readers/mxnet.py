"""MXNet 1.x profiler: a Chrome trace of operators, memory and the library's own calls.

Capture with `mx.profiler.set_config(profile_all=True, filename=...)`, `set_state('run')`, `set_state('stop')`,
`dump()`. Format: src/profiler/profiler.h of Apache MXNet. Times are microseconds since 1970. A span is a
B and an E event, paired by name on its thread; a process that ends without `dump` leaves the array open and the last
spans without their end.
"""

from __future__ import annotations

import re

from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill

NAME = "mxnet"
TITLE = "MXNet profiler JSON"
HOW = "mx.profiler.set_config(profile_all=True, filename=...), set_state('run') ... set_state('stop'), dump()"

FORM = Form(
    folder=NAME,
    tables=("ops", "kernels", "memcpys", "devices", "ranges", "counters", "events"),
    shared=SHARED,
    ids=64,
    prepare=("placed",),
)
_PROCESS = re.compile(rb'"name"\s*:\s*"(?:(?:cpu|gpu|cpu pinned|cpu shared)/\d*|MXNET_C_API|Device Storage)"')
_PHASE = re.compile(rb'"ph"\s*:\s*"[BM]"')


def sniff(peek: Peek) -> bool:
    """Processes named cpu/0, gpu/0, cpu pinned/ and so on."""
    found = {match.group(0) for match in _PROCESS.finditer(peek.head)}
    return b'"traceEvents"' in peek.head and len(found) >= 2 and bool(_PHASE.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    metadata = fill(stream, sink, FORM)
    sink.zero_unix_ns = 0
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="MXNet profiler", framework="MXNet", metadata=metadata)
