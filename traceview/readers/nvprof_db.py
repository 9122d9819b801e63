"""nvprof's database (`.nvvp`, `.nvprof`), versions 8 to 14, as CUDA 8 to 11 write it and the Visual Profiler opens it.

Capture with `nvprof -o trace.nvvp COMMAND`. Format: SQLite, one table per kind of CUPTI activity record
(https://docs.nvidia.com/cupti/api/). Times are nanoseconds since 1970. Functions are recorded as numbers; their names
are in `nvprof_calls.csv` (as cupti_runtime_cbid.h and cupti_driver_cbid.h of CUDA 11.8 number them). A database of
several processes is read as one rank each. Calls carry their process; work on a device carries only the correlation id
of the call that caused it, which each process counts by itself, and its context: it belongs to a process if its
correlation id, or else its context, occurs in that process only; otherwise to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from traceview import sql
from traceview.decode.columns import Columns, Processes, Tables
from traceview.decode.databases import open_tables, sqlite_tables
from traceview.decode.files import Peek, Stream
from traceview.ingest.foreign_tables import Ingest
from traceview.ingest.sink import EPOCH, Sink
from traceview.paths import content

NAME = "nvprof"
TITLE = "nvprof database (.nvvp, .nvprof)"
HOW = "nvprof -o trace.nvvp COMMAND"

KNOWN_VERSIONS = range(8, 15)
QUERIES = (
    "string", "kernels", "memcpys", "memsets", "api_calls", "marker", "ranges", "marks", "events",
)  # fmt: skip


def sniff(peek: Peek) -> bool:
    """A SQLite database with nvprof's table of names and CUPTI's activities."""
    names = sqlite_tables(peek.path, peek.head)
    return "StringTable" in names and any(name.startswith("CUPTI_ACTIVITY_KIND_") for name in names)


def parts(path: Path) -> list[int | None]:
    """The processes that called CUDA, where there are several."""
    with open_tables(path) as tables:
        found = processes(tables)
    return [*found] if len(found) > 1 else [None]


def read(stream: Stream, sink: Sink, part: int | None = None) -> None:
    """Fill the tables from one database, or from one process of it."""
    with open_tables(stream.path) as tables:
        one = None if part is None else OneProcess(tables, part)
        ingest = Ingest(sink, one or tables, content("queries") / "ingest" / NAME)
        sink.connection.register("function", functions())
        for query in QUERIES:
            ingest.run(query)
        sink.connection.unregister("function")
        _describe(ingest, part)
        ingest.close()
        if one and one.n_without_process:
            sink.problem("work on a device whose process is not known: it is in the first rank", one.n_without_process)


@cache
def functions() -> pa.Table:
    """Columns kind (runtime or driver), cbid and name."""
    return pyarrow.csv.read_csv(Path(__file__).with_name("nvprof_calls.csv"))


def _describe(ingest: Ingest, part: int | None) -> None:
    sink = ingest.sink
    version = next((row["version"] for row in ingest.rows_of("Version", {"version": "BIGINT"})), None)
    if version not in KNOWN_VERSIONS:
        sink.problem(f"database version {version} is not known ({KNOWN_VERSIONS[0]} to {KNOWN_VERSIONS[-1]} are)")
    earliest = sink.earliest_ns()
    if earliest is not None and earliest > EPOCH:
        sink.zero_unix_ns = 0
    ingest.run("devices")
    pids = sink.connection.execute(sql.text("ingest/nvprof/processes")).fetchall()
    sink.write_rows("ranks", [{"pid": part or (pids[0][0] if pids else None)}])
    sink.expect_kernels("no kernel was recorded: the program launched none, or nvprof was told to trace API calls only")
    unread = ingest.unread()
    if results := _RESULTS & set(unread):
        sink.problem(REPLAYED, len(results))
    sink.fact(
        tool="nvprof",
        tool_version=f"database version {version}",
        metadata={"database_version": version, "tables_not_read": unread},
    )


REPLAYED = "tables of metrics, for which the profiler ran kernels again"
_RESULTS = {f"CUPTI_ACTIVITY_KIND_{name}" for name in ("METRIC", "METRIC_INSTANCE", "EVENT", "EVENT_INSTANCE")}
"""Tables of what `--metrics` and `--events` count: each kernel runs once for each group of counters, alone."""


KIND = "CUPTI_ACTIVITY_KIND_"
CALLS = (f"{KIND}RUNTIME", f"{KIND}DRIVER")
WORK = tuple(KIND + name for name in ("CONCURRENT_KERNEL", "KERNEL", "MEMCPY", "MEMCPY2", "MEMSET", "SYNCHRONIZATION"))
THREADS = (f"{KIND}MARKER", f"{KIND}OVERHEAD")
"""Their `objectId` begins with the process, low byte first; as hexadecimal digits, eight of them."""
_PROCESS = {"processId": "BIGINT", "correlationId": "BIGINT"}
_PLACE = {"correlationId": "BIGINT", "deviceId": "BIGINT", "contextId": "BIGINT"}


def processes(tables: Tables) -> list[int]:
    """The processes whose calls were recorded, in order of their numbers."""
    found: set[int] = set()
    for table in CALLS:
        for batch in _rows(tables, table, {"processId": "BIGINT"}):
            found.update(pid for pid in pc.unique(batch.column(0)).to_pylist() if pid is not None)
    return sorted(found)


class OneProcess:
    """The tables as one process's: call numbers and contexts that are one process's alone tell whose work is.

    The first process also has the rows of none: `n_without_process` counts its work.
    """

    def __init__(self, tables: Tables, pid: int) -> None:
        self.tables, self.pid, self.pids = tables, pid, processes(tables)
        self.columns, self.damage, self.long_texts = tables.columns, tables.damage, tables.long_texts
        self.n_without_process = 0
        self._calls = _alone(
            (batch.column(1), batch.column(0)) for table in CALLS for batch in _rows(tables, table, _PROCESS)
        )
        self._contexts = _alone(
            (_context(batch), _found(self._calls, batch.column(0)))
            for table in WORK
            for batch in _rows(tables, table, _PLACE)
        )

    def rows(self, table: str, columns: Columns, processes: Processes | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly these columns, in order."""
        told = _PROCESS if table in CALLS else _PLACE if table in WORK else {"objectId": "VARCHAR"}
        if table not in (*CALLS, *WORK, *THREADS):
            yield from self.tables.rows(table, columns, processes)
            return
        for batch in self.tables.rows(table, {**columns, **told}, processes):
            pids = self._processes(table, batch.select(list(told)))
            yield self._of_process(batch.select(list(columns)), pids, table in WORK)

    def _processes(self, table: str, place: pa.RecordBatch) -> pa.Array:
        """The process of each row, NULL where none can be told."""
        if table in CALLS:
            return place.column(0)
        if table in WORK:
            return pc.coalesce(_found(self._calls, place.column(0)), _found(self._contexts, _context(place)))
        known = pa.array([_four_bytes(pid) for pid in self.pids], pa.string())
        return pa.array(self.pids, pa.int64()).take(pc.index_in(pc.utf8_slice_codeunits(place.column(0), 0, 8), known))

    def _of_process(self, batch: pa.RecordBatch, pids: pa.Array, is_work: bool) -> pa.RecordBatch:
        is_first = self.pid == self.pids[0]
        if is_work and is_first and pids.null_count:
            self.n_without_process += pids.null_count
            index = batch.schema.get_field_index("correlationId")
            if index >= 0:
                calls = pc.if_else(pc.is_valid(pids), batch.column(index), pa.scalar(None, pa.int64()))
                batch = batch.set_column(index, batch.schema.field(index), calls)
        return batch.filter(pc.fill_null(pc.equal(pids, self.pid), is_first))


def _rows(tables: Tables, table: str, columns: Columns) -> Iterator[pa.RecordBatch]:
    return tables.rows(table, columns) if table in tables.columns else iter(())


def _context(batch: pa.RecordBatch) -> pa.Array:
    """Device and context as one number; a synchronisation has no device, so its context tells nothing."""
    return pc.add(
        pc.shift_left(pc.bit_wise_and(batch.column(1), 0x7FFF), 32), pc.bit_wise_and(batch.column(2), 2**32 - 1)
    )


def _alone(pairs: Iterator[tuple[pa.Array, pa.Array]]) -> pa.Table:
    """Columns key and pid of (keys, processes): the keys that come with one process only."""
    names = ["key", "pid"]
    empty = pa.table([pa.array([], pa.int64())] * 2, names)
    pairs_seen = [pa.table(list(pair), names).drop_null().group_by(names).aggregate([]) for pair in pairs]
    seen = pa.concat_tables([empty, *pairs_seen]).group_by("key").aggregate([("pid", "min"), ("pid", "max")])
    alone = seen.filter(pc.equal(seen["pid_min"], seen["pid_max"]))
    return pa.table([alone["key"], alone["pid_min"]], names).combine_chunks()


def _found(alone: pa.Table, keys: pa.Array) -> pa.Array:
    """The process of each key, NULL where there is none."""
    places = pc.index_in(keys, alone["key"])
    found = alone["pid"].take(places)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _four_bytes(pid: int) -> str:
    """A process as it lies in a marker; a damaged number that has no four bytes is nobody's there."""
    return (pid & 0xFFFFFFFF).to_bytes(4, "little").hex().upper() if -(2**31) <= pid < 2**32 else "none"
