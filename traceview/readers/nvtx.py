"""NVTX ranges of a program, as traceview's own receiver (`collectors/nvtx/`) writes them where Nsight is absent.

Capture with `traceview collect`, or by hand (see `collectors/nvtx_injection.py`); the format is described in
`collectors/nvtx/calls.c`. Times are nanoseconds since 1970 on the wall clock.

Invariant: steps are counted once. A range named like a step does not count where the trace beside it marks steps.
"""

from __future__ import annotations

import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.files import Peek, Stream
from traceview.decode.text_lines import Lines
from traceview.errors import InputError
from traceview.ingest.sink import Sink
from traceview.paths import content
from traceview.sql import Query, load_folder

NAME = "nvtx"
TITLE = "NVTX ranges, recorded without Nsight"
HOW = "traceview collect, around a program that uses NVTX (PyPI nvtx, torch.cuda.nvtx, C)"
COMPANION = True
"""The ranges belong to a framework's trace when there is one beside them."""

_HEADER = re.compile(r"^traceview-nvtx\t1\t(\d{1,18})\t(\d{1,18})\t(\d{20})\t$", re.ASCII)
_FULL = "range or mark for which the receiver of NVTX had no room (64 MiB a process, 64 open in a thread)"


def sniff(peek: Peek) -> bool:
    """The receiver's first line."""
    return _HEADER.match(peek.head.split(b"\n", 1)[0].decode("ascii", "replace")) is not None


def read(stream: Stream, sink: Sink) -> None:
    """Fill `ranges`, and `events` with the marks."""
    is_alone = sink.earliest_ns() is None
    if sink.zero_unix_ns is None and not is_alone:
        raise InputError(f"{stream.path.name} cannot be placed: the trace beside it has no wall clock.")
    sink.zero_unix_ns = sink.zero_unix_ns or 0
    pid, n_lost = _parse(stream, sink)
    marked = sink.connection.execute(_queries()["marked"].body).fetchall()
    for table in ("ranges", "events"):
        query = _queries()[table]
        values = {"pid": pid, "has_steps": marked[0][0]}
        given = {name: values[name] for name in query.params}
        sink.connection.execute(f"INSERT INTO stage.{table} BY NAME {query.body}", given)
    sink.connection.execute("DROP TABLE nvtx")
    if n_lost:
        sink.count("n_events", n_lost)
        sink.count("n_dropped", n_lost)
        sink.problem(_FULL, n_lost)
    if is_alone:
        sink.write_rows("ranks", [{"pid": pid}])
    sink.fact(tool="traceview's receiver of NVTX", clock="wall-clock stamps in the log")


def _parse(stream: Stream, sink: Sink) -> tuple[int, int]:
    """Make the temporary table `nvtx` of all lines; returns the process and how many lines it had no room for."""
    connection, query = sink.connection, _queries()["nvtx"].body
    pid = n_lost = 0
    into = "CREATE OR REPLACE TEMP TABLE nvtx AS"
    lines = Lines(stream)
    for batch in lines:
        said = pc.filter(batch, pc.not_equal(batch, ""))
        header = _HEADER.match(said[0].as_py()) if into.startswith("CREATE") and len(said) else None
        if header:
            pid, n_lost, said = int(header[1]), int(header[3]), said[1:]
        connection.register("lines", pa.table({"row": pa.array(range(len(said)), pa.int64()), "line": said}))
        values = {"first": sink.next_id, "zero": sink.zero_unix_ns}
        n_kept = int(connection.execute(f"{into} {query}", values).fetchall()[0][0])
        connection.unregister("lines")
        sink.next_id += len(said)
        sink.count("n_events", len(said))
        sink.count("n_kept", n_kept)
        sink.count("n_dropped", len(said) - n_kept)
        if n_kept < len(said):
            sink.problem("lines of NVTX that are cut or damaged", len(said) - n_kept)
        into = "INSERT INTO nvtx BY NAME"
    lines.report(sink.problem)
    return pid, n_lost


@cache
def _queries() -> dict[str, Query]:
    return load_folder(content("queries") / "ingest" / NAME)
