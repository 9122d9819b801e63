"""nvprof's database (`.nvvp`, `.nvprof`), versions 8 to 14, as CUDA 8 to 11 write it and the Visual Profiler opens it.

Capture with `nvprof -o trace.nvvp COMMAND`. Format: SQLite, one table per kind of CUPTI activity record
(https://docs.nvidia.com/cupti/api/). Times are nanoseconds since 1970. Functions are recorded as numbers; their names
are in `nvprof_calls.csv` (as cupti_runtime_cbid.h and cupti_driver_cbid.h of CUDA 11.8 number them). A database of
several processes is read as one rank each (`decode/nvprof_processes.py`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from traceview import sql
from traceview.decode.databases import open_tables, sqlite_tables
from traceview.decode.files import Peek, Stream
from traceview.decode.nvprof_processes import Callers, OneProcess, processes
from traceview.ingest.foreign_tables import Ingest
from traceview.ingest.sink import Sink
from traceview.paths import content

NAME = "nvprof"
TITLE = "nvprof database (.nvvp, .nvprof)"
HOW = "nvprof -o trace.nvvp COMMAND"

KNOWN_VERSIONS = range(8, 15)
QUERIES = (
    "string", "kernels", "memcpys", "memsets", "api_calls", "marker", "ranges", "marks", "events",
)  # fmt: skip
EPOCH = 10**17
"""Nanoseconds since 1970 are above this; a clock that counts from the machine's start is not."""


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
        one = None if part is None else OneProcess(tables, Callers(tables), part)
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
    names = dict(sink.connection.execute("SELECT id, value FROM string").fetchall())
    found = ingest.rows_of("CUPTI_ACTIVITY_KIND_DEVICE", dict.fromkeys(_DEVICE, "BIGINT"))
    sink.write_rows("devices", [_device(row, names) for row in found])
    pids = sink.connection.execute(sql.text("ingest/nvprof/processes")).fetchall()
    sink.write_rows("ranks", [{"pid": part or (pids[0][0] if pids else None)}])
    if not sink.connection.execute("SELECT count(*) FROM stage.kernels").fetchall()[0][0]:
        reason = "no kernel was recorded: the program launched none, or nvprof was told to trace API calls only"
        sink.problem(reason)
        sink.warnings.append(reason)
    sink.fact(
        tool="nvprof",
        tool_version=f"database version {version}",
        metadata={"database_version": version, "tables_not_read": ingest.unread()},
    )


_DEVICE = (
    "id", "name", "globalMemoryBandwidth", "globalMemorySize", "coreClockRate", "numMultiprocessors",
    "numThreadsPerWarp", "maxWarpsPerMultiprocessor", "computeCapabilityMajor", "computeCapabilityMinor",
)  # fmt: skip


def _device(row: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    """CUPTI counts bandwidth and clock in thousands."""
    threads = (row["maxWarpsPerMultiprocessor"] or 0) * (row["numThreadsPerWarp"] or 0)
    major = row["computeCapabilityMajor"]
    bandwidth = row["globalMemoryBandwidth"]
    return {
        "device": row["id"],
        "name": names.get(row["name"]),
        "kind": "gpu",
        "architecture": f"{major}.{row['computeCapabilityMinor']}" if major is not None else None,
        "n_cores": row["numMultiprocessors"],
        "max_threads_per_core": threads or None,
        "memory_bytes": row["globalMemorySize"],
        "clock_hz": row["coreClockRate"] * 1000 if row["coreClockRate"] else None,
        "memory_bytes_per_s": bandwidth * 1000.0 if bandwidth else None,
        "peaks_from": "the trace (CUPTI_ACTIVITY_KIND_DEVICE)" if bandwidth else None,
    }
