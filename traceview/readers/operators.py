"""Operators with their times, as our own collectors write them for frameworks without a timeline of their own (Theano).

Capture with `traceview collect`. Format: trace events with decimal microseconds since 1970 beside a key
`traceviewOperators` that says the framework, the tool and what its times mean; spans of the categories `operator`,
`step`, `phase` and any other. Invariant: what was measured and what was laid out is said in `captures.clock`.
"""

from __future__ import annotations

import re

from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill

NAME = "operators"
TITLE = "collected operator times"
HOW = "traceview collect, for frameworks without a timeline of their own (Theano)"

FORM = Form(folder=NAME, tables=("ops", "ranges", "events"), shared=SHARED)
_KEY = re.compile(rb'^\s*\{\s*"traceviewOperators"\s*:\s*\{')


def sniff(peek: Peek) -> bool:
    """The key that comes first."""
    return bool(_KEY.match(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    metadata = fill(stream, sink, FORM)
    about = metadata.get("traceviewOperators")
    facts = {key: str(value) for key, value in about.items()} if isinstance(about, dict) else {}
    sink.zero_unix_ns = 0
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(**{key: value for key, value in facts.items() if key in ("tool", "framework", "clock")})
