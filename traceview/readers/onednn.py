"""oneDNN verbose lines: every primitive a CPU run executed, with implementation, formats, problem and time.

Capture with `ONEDNN_VERBOSE=profile_exec ONEDNN_VERBOSE_TIMESTAMP=1` (`DNNL_VERBOSE=1`, `MKLDNN_VERBOSE=1` in older
releases); format: https://uxlfoundation.github.io/oneDNN/dev_guide_verbose.html. Time stamps are epoch milliseconds of
the start, on the wall clock; without them primitives are laid end to end and `captures.clock` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from traceview.files import Peek, Stream
from traceview.paths import content
from traceview.sink import Sink

NAME = "onednn"
TITLE = "oneDNN verbose log"
HOW = "ONEDNN_VERBOSE=profile_exec ONEDNN_VERBOSE_TIMESTAMP=1, or traceview collect"
VERSION = 1
COMPANION = True
"""The log belongs to a framework's trace when there is one beside it."""

_LINE = re.compile(rb"(?m)^(onednn|dnnl|mkldnn)_verbose,")
_VERSION = re.compile(r"^(\w+)_verbose,.*?info,(?:oneDNN|DNNL|Intel MKL-DNN) v?([\d.]+)")
_EXEC = r"^(?:onednn|dnnl|mkldnn)_verbose,(?:.*,)?exec,"


def sniff(peek: Peek) -> bool:
    """Lines that begin with oneDNN's marker, under any of its three names."""
    return bool(_LINE.search(peek.head)) and peek.head.lstrip()[:1] not in (b"{", b"[")


def read(stream: Stream, sink: Sink) -> None:
    """Fill `primitives`. Lines that are no executed primitive are passed over; damaged ones are counted."""
    connection = sink.connection
    zero = sink.zero_unix_ns or 0
    library, elapsed, stamped = "oneDNN", 0, False
    for lines in _line_batches(stream):
        library = _library(lines) or library
        chosen = pc.filter(lines, pc.match_substring_regex(lines, _EXEC))
        table = pa.table({"row": pa.array(range(len(chosen)), pa.int64()), "line": chosen})
        connection.register("lines", table)
        values = {"first": sink.next_id, "zero": zero, "library": library, "elapsed": elapsed}
        before = _count(sink)
        connection.execute(f"INSERT INTO stage.primitives BY NAME {_sql()}", values)
        kept = _count(sink) - before
        sink.next_id += len(chosen)
        sink.count("n_events", len(chosen))
        sink.count("n_kept", kept)
        sink.count("n_dropped", len(chosen) - kept)
        if kept < len(chosen):
            sink.problem("line of oneDNN that is cut or damaged", len(chosen) - kept)
        totals = connection.execute("SELECT max(start_ns + dur_ns), max(start_ns) FROM stage.primitives").fetchall()
        elapsed = totals[0][0] or 0
        stamped = stamped or (totals[0][1] or 0) + zero > 10**17
    if stream.damage:
        sink.problem(stream.damage)
    if stamped and sink.zero_unix_ns is None:
        sink.zero_unix_ns = 0
    clock = "wall-clock stamps in the log" if stamped else "no time stamps in the log: primitives are laid end to end"
    sink.fact(tool=library, clock=clock)


def _count(sink: Sink) -> int:
    return int(sink.connection.execute("SELECT count(*) FROM stage.primitives").fetchall()[0][0])


def _line_batches(stream: Stream) -> Iterator[pa.Array]:
    carry = b""
    for block in stream:
        text = carry + block
        cut = text.rfind(b"\n") + 1
        carry = text[cut:]
        if cut:
            yield _lines(text[:cut])
    if carry:
        yield _lines(carry)


def _lines(text: bytes) -> pa.Array:
    return pa.array(text.decode("utf-8", "replace").splitlines(), pa.string())


def _library(lines: pa.Array) -> str | None:
    for line in lines[:50].to_pylist():
        match = _VERSION.match(line)
        if match:
            return f"oneDNN {match.group(2)}"
    return None


@cache
def _sql() -> str:
    return (content("queries") / "ingest" / NAME / "primitives.sql").read_text(encoding="utf-8")
