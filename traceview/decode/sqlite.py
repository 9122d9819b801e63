"""The tables of a SQLite file as Arrow batches.

Invariant: nothing in the file runs. It is opened read-only and immutable, and only real tables are read: no view, no
trigger, no virtual table, no generated column, no index. A damaged page ends its table, and `damage` says so; so does
a page that stands for more rows or texts than the file has room for. SQLite reads its list of tables as a whole and
into memory, so its pages are counted first (https://www.sqlite.org/fileformat2.html). A length is asked before a text
is touched: `octet_length` comes from the row's header, so a text that only claims a length costs nothing.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.columns import LIMITS, Columns, Processes, conform, reason
from traceview.decode.text_bounds import BATCH_ROWS, MAX_TEXT_BYTES
from traceview.errors import InputError

MAGIC = b"SQLite format 3\0"
SALVAGE_ROWS = 64
MAX_TABLES = 4096
MAX_SCHEMA_BYTES = 8 << 20
"""SQLite takes the statements of all tables into memory when it opens a file, thirty times as large."""
STEPS = ((1 << 10, BATCH_ROWS), (1 << 15, 1 << 11), (MAX_TEXT_BYTES, 1 << 6))
"""Maximum bytes of the longest text of a row, and rows read at a time: the driver decodes them all at once."""


@dataclass
class Sqlite:
    """An open database and its real tables."""

    connection: Any
    size: int
    """Bytes of the file, which bound what it can hold."""
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    long_texts: dict[str, int] = field(default_factory=dict)

    def rows(self, table: str, columns: Columns, processes: Processes | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly these columns. A damaged page ends the table."""
        try:
            yield from self._rows(table, columns, processes)
        except Exception as error:
            if not _is_damage(error):
                raise
            self._damaged(f"table {table} could be read only in part ({reason(error)})")

    def _rows(self, table: str, columns: Columns, processes: Processes | None) -> Iterator[pa.RecordBatch]:
        n_rows = n_bytes = n_long = 0
        above = -1
        for upto, batch_rows in STEPS:
            query, is_filtered = select(table, self.columns[table], columns, processes, above, upto)
            # Rows that a condition passes over are counted nowhere else.
            if is_filtered and self._too_many(table):
                return
            n_longer = 0
            for batch in self._salvaged(table, query, batch_rows):
                width = batch.column(batch.num_columns - 1)
                n_rows += len(batch)
                n_bytes += pc.sum(pc.min_element_wise(width, upto)).as_py() or 0
                if n_rows > self.size // MIN_ROW_BYTES or n_bytes > 4 * self.size:
                    self._damaged(f"table {table} claims to hold more than its file has room for")
                    return
                is_longer = pc.greater(width, upto)
                if upto < MAX_TEXT_BYTES and (n_here := pc.sum(is_longer).as_py()):
                    n_longer += n_here
                    batch = batch.filter(pc.invert(is_longer))
                n_long += pc.sum(batch.column(batch.num_columns - 2)).as_py() or 0
                yield conform(batch, columns)
            above = upto
            if not n_longer:
                break
        self.long_texts[table] = max(n_long, self.long_texts.get(table, 0))

    def _salvaged(self, table: str, query: str, batch_rows: int) -> Iterator[pa.RecordBatch]:
        """The batches of a query; where the driver meets damage and loses a batch, smaller ones come closer to it."""
        done = 0
        for size in (batch_rows, SALVAGE_ROWS):
            seen = 0
            try:
                for batch in _batches(self.connection, query, size):
                    fresh = batch.slice(max(0, done - seen))
                    seen += len(batch)
                    done += len(fresh)
                    # The first row only tells the driver the types.
                    yield fresh.slice(1) if done == len(fresh) else fresh
                return
            except Exception as error:
                if not _is_damage(error):
                    raise
                damage = f"table {table} could be read only in part ({reason(error)})"
        self._damaged(damage)

    def _too_many(self, table: str) -> bool:
        most = self.size // MIN_ROW_BYTES
        with self.connection.cursor() as cursor:
            cursor.execute(bounded_count(table, most))
            is_beyond = bool(cursor.fetchone()[0] > most)
        if is_beyond:
            self._damaged(f"table {table} claims to hold more than its file has room for")
        return is_beyond

    def _damaged(self, damage: str) -> None:
        if damage not in self.damage:
            self.damage.append(damage)


@contextlib.contextmanager
def open_sqlite(path: Path, name: str) -> Iterator[Sqlite]:
    """A database; `name` is what errors call it. Raises `InputError` when its list of tables cannot be read."""
    import adbc_driver_sqlite.dbapi as driver

    if is_larger(path, MAX_SCHEMA_BYTES):
        raise InputError(f"{name} has more tables, or longer definitions of them, than any profiler writes.")
    try:
        connection = driver.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    except Exception as error:
        if not _is_damage(error):
            raise
        raise InputError(f"{name} cannot be opened as a SQLite database ({reason(error)}).") from error
    try:
        opened = _opened(connection, name, path.stat().st_size)
        log = path.resolve().with_name(f"{path.resolve().name}-wal")
        if log.is_file() and log.stat().st_size:
            opened.damage.append("the write-ahead log beside the database was not read: what only it holds is missing")
        yield opened
    finally:
        connection.close()


def _opened(connection: Any, name: str, size: int) -> Sqlite:
    opened = Sqlite(connection, size)
    try:
        _execute(connection, "PRAGMA trusted_schema = OFF")
        _read_catalogue(opened, BATCH_ROWS)
    except Exception as error:
        if not _is_damage(error):
            raise
        # SQLite refuses a file that is shorter than it should be, unless the schema counts as being repaired.
        _execute(connection, "PRAGMA writable_schema = ON")
        opened = Sqlite(connection, size, damage=[f"the database is cut off or damaged ({reason(error)})"])
        _read_catalogue(opened, 1)
        if not opened.columns:
            raise InputError(f"{name} is damaged: its list of tables cannot be read ({reason(error)}).") from error
    return opened


_TABLES = f"""SELECT CAST(name AS TEXT) AS name FROM main.sqlite_master
WHERE type = 'table' AND rootpage > 0 AND octet_length(name) <= 1000 LIMIT {MAX_TABLES + 1}"""
"""A virtual table has no page of its own."""


def _read_catalogue(opened: Sqlite, batch_rows: int) -> None:
    """Real tables and their stored columns. Row by row, what can be read of them; else all, or the driver's error."""
    found: list[str] = []
    try:
        for batch in _batches(opened.connection, _TABLES, batch_rows):
            found += _names(batch)
    except Exception as error:
        if batch_rows > 1 or not _is_damage(error):
            raise
    if len(found) > MAX_TABLES:
        opened.damage.append(f"more than {MAX_TABLES} tables: the others were not looked at")
    for name in dict.fromkeys(found[:MAX_TABLES]):
        if _is_table(opened.connection, name):
            # A generated column is hidden; to read it would run its expression.
            query = f"SELECT CAST(name AS TEXT) AS name FROM pragma_table_xinfo({literal(name)}) WHERE hidden = 0"
            columns = [column for batch in _batches(opened.connection, query, 1000) for column in _names(batch)]
            if columns:
                opened.columns[name] = tuple(columns)


def _is_table(connection: Any, name: str) -> bool:
    """Whether a name means a real table. A damaged list may say so of a view, which would run when it is asked."""
    if name.lower().startswith("sqlite_"):
        return False
    try:
        # Never made: SQLite says what the name means while it plans. A view takes no such trigger, nor a virtual table.
        _execute(connection, f"EXPLAIN CREATE TEMP TRIGGER it AFTER INSERT ON main.{quoted(name)} BEGIN SELECT 1; END")
    except Exception as error:
        if not _is_damage(error):
            raise
        return False
    return True


def _batches(connection: Any, query: str, batch_rows: int) -> Iterator[pa.RecordBatch]:
    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(batch_rows)})
        cursor.execute(query)
        yield from cursor.fetch_record_batch()


def _names(batch: pa.RecordBatch) -> list[str]:
    """Names may hold bytes that are not text: these tables and columns are not found again, and count as damaged."""
    return [name for name in conform(batch, {"name": "VARCHAR"}).column(0).to_pylist() if name is not None]


def _execute(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _is_damage(error: Exception) -> bool:
    """Whether the driver says so, which is imported only where a database is read."""
    return isinstance(error, (pa.ArrowException, OSError)) or type(error).__module__.startswith("adbc_driver_manager")


_INTERIOR, _LEAF = 5, 13
_LEAST_PAGE = 512


def is_larger(path: Path, most: int) -> bool:
    """Whether the statements that make the tables have more bytes than `most`; damaged, as far as they go."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:], "big")
        size = 1 << 16 if size == 1 else max(size, _LEAST_PAGE)
        pages, n_pages, n_bytes = [1], 0, 0
        while pages:
            number = pages.pop()
            n_pages += 1
            try:
                below, added = _page(file, number, size)
            except (struct.error, IndexError):
                continue
            pages += below
            n_bytes += added
            if n_bytes > most or n_pages + len(pages) > most // _LEAST_PAGE:
                return True
    return False


def _page(file: BinaryIO, number: int, size: int) -> tuple[list[int], int]:
    """The pages below one, and the bytes of the rows that it holds."""
    file.seek((number - 1) * size)
    page = file.read(size)
    start = 100 if number == 1 else 0
    kind, count = page[start], struct.unpack_from(">H", page, start + 3)[0]
    if kind == _INTERIOR:
        cells = struct.unpack_from(f">{count}H", page, start + 12)
        right = struct.unpack_from(">I", page, start + 8)[0]
        return [right, *(struct.unpack_from(">I", page, cell)[0] for cell in cells)], 0
    cells = struct.unpack_from(f">{count}H", page, start + 8) if kind == _LEAF else ()
    return [], sum(_varint(page, cell) for cell in cells)


def _varint(page: bytes, at: int) -> int:
    value = 0
    for byte in page[at : at + 9]:
        value = value << 7 | byte & 127
        if byte < 128:
            break
    return value


MIN_ROW_BYTES = 4
"""No row of a table takes less of a file."""
_DIGITS = 20
"""Length of the longest 64-bit number."""


def select(
    table: str, present: tuple[str, ...], columns: Columns, processes: Processes | None, above: int, upto: int
) -> tuple[str, bool]:
    """The columns, how many texts of a row are too long, and the bytes of its longest; and whether it passes over rows.

    Rows are those whose longest text has more bytes than `above`; only texts up to `upto` are read. The driver takes
    types from the first rows, so a typed row comes first.
    """
    by_name = {column.lower(): column for column in present}
    first = {"BIGINT": "0", "BOUNDED": "0", "DOUBLE": "0.5", "VARCHAR": "''", "NAME": "''"}
    head = [f"{first[kind]} AS {quoted(column)}" for column, kind in columns.items()]
    values = [_value(by_name.get(column.lower()), kind, upto) for column, kind in columns.items()]
    texts = {column.lower(): LIMITS[kind] for column, kind in columns.items() if kind in ("VARCHAR", "NAME")}
    limits = {_bytes(by_name[text]): limit for text, limit in texts.items() if text in by_name}
    sizes = list(limits)
    n_too_long = " + ".join(f"({size} > {limit})" for size, limit in limits.items()) or "0"
    longest = f"max(0, {', '.join(sizes)})" if sizes else "0"
    query = f"""SELECT {", ".join(head)}, 0 AS n_too_long, 0 AS longest
        UNION ALL SELECT {", ".join(values)}, {n_too_long}, {longest} FROM main.{quoted(table)} NOT INDEXED"""
    conditions = [f"{longest} > {above}"] if above >= 0 else []
    process_column = processes.column(present) if processes else None
    if processes and process_column:
        pids = ", ".join(str(pid) for pid in sorted(processes.pids))
        process = f"({_integer_sql(quoted(process_column))} >> 24 & 16777215)"
        others = processes.is_all_others
        conditions.append(f"coalesce({process} {'NOT IN' if others else 'IN'} ({pids}), {int(others)})")
    return query + (f" WHERE {' AND '.join(conditions)}" if conditions else ""), bool(conditions)


def bounded_count(table: str, most: int) -> str:
    """Asks how many rows a table has, and stops one beyond `most`: pages that lead to each other have no end."""
    return f"SELECT count(*) FROM (SELECT 1 FROM main.{quoted(table)} NOT INDEXED LIMIT {most + 1})"


def _bytes(column: str) -> str:
    """Bytes of a value as text; a blob comes as hexadecimal digits, two a byte."""
    name = quoted(column)
    return f"coalesce(octet_length({name}), 0) * CASE typeof({name}) WHEN 'blob' THEN 2 ELSE 1 END"


def _value(column: str | None, kind: str, upto: int) -> str:
    """An expression with exactly one type, whatever is stored."""
    if column is None:
        return "NULL"
    name = quoted(column)
    if kind in ("BIGINT", "BOUNDED"):
        return _integer_sql(name)
    if kind == "DOUBLE":
        return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"
    text = f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"
    return f"CASE WHEN {_bytes(column)} <= {min(upto, LIMITS[kind])} THEN {text} END"


def _integer_sql(name: str) -> str:
    """A whole number, also one written as text."""
    number = f"CAST({name} AS INTEGER)"
    text = f"CASE WHEN octet_length({name}) <= {_DIGITS} AND CAST({number} AS TEXT) = {name} THEN {number} END"
    return f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {number} WHEN 'text' THEN {text} END"


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
