"""ROCm's databases: rocpd (rocprofv3, rocprofiler-systems) and rpd (rocmProfileData).

Capture with `rocprofv3 --sys-trace --output-format rocpd -- COMMAND` or `runTracer.sh -o trace.rpd COMMAND`. Formats:
SQLite; https://rocm.docs.amd.com/projects/rocprofiler-sdk (rocpd schema 3, and times and tracks in tables of their own)
and https://github.com/ROCm/rocmProfileData. Times are nanoseconds of a clock that counts from the machine's start. The
views in these files are never asked: only the tables under them, which in rocpd end in the run's identifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from traceview.decode.databases import open_tables, sqlite_tables
from traceview.decode.files import Peek, Stream
from traceview.ingest.foreign_tables import Ingest
from traceview.ingest.sink import Sink
from traceview.paths import content

NAME = "rocm_db"
TITLE = "ROCm databases: rocpd (rocprofv3) and rpd (rocmProfileData)"
HOW = "rocprofv3 --sys-trace --output-format rocpd, or rocmProfileData's runTracer.sh -o trace.rpd"

RPD = (
    "string", "api", "api_op", "kernel_call", "copy_call", "op", "kernels", "memcpys", "events", "api_calls", "ranges",
    "counters",
)  # fmt: skip
ROCPD = (
    "string", "event", "process", "host_thread", "agent", "symbol", "stamp", "track", "kernels", "memcpys", "region",
    "api_calls", "ranges", "events", "allocations",
)  # fmt: skip
_RUN = "rocpd_region"
"""Every run in a rocpd database has a table whose name begins like this and ends in the run's identifier."""


@dataclass(frozen=True)
class Part:
    """One process of an rpd database (`pid`), or one run of a rocpd database (`suffix`)."""

    suffix: str = ""
    pid: int | None = None
    is_first: bool = True


def sniff(peek: Peek) -> bool:
    """A SQLite database with the tables of either."""
    names = sqlite_tables(peek.path, peek.head)
    return {"rocpd_op", "rocpd_api"} <= names or bool(_runs(names))


def parts(path: Path) -> list[Part | None]:
    """Runs, or processes that used a device."""
    with open_tables(path) as tables:
        if "rocpd_op" not in tables.columns:
            return [Part(suffix) for suffix in _runs(tables.columns)] or [None]
        pids: set[int] = set()
        for batch in tables.rows("rocpd_api", {"pid": "BIGINT"}) if "rocpd_api" in tables.columns else ():
            pids.update(pid for pid in pc.unique(batch.column(0)).to_pylist() if pid is not None)
    order = sorted(pids)
    return [Part(pid=pid, is_first=pid == order[0]) for pid in order] if len(order) > 1 else [None]


def read(stream: Stream, sink: Sink, part: Part | None = None) -> None:
    """Fill the tables from one run or process."""
    part = part or Part()
    with open_tables(stream.path) as tables:
        is_rpd = "rocpd_op" in tables.columns
        folder = content("queries") / "ingest" / ("rpd" if is_rpd else "rocpd")
        values = {"pid": part.pid, "is_first": part.is_first}
        ingest = Ingest(sink, tables, folder, None, part.suffix, values)
        for query in RPD if is_rpd else ROCPD:
            ingest.run(query)
        _describe(ingest, part, is_rpd)
        ingest.close()


def _runs(names: Any) -> list[str]:
    return sorted(name.removeprefix(_RUN) for name in names if name.startswith(_RUN))


def _describe(ingest: Ingest, part: Part, is_rpd: bool) -> None:
    sink = ingest.sink
    facts = {
        str(row["tag"]): row["value"]
        for row in ingest.rows_of("rocpd_metadata", {"tag": "VARCHAR", "value": "VARCHAR"})
    }
    processes = ingest.rows_of("rocpd_info_process", {"pid": "BIGINT", "command": "VARCHAR"})
    nodes = ingest.rows_of("rocpd_info_node", {"hostname": "VARCHAR"})
    pid = part.pid if part.pid is not None else next((row["pid"] for row in processes), None)
    if is_rpd and pid is None:
        found = sink.connection.execute("SELECT min(pid) FROM stage.api_calls").fetchall()
        pid = found[0][0]
    sink.write_rows("ranks", [{"pid": pid, "host": next((row["hostname"] for row in nodes), None)}])
    ingest.run("devices")
    sink.expect_kernels(
        "no kernel was recorded: kernels were not traced (rocprofv3 --kernel-trace) or the program used no GPU"
    )
    sink.fact(
        tool="rocmProfileData" if is_rpd else "rocprofiler-sdk (rocpd)",
        tool_version=f"schema {facts['schema_version']}" if "schema_version" in facts else None,
        command=next((row["command"] for row in processes if row["command"]), None),
        metadata={**facts, "tables_not_read": ingest.unread()},
    )
