"""rocprof (ROCm 2 to 6, "rocprof v1"): the database `results.db` and the timeline `results.json` that it makes of it.

Capture with `rocprof --hip-trace COMMAND` or `rocprof --sys-trace COMMAND`. Formats: SQLite with a table per kind of
record, and Chrome's trace events with the same columns among their arguments (bin/tblextr.py and bin/sqlitedb.py of
https://github.com/ROCm/rocprofiler). Times are nanoseconds since the machine started; those of the events themselves
are cut to microseconds, so the arguments' are read. Of the two files one says all.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from traceview import sql
from traceview.decode.databases import open_tables, sqlite_tables
from traceview.decode.files import Peek, Stream, peek
from traceview.ingest.foreign_tables import Ingest
from traceview.ingest.sink import Sink
from traceview.ingest.trace_events import SHARED, Form, fill
from traceview.paths import content

NAME = "rocprof"
TITLE = "rocprof database and JSON (results.db, results.json)"
HOW = "rocprof --hip-trace COMMAND"

TABLES = frozenset(("OPS", "HIP", "HSA", "COPY", "A"))
QUERIES = ("op", "kernels", "memcpys", "async_copies", "api_calls")
FORM = Form(
    folder="rocprof_json",
    tables=("kernels", "memcpys", "api_calls", "ranges", "counters", "events"),
    shared=SHARED,
    ids=64,
    prepare=("exact",),
)
_TIMES = re.compile(rb'"BeginNs"\s*:\s*"?\d')


def sniff(peek: Peek) -> bool:
    """A database with its tables, or trace events that have its times among their arguments."""
    names = sqlite_tables(peek.path, peek.head)
    return len(TABLES.intersection(names)) >= 2 or (b'"traceEvents"' in peek.head and bool(_TIMES.search(peek.head)))


def superseded_by(path: Path) -> list[Path]:
    """The database holds what the timeline beside it does."""
    return [path.with_suffix(".db")] if path.suffix == ".json" else []


def read(stream: Stream, sink: Sink) -> None:
    """Fill the tables from one file."""
    is_database = bool(sqlite_tables(stream.path, peek(stream.path).head))
    metadata = _read_tables(stream, sink) if is_database else fill(stream, sink, FORM)
    sink.connection.execute(f"INSERT INTO stage.devices BY NAME {sql.text('ingest/rocprof/devices')}")
    pids = sink.connection.execute(sql.text("ingest/rocprof/process")).fetchall()
    sink.write_rows("ranks", [{"pid": pids[0][0] if pids else None}])
    sink.expect_kernels("no kernel was recorded: rocprof was told to trace calls only, or the program used no GPU")
    sink.fact(tool="rocprof", metadata=metadata)


def _read_tables(stream: Stream, sink: Sink) -> dict[str, Any]:
    with open_tables(stream.path) as tables:
        ingest = Ingest(sink, tables, content("queries") / "ingest" / NAME)
        for query in QUERIES:
            ingest.run(query)
        unread = ingest.unread()
        ingest.close()
    return {"tables_not_read": unread}
