"""From what was read of a rank to its files: derived columns are worked out, and tables written as they are complete.

Invariant: all of it can be done again where memory was too little (`memory.py`), and the files are then the same. Every
table but an optional one is written, also empty, with exactly the columns of `tables.py`. SQL here is assembled from
that module alone, never from a trace.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from traceview.ingest.derive import Derivation
from traceview.ingest.memory import LowMemory
from traceview.ingest.sink import Sink
from traceview.lazy import duckdb
from traceview.sql import PARQUET
from traceview.tables import BY_NAME, ID, RANK_SHIFT, TABLES, Column, Table

FIRST_BYTES = 400_000_000
"""Memory limit of the first try; the rest is spilled to disk."""
AT_ONCE_BYTES = 600_000_000
"""Memory limit of the first try where two pieces of work are done at a time."""
AT_ONCE_ROWS = 2_000_000
"""Rows of the longest table up to which tables are written while others are worked out."""
MANY = 1_000_000
"""Rows of a longer one from which on texts that were worked out are stored as numbers."""
ORDERED = ("kernels", "memcpys", "primitives")
"""Tables whose rows are written by their id."""
DERIVED_ROWS = ("ops", "ranges")
"""Tables that may get rows when derived columns are worked out."""
TIMES = (
    *("start_ns", "source_ns", "target_ns", "device_until_ns", "rank_until_ns"),
    *("allocated_ns", "freed_ns"),
)
"""Columns that are points in time and move with the origin; durations do not."""


@dataclass(frozen=True)
class Export:
    """Folder of a rank's tables, and the zero of their times."""

    sink: Sink
    folder: Path
    origin_ns: int = 0
    """Zero of the times that are written, on the reader's clock."""
    origin_unix_ns: int | None = None
    """Zero in nanoseconds since 1970, if known."""
    is_part: bool = False
    """Whether these files are soon merged with those of other ranks, so that empty tables need none."""

    def tables(self, n_rows: Mapping[str, int]) -> tuple[Table, ...]:
        """The tables to write, by the rows they have before anything is worked out; optional ones need some."""
        always = DERIVED_ROWS if self.is_part else [table.name for table in TABLES if not table.optional]
        return tuple(table for table in TABLES if n_rows[table.name] or table.name in always)

    def write(self, table: Table, connection: duckdb.DuckDBPyConnection) -> None:
        """Write one table, through the sink's connection or another to its tables."""
        rank = self.sink.rank
        values = {"rank": rank, "shift": rank << RANK_SHIFT, "origin": self.origin_ns, "unix": self.origin_unix_ns}
        query, names = _query(table)
        used = {**{name: values[name] for name in names}, "path": str(self.folder / f"{table.name}.parquet")}
        connection.execute(f"COPY ({query}) TO $path ({PARQUET}, COMPRESSION zstd, COMPRESSION_LEVEL 1)", used)


def columns(table: Table, source: Callable[[Column], str], at: str = "") -> tuple[str, set[str]]:
    """The columns of a table's file, with the numbers of the job, and the parameters that this needs.

    `at`: of parameters that are lists, the place in them.
    """
    used = {"rank"}
    parts = [f"CAST($rank{at} AS INTEGER) AS rank"]
    for column in table.columns:
        text = source(column)
        if column.type == ID:
            used.add("shift")
            text += f" + CAST($shift{at} AS BIGINT)"
        elif column.name in TIMES:
            used.add("origin")
            text += f" - CAST($origin{at} AS BIGINT)"
        elif column.name == "origin_unix_ns":
            used.add("unix")
            text = f"CAST($unix{at} AS BIGINT)"
        parts.append(f'{text} AS "{column.name}"')
    return ", ".join(parts), used


def _source(column: Column) -> str:
    name = f'{"d" if column.derived else "s"}."{column.name}"'
    return f"CAST({name} AS VARCHAR)" if column.derived and column.sql_type == "VARCHAR" else name


def _query(table: Table) -> tuple[str, set[str]]:
    """The SELECT that makes a table's file out of what was read and derived, and the parameters it needs."""
    selected, used = columns(table, _source)
    joined = f"stage.{table.name} s"
    if table.derived_columns():
        joined += f" LEFT JOIN derived.{table.name} d ON s.id = d.id"
    order = " ORDER BY s.id" if table.name in ORDERED else ""
    return f"SELECT {selected} FROM {joined}{order}", used


def finish(export: Export) -> None:
    """Work out the derived columns of a rank, and write its tables: all of them, or none."""
    export.folder.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, export.folder, ignore_errors=True)
        n_rows = _counts(export.sink)
        tables = export.tables(n_rows)
        is_small = max(n_rows.values()) < AT_ONCE_ROWS
        with LowMemory(export.sink.connection, AT_ONCE_BYTES if is_small else FIRST_BYTES) as attempt:
            (_at_once if is_small else _one_by_one)(export, tables, attempt)
        stack.pop_all()


def _counts(sink: Sink) -> dict[str, int]:
    """Rows of each table."""
    counts = " UNION ALL ".join(f"SELECT '{table.name}', count(*) FROM stage.{table.name}" for table in TABLES)
    return dict(sink.connection.execute(counts).fetchall())


def _at_once(export: Export, tables: Sequence[Table], attempt: LowMemory) -> None:
    """Write what is complete while the rest is worked out."""
    with contextlib.closing(export.sink.cursor()) as second, ThreadPoolExecutor(1) as pool:
        try:
            writing = [
                pool.submit(attempt, partial(export.write, table, second))
                for table in tables
                if not table.derived_columns()
            ]
            for work, names in Derivation(export.sink.connection, BY_NAME["allocations"] in tables).stages:
                attempt(work)
                complete = [BY_NAME[name] for name in names if BY_NAME[name] in tables]
                writing += [pool.submit(attempt, partial(export.write, table, second)) for table in complete]
            for written in writing:
                written.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _one_by_one(export: Export, tables: Sequence[Table], attempt: LowMemory) -> None:
    """Work everything out, then write and empty one table after the other."""
    sink = export.sink
    for work, _ in Derivation(sink.connection, BY_NAME["allocations"] in tables).stages:
        attempt(work)
    n_rows = _counts(sink)
    for table in tables:
        # Where the rows' order does not matter, DuckDB writes sorted ones on one thread.
        sink.connection.execute("SET preserve_insertion_order = $1", [table.name in ORDERED])
        if n_rows[table.name] >= MANY:
            attempt(partial(_number_texts, sink, table))
        attempt(partial(export.write, table, sink.connection))
        sink.empty(table)


def _number_texts(sink: Sink, table: Table) -> None:
    """Store what was worked out for many rows as numbers of texts: as texts it would not fit beside the rows."""
    names = [column.name for column in table.derived_columns() if column.sql_type == "VARCHAR"]
    for name in names:
        texts = f"SELECT DISTINCT coalesce({name}, '') FROM derived.{table.name}"
        sink.connection.execute(f"CREATE TYPE IF NOT EXISTS {table.name}_{name} AS ENUM ({texts})")
        sink.connection.execute(f"ALTER TABLE derived.{table.name} ALTER {name} TYPE {table.name}_{name}")
