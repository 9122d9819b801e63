"""oneDNN verbose lines: every primitive a CPU run executed, with implementation, formats, problem and time.

Capture with `ONEDNN_VERBOSE=profile_exec ONEDNN_VERBOSE_TIMESTAMP=1` (`DNNL_VERBOSE=1`, `MKLDNN_VERBOSE=1` in older
releases); format: https://uxlfoundation.github.io/oneDNN/dev_guide_verbose.html. Time stamps are epoch milliseconds of
the start, on the wall clock; without them primitives are laid end to end and `captures.clock` says so.

A line begins at oneDNN's marker, wherever that stands: what a logger put before it is cut off, and where two threads
wrote into one line the piece before the second marker counts as damaged. Lines of the graph interface are passed over:
the primitives inside them have lines of their own.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from traceview import sql
from traceview.decode.files import Peek, Stream
from traceview.decode.text_lines import Lines
from traceview.ingest.sink import Sink

NAME = "onednn"
TITLE = "oneDNN verbose log"
HOW = "ONEDNN_VERBOSE=profile_exec ONEDNN_VERBOSE_TIMESTAMP=1, or traceview collect"
_sql = sql.texts(f"ingest/{NAME}")
COMPANION = True
"""The log belongs to a framework's trace when there is one beside it."""

_MARKER = "(?:onednn|dnnl|mkldnn)_verbose,"
_LINE = re.compile(rf"{_MARKER}(?:v\d+,)?(?:[\d.]+,){{0,2}}(?:primitive,|graph,)?(?:info|exec|create)".encode())
_VERSION = re.compile(rf"{_MARKER}.*?info,(oneDNN|DNNL|Intel MKL-DNN) v?([\d.]+)")
_HEADER = re.compile(rf"{_MARKER}.*?info,cpu,(?:isa:(?P<isa>[^,]+)|runtime:(?P<runtime>[^,]+),nthr:(?P<threads>\d+))")
_EXEC = rf"^{_MARKER}(?:v\d+,)?(?:[\d.]+,){{0,2}}(?:primitive,)?exec,"
_STAMPED = rf"^{_MARKER}(?:v\d+,)?\d{{12,}}(?:[.,]\d+)?,"
_ALONE = "no time stamps in the log: primitives are laid end to end"
_BESIDE = "no time stamps in the log: primitives are laid end to end after the trace, in no operator"


def sniff(peek: Peek) -> bool:
    """Lines with oneDNN's marker, under any of its three names, in a file that is not JSON."""
    return bool(_LINE.search(peek.head)) and peek.head.lstrip()[:1] not in (b"{", b"[")


def read(stream: Stream, sink: Sink) -> None:
    """Fill `primitives`. Lines without an executed primitive are passed over; damaged ones are counted."""
    library, stamped, on_gpu, n_headers = "oneDNN", True, False, 0
    header: dict[str, str] = {}
    # The end of the trace that this log accompanies, on its clock; None for a log on its own.
    beside = sink.connection.execute(_sql("end_of_trace")).fetchall()[0][0]
    elapsed = beside or 0
    lines = Lines(stream)
    for batch in lines:
        pieces = _pieces(batch)
        libraries = _libraries(pieces)
        library, n_headers = (libraries or [library])[0], n_headers + len(libraries)
        header |= _header(pieces)
        chosen = pc.filter(pieces, pc.match_substring_regex(pieces, _EXEC))
        on_gpu = on_gpu or bool(pc.any(pc.match_substring_regex(chosen, f"{_EXEC}gpu")).as_py())
        table = pa.table({"row": pa.array(range(len(chosen)), pa.int64()), "line": chosen})
        sink.connection.register("lines", table)
        values = {"first": sink.next_id, "zero": sink.zero_unix_ns or 0, "library": library, "elapsed": elapsed}
        added = sink.connection.execute(f"INSERT INTO stage.primitives BY NAME {_sql('primitives')}", values).fetchall()
        sink.account(len(chosen), int(added[0][0]), "lines of oneDNN that are cut or damaged")
        stamped = stamped and bool(pc.all(pc.match_substring_regex(chosen, _STAMPED), min_count=0).as_py())
        ends = sink.connection.execute(_sql("end_of_part"), {"first": sink.next_id}).fetchall()
        elapsed = ends[0][0] or elapsed
        sink.next_id += len(chosen)
    sink.count("n_dropped", 0)
    lines.report(sink.problem)
    if n_headers > 1:
        sink.problem("further headers of oneDNN: several runs or processes in one log", n_headers - 1)
    if on_gpu:
        header["engine"] = "gpu"
        sink.warnings.append(
            "some or all primitives of the oneDNN log ran on a GPU; here they count as work of the CPU"
        )
    if stamped and sink.zero_unix_ns is None:
        sink.zero_unix_ns = 0
    if not stamped and beside is not None:
        sink.problem("primitives of a oneDNN log without time stamps (set ONEDNN_VERBOSE_TIMESTAMP=1)")
    unstamped = _ALONE if beside is None else _BESIDE
    sink.fact(tool=library, metadata=header or None, clock="wall-clock stamps in the log" if stamped else unstamped)


def _pieces(lines: pa.Array) -> pa.Array:
    """Return oneDNN's own lines: from each marker to the next one or the end of the line."""
    marked = pc.filter(lines, pc.match_substring_regex(lines, _MARKER))
    parted = pc.replace_substring_regex(marked, f"({_MARKER})", "\n\\1")
    pieces = pc.list_flatten(pc.split_pattern(parted, "\n"))
    return pc.filter(pieces, pc.match_substring_regex(pieces, f"^{_MARKER}"))


def _libraries(lines: pa.Array) -> list[str]:
    """Return the library and version of each header: a process writes one."""
    found = pc.filter(lines, pc.match_substring_regex(lines, f"^{_MARKER}.*info,(?:oneDNN|DNNL|Intel MKL-DNN) v"))
    return [f"{match.group(1)} {match.group(2)}" for match in map(_VERSION.match, found.to_pylist()) if match]


def _header(lines: pa.Array) -> dict[str, str]:
    """Return the library's facts of the processor: the instruction set it uses at most, its threads."""
    found = pc.filter(lines, pc.match_substring(lines, "info,cpu,")).to_pylist()
    matches = [match.groupdict() for match in map(_HEADER.match, found) if match]
    return {name: value for match in matches for name, value in match.items() if value is not None}
