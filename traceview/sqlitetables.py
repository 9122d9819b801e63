"""The tables of a SQLite file as Arrow batches.

The one law: nothing in the file runs. It is opened read-only and immutable, and only real tables are read: no view, no
trigger, no virtual table, no generated column. A damaged page ends its table, and `damage` says so.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from traceview.errors import InputError
from traceview.wanted import BATCH_ROWS, Columns, Owner, conform, reason

MAGIC = b"SQLite format 3\0"


@dataclass
class Sqlite:
    connection: Any
    columns: dict[str, tuple[str, ...]]
    damage: list[str] = field(default_factory=list)

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        query = _select(table, self.columns[table], wanted, owner)
        with self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)})
            is_first = True
            try:
                cursor.execute(query)
                for batch in cursor.fetch_record_batch():
                    # The first row only tells the driver the types.
                    yield conform(batch.slice(1) if is_first else batch, wanted)
                    is_first = False
            except (pa.ArrowException, OSError) as error:
                self.damage.append(f"table {table} could be read only in part ({reason(error)})")
            except Exception as error:
                if not _is_driver_error(error):
                    raise
                self.damage.append(f"table {table} could be read only in part ({reason(error)})")


@contextlib.contextmanager
def open_sqlite(path: Path, name: str) -> Iterator[Sqlite]:
    """A database; `name` is what errors call it. Raises `InputError` when its list of tables cannot be read."""
    import adbc_driver_sqlite.dbapi as driver

    try:
        connection = driver.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    except Exception as error:
        if not _is_driver_error(error):
            raise
        raise InputError(f"{name} cannot be opened as a SQLite database ({reason(error)}).") from error
    try:
        yield Sqlite(connection, _catalogue(connection, name))
    finally:
        connection.close()


def _catalogue(connection: Any, name: str) -> dict[str, tuple[str, ...]]:
    """Real tables and their stored columns: a virtual table has no page of its own, a generated column is hidden."""
    found: dict[str, tuple[str, ...]] = {}
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA trusted_schema = OFF")
            cursor.execute(
                """SELECT CAST(t.name AS TEXT), CAST(c.name AS TEXT)
                FROM main.sqlite_master t, pragma_table_xinfo(t.name) c
                WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden = 0 ORDER BY t.name, c.cid"""
            )
            for table, column in cursor.fetchall():
                found[table] = (*found.get(table, ()), column)
    except Exception as error:
        if not _is_driver_error(error):
            raise
        raise InputError(f"{name} is damaged: its list of tables cannot be read ({reason(error)}).") from error
    return found


def _select(table: str, present: tuple[str, ...], wanted: Columns, owner: Owner | None) -> str:
    """A SELECT over one real table. The driver takes types from the first rows, so a typed row comes first."""
    by_name = {column.lower(): column for column in present}
    first = {"BIGINT": "0", "DOUBLE": "0.5", "VARCHAR": "''"}
    values = [_value(by_name.get(column.lower()), kind) for column, kind in wanted.items()]
    head = ", ".join(f"{first[kind]} AS {_quoted(column)}" for column, kind in wanted.items())
    query = f"SELECT {head} UNION ALL SELECT {', '.join(values)} FROM main.{_quoted(table)}"
    column = owner.column(present) if owner else None
    if owner and column:
        pids = ", ".join(str(pid) for pid in sorted(owner.pids))
        process = f"({_quoted(column)} >> 24 & 16777215)"
        query += f" WHERE coalesce({process} {'NOT IN' if owner.outsiders else 'IN'} ({pids}), {int(owner.outsiders)})"
    return query


def _value(column: str | None, kind: str) -> str:
    """An expression with exactly one type, whatever is stored."""
    if column is None:
        return "NULL"
    name = _quoted(column)
    if kind == "BIGINT":
        number = f"CAST({name} AS INTEGER)"
        text = f"CASE WHEN CAST({number} AS TEXT) = {name} THEN {number} END"
        return f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {number} WHEN 'text' THEN {text} END"
    if kind == "DOUBLE":
        return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"
    return f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_driver_error(error: Exception) -> bool:
    """Whether it comes from the database driver, which is imported only where a database is read."""
    return type(error).__module__.startswith("adbc_driver_manager")
