"""From what was read of a rank to its files: derived columns are worked out, and tables written as they are complete.

The one law: all of it can be done again where memory was too little (`sparing.py`), and the files are then the same.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from traceview.derive import Derivation
from traceview.export import ORDERED, Export
from traceview.sink import Sink
from traceview.sparing import Sparing
from traceview.tables import BY_NAME, TABLES, Table

FIRST_BYTES = 400_000_000
"""What the work is tried with first; the rest waits on disk."""
AT_ONCE_BYTES = 600_000_000
"""The same where two pieces of work are done at a time."""
AT_ONCE_ROWS = 2_000_000
"""Rows of the longest table up to which tables are written while others are worked out."""
MANY = 1_000_000
"""Rows of a longer one from which on texts that were worked out are kept as numbers."""


def finish(export: Export) -> None:
    """Work out the derived columns of a rank, and write its tables."""
    export.folder.mkdir(parents=True)
    is_small = max(map(partial(_count, export.sink), TABLES)) < AT_ONCE_ROWS
    with Sparing(export.sink.connection, AT_ONCE_BYTES if is_small else FIRST_BYTES) as attempt:
        (_at_once if is_small else _one_by_one)(export, attempt)


def _count(sink: Sink, table: Table) -> int:
    return int(sink.connection.execute(f"SELECT count(*) FROM stage.{table.name}").fetchall()[0][0])


def _at_once(export: Export, attempt: Sparing) -> None:
    """Write what is complete while the rest is worked out."""
    with contextlib.closing(export.sink.cursor()) as second, ThreadPoolExecutor(1) as pool:
        try:
            writing = [
                pool.submit(attempt, partial(export.write, table, second))
                for table in TABLES
                if not table.derived_columns()
            ]
            for work, tables in Derivation(export.sink.connection).stages:
                attempt(work)
                writing += [pool.submit(attempt, partial(export.write, BY_NAME[name], second)) for name in tables]
            for written in writing:
                written.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _one_by_one(export: Export, attempt: Sparing) -> None:
    """Work everything out, then write and empty one table after the other."""
    sink = export.sink
    for work, _ in Derivation(sink.connection).stages:
        attempt(work)
    for table in TABLES:
        # Where the rows' order is not to be kept, DuckDB writes sorted ones on one thread.
        sink.connection.execute("SET preserve_insertion_order = $1", [table.name in ORDERED])
        attempt(partial(_number_texts, sink, table))
        attempt(partial(export.write, table, sink.connection))
        sink.empty(table)


def _number_texts(sink: Sink, table: Table) -> None:
    """Keep what was worked out for many rows as numbers of texts: as texts it would not fit beside the rows."""
    names = [column.name for column in table.derived_columns() if column.sql_type == "VARCHAR"]
    if not names or _count(sink, table) < MANY:
        return
    for name in names:
        texts = f"SELECT DISTINCT coalesce({name}, '') FROM derived.{table.name}"
        sink.connection.execute(f"CREATE TYPE IF NOT EXISTS {table.name}_{name} AS ENUM ({texts})")
        sink.connection.execute(f"ALTER TABLE derived.{table.name} ALTER {name} TYPE {table.name}_{name}")
