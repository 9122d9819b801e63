"""Writes what was read and derived of a rank as one Parquet file per table.

The one law: every table is written, also an empty one, with exactly the columns of `tables.py`. SQL here is assembled
from that module alone, never from a trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from traceview.sink import Sink
from traceview.tables import ID, RANK_SHIFT, Table

ORDERED = ("kernels", "memcpys", "primitives")
"""Tables whose rows are written by their id."""
TIMES = ("start_ns", "source_ns", "target_ns", "device_until_ns", "rank_until_ns")
"""Columns that are points in time and move with the origin; durations do not."""


@dataclass(frozen=True)
class Export:
    """Where the tables of a rank go, and the zero of their times."""

    sink: Sink
    folder: Path
    origin_ns: int = 0
    """Zero of the times that are written, on the reader's clock."""
    origin_unix_ns: int | None = None
    """The same in nanoseconds since 1970, if known."""

    def write(self, table: Table, connection: duckdb.DuckDBPyConnection) -> None:
        """Write one table, through the sink's connection or another to its tables."""
        rank = self.sink.rank
        values = {"rank": rank, "shift": rank << RANK_SHIFT, "origin": self.origin_ns, "unix": self.origin_unix_ns}
        query, names = _query(table)
        used = {**{name: values[name] for name in names}, "path": str(self.folder / f"{table.name}.parquet")}
        connection.execute(f"COPY ({query}) TO $path (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)", used)


def _query(table: Table) -> tuple[str, set[str]]:
    """The SELECT that makes a table's file out of what was read and derived, and the parameters it needs."""
    used = {"rank"}
    parts = ["CAST($rank AS INTEGER) AS rank"]
    for column in table.columns:
        source = f'{"d" if column.derived else "s"}."{column.name}"'
        if column.type == ID:
            used.add("shift")
            source = f"{source} + $shift"
        elif column.name in TIMES:
            used.add("origin")
            source = f"{source} - $origin"
        elif column.derived and column.sql_type == "VARCHAR":
            source = f"CAST({source} AS VARCHAR)"
        elif column.name == "origin_unix_ns":
            used.add("unix")
            source = "CAST($unix AS BIGINT)"
        parts.append(f'{source} AS "{column.name}"')
    joined = f"stage.{table.name} s"
    if table.derived_columns():
        joined += f" LEFT JOIN derived.{table.name} d ON s.id = d.id"
    order = " ORDER BY s.id" if table.name in ORDERED else ""
    return f"SELECT {', '.join(parts)} FROM {joined}{order}", used
