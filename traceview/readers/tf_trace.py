"""`trace.json.gz` of TensorFlow 2 and JAX: their profilers' own rendering of an XPlane file.

Written beside `*.xplane.pb` under `plugins/profile/<time>/`. Format: Chrome trace events; processes are planes, threads
are lines. The rendering is the lesser file (at most a million events, zero-length events drawn longer, no
HLO), so where the XPlane file lies beside it, that is what is read.
"""

from __future__ import annotations

import re
from pathlib import Path

from traceview.decode import hlo
from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill
from traceview.readers import xplane

NAME = "tf_trace"
TITLE = "trace.json.gz of TensorFlow 2 and JAX"
HOW = "written beside the .xplane.pb file, which is better and is read instead where it is there"

FORM = Form(
    folder=NAME,
    tables=(*xplane.TABLES, "devices"),
    shared={
        "placed": "xplane/placed",
        **{table: f"xplane/{table}" for table in xplane.TABLES},
        "events": SHARED["events"],
    },
    ids=xplane.IDS,
    prepare=("batch", "placed"),
)
_PROCESS = re.compile(rb'"name"\s*:\s*"/(?:host:[\w-]+|device:\w+:\d+)[^"/]*"')


def sniff(peek: Peek) -> bool:
    """Processes named after planes: /host:CPU, /device:GPU:0."""
    is_named = b'"process_name"' in peek.head and bool(_PROCESS.search(peek.head))
    return is_named and b'"traceEvents"' in peek.head and b' Compute"' not in peek.head


def superseded_by(path: Path) -> list[Path]:
    """Return paths that may hold more than a rendering beside them: the XPlane file of the same host, packed or not."""
    host = path.name.partition(".trace.json")[0]
    return [path.with_name(f"{host}.xplane.pb{packed}") for packed in ("", ".gz", ".zst")]


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from the XPlane file as the profiler left it beside this one, else from this one."""
    original = superseded_by(stream.path)[0]
    if original.is_file():
        sink.warnings.append(f"read from {original.name} beside it, of which this file is a rendering")
        xplane.read(Stream(original), sink)
        return
    sink.warnings.append("this is a rendering of an .xplane.pb file, which holds more; convert that if you have it")
    xplane.know_hlo(sink, hlo.NOTHING)
    metadata = fill(stream, sink, FORM)
    xplane.finish(sink)
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="XLA profiler", framework=xplane.framework(sink), metadata=metadata)
