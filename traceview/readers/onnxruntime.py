"""ONNX Runtime profile: a bare list of session and node events.

Capture with `SessionOptions.enable_profiling = True` and `session.end_profiling()`. Format: onnxruntime/core/common/
profiler.cc. Times are microseconds since the session's start, which the file does not say. A node is its
`_kernel_time` span; fences and the session around it are ranges. A `ReorderInput` or `ReorderOutput` node is a change
of layout that the optimizer put in.
"""

from __future__ import annotations

import re

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill

NAME = "onnxruntime"
TITLE = "ONNX Runtime profile"
HOW = "SessionOptions.enable_profiling = True and session.end_profiling()"

FORM = Form(folder=NAME, tables=("ops", "kernels", "memcpys", "ranges", "counters", "events"), shared=SHARED, ids=64)
_CATEGORY = re.compile(rb'"cat"\s*:\s*"(?:Session|Node|Kernel|Api)"')
_NAME = re.compile(rb'"name"\s*:\s*"(?:model_loading_\w+|session_initialization|model_run|[^"]*_kernel_time)"')


def sniff(peek: Peek) -> bool:
    """A bare list with the categories and the names of a session."""
    is_list = peek.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    return is_list and bool(_CATEGORY.search(peek.head)) and bool(_NAME.search(peek.head))


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    fill(stream, sink, FORM)
    n_hidden = sink.connection.execute(sql.text("ingest/onnxruntime/hidden")).fetchall()[0][0]
    if n_hidden:
        sink.warnings.append(
            f"{n_hidden} nodes ran on a GPU, but nothing of it was recorded: their spans are those of the launches, "
            "and count as no time of a device (Nsight Systems and rocprofv3 record it)"
        )
    sink.write_rows("ranks", [{"host": None}])
    sink.fact(tool="ONNX Runtime profiler", framework="ONNX Runtime")
