"""Any other Chrome trace JSON: spans, counters and the rest, without a meaning of their own.

Written by Chrome itself (chrome://tracing), viztracer, perfetto's and many frameworks' exporters. Format: "Trace Event
Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Times are microseconds from a
zero of the writer's. Invariant: asked last, it loses nothing: what is not a span is an event or a sample.
"""

from __future__ import annotations

import re

from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill

NAME = "chrome"
TITLE = "any other Chrome trace JSON"
HOW = "whatever writes the Trace Event Format: chrome://tracing, viztracer, perfetto's traceconv json"

FORM = Form(folder=NAME, tables=("ranges", "counters", "events"), shared={"counters": SHARED["counters"]}, ids=64)
_PHASE = re.compile(rb'"ph"\s*:\s*"[A-Za-z]"')
_TIME = re.compile(rb'"(?:ts|traceEvents|pid)"\s*:')


def sniff(peek: Peek) -> bool:
    """JSON with events that have a phase, and that no other reader knows."""
    start = peek.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return start in (b"{", b"[") and bool(_PHASE.search(peek.head)) and bool(_TIME.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    metadata = fill(stream, sink, FORM)
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="Chrome trace", metadata=metadata)
