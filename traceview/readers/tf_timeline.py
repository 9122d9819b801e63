"""TensorFlow 1 timeline: the Chrome trace that `tensorflow.python.client.timeline` makes of a session run.

Capture with `options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)`, `run_metadata=...` and
`Timeline(run_metadata.step_stats).generate_chrome_trace_format()`. Format: tensorflow/python/client/timeline.py. Times
are whole microseconds since 1970. Invariant: the process `stream:all` holds every kernel once; the processes of the
single streams repeat it and are never added.
"""

from __future__ import annotations

import re

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill

NAME = "tf_timeline"
TITLE = "TensorFlow 1 timeline JSON"
HOW = "RunOptions(trace_level=FULL_TRACE) and Timeline(run_metadata.step_stats).generate_chrome_trace_format()"

FORM = Form(
    folder=NAME,
    tables=("kernels", "memcpys", "ops", "ranges", "devices", "events"),
    shared=SHARED,
    prepare=("placed",),
)
_PROCESS = re.compile(rb'"name"\s*:\s*"/[^"]*(?:cpu|gpu|CPU|GPU)[^"]* (?:Compute|Tensors)"')


def sniff(peek: Peek) -> bool:
    """Processes named after a device, with `Compute` or `Tensors` behind."""
    return b'"traceEvents"' in peek.head and bool(_PROCESS.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    metadata = fill(stream, sink, FORM)
    sink.connection.execute(f"CREATE OR REPLACE TABLE stage.ops AS {sql.text('ingest/xplane/scoped_ops')}")
    sink.zero_unix_ns = 0
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="TensorFlow timeline", framework="TensorFlow", metadata=metadata)
