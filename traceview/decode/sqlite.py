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

from traceview.decode.columns import BATCH_ROWS, Columns, Owner, conform, reason
from traceview.errors import InputError

MAGIC = b"SQLite format 3\0"
SALVAGE_ROWS = 64


@dataclass
class Sqlite:
    """An open database and its real tables."""

    connection: Any
    columns: dict[str, tuple[str, ...]]
    damage: list[str] = field(default_factory=list)

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly the wanted columns. A damaged page ends the table."""
        query = _select(table, self.columns[table], wanted, owner)
        done = 0
        # The driver loses the batch in which it meets damage: small batches come closer to it.
        for size in (BATCH_ROWS, SALVAGE_ROWS):
            seen = 0
            try:
                for batch in _batches(self.connection, query, size):
                    fresh = batch.slice(max(0, done - seen))
                    seen += len(batch)
                    done += len(fresh)
                    # The first row only tells the driver the types.
                    yield conform(fresh.slice(1) if done == len(fresh) else fresh, wanted)
                return
            except Exception as error:
                if not _is_damage(error):
                    raise
                damage = f"table {table} could be read only in part ({reason(error)})"
        if damage not in self.damage:
            self.damage.append(damage)


@contextlib.contextmanager
def open_sqlite(path: Path, name: str) -> Iterator[Sqlite]:
    """A database; `name` is what errors call it. Raises `InputError` when its list of tables cannot be read."""
    import adbc_driver_sqlite.dbapi as driver

    try:
        connection = driver.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    except Exception as error:
        if not _is_damage(error):
            raise
        raise InputError(f"{name} cannot be opened as a SQLite database ({reason(error)}).") from error
    try:
        yield _opened(connection, name)
    finally:
        connection.close()


def _opened(connection: Any, name: str) -> Sqlite:
    try:
        _execute(connection, "PRAGMA trusted_schema = OFF")
        return Sqlite(connection, _catalogue(connection, BATCH_ROWS))
    except Exception as error:
        if not _is_damage(error):
            raise
        # SQLite refuses a file that is shorter than it should be, unless the schema counts as being repaired.
        _execute(connection, "PRAGMA writable_schema = ON")
        columns = _catalogue(connection, 1)
        if not columns:
            raise InputError(f"{name} is damaged: its list of tables cannot be read ({reason(error)}).") from error
        return Sqlite(connection, columns, [f"the database is cut off or damaged ({reason(error)})"])


_TABLES = "SELECT CAST(name AS TEXT) AS name FROM main.sqlite_master WHERE type = 'table' AND rootpage > 0"
"""A virtual table has no page of its own."""


def _catalogue(connection: Any, batch_rows: int) -> dict[str, tuple[str, ...]]:
    """Real tables and their stored columns. Row by row, what can be read of them; else all, or the driver's error."""
    found: dict[str, tuple[str, ...]] = {}
    try:
        for batch in _batches(connection, _TABLES, batch_rows):
            for name in _names(batch):
                found[name] = ()
    except Exception as error:
        if batch_rows > 1 or not _is_damage(error):
            raise
    for name in found:
        # A generated column is hidden; to read it would run its expression.
        text = "'" + name.replace("'", "''") + "'"
        query = f"SELECT CAST(name AS TEXT) AS name FROM pragma_table_xinfo({text}) WHERE hidden = 0"
        found[name] = tuple(column for batch in _batches(connection, query, 1000) for column in _names(batch))
    return {name: columns for name, columns in found.items() if columns}


def _batches(connection: Any, query: str, batch_rows: int) -> Iterator[pa.RecordBatch]:
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch_rows)})
        cursor.execute(query)
        yield from cursor.fetch_record_batch()


def _names(batch: pa.RecordBatch) -> list[str]:
    """Names may hold bytes that are no text: these tables and columns are not found again, and count as damaged."""
    return [name for name in conform(batch, {"name": "VARCHAR"}).column(0).to_pylist() if name is not None]


def _execute(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _select(table: str, present: tuple[str, ...], wanted: Columns, owner: Owner | None) -> str:
    """A SELECT over one real table. The driver takes types from the first rows, so a typed row comes first."""
    by_name = {column.lower(): column for column in present}
    first = {"BIGINT": "0", "BOUNDED": "0", "DOUBLE": "0.5", "VARCHAR": "''"}
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
    if kind in ("BIGINT", "BOUNDED"):
        number = f"CAST({name} AS INTEGER)"
        text = f"CASE WHEN CAST({number} AS TEXT) = {name} THEN {number} END"
        return f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {number} WHEN 'text' THEN {text} END"
    if kind == "DOUBLE":
        return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"
    return f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_damage(error: Exception) -> bool:
    """Whether the driver says so, which is imported only where a database is read."""
    return isinstance(error, (pa.ArrowException, OSError)) or type(error).__module__.startswith("adbc_driver_manager")
