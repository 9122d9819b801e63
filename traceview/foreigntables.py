"""The tables of another tool's database as Arrow batches: SQLite files, folders of Parquet or Arrow files, Arrow streams.

The one law: nothing is assumed to be there and nothing in the file runs. A missing column is NULL, a wrongly typed value
is NULL, a damaged end yields what came before it and says so in `damage`. SQLite is opened read-only and immutable, and
only real tables are read: no view, no trigger, no virtual table.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from traceview.errors import InputError
from traceview.files import plain_file

SQLITE_MAGIC = b"SQLite format 3\0"
BATCH_ROWS = 1 << 16
TYPES = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string()}
"""Types a column can be asked for as. A BLOB asked for as VARCHAR comes as hexadecimal digits."""
_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"`\[]?(\w+)")
TABLE_FILE = re.compile(r"\.(parquet|arrow|arrows|feather)$")

Columns = Mapping[str, str]
"""Column names and the types (keys of `TYPES`) they are wanted as."""


@dataclass(frozen=True)
class Owner:
    """Which processes' rows are wanted, by the process in bits 24 to 47 of a column."""

    pids: frozenset[int]
    outsiders: bool
    """Whether the rows wanted are those of all other processes (and of none)."""
    columns: tuple[str, ...] = ()
    """The first of these that a table has tells whose row it is; a table without any belongs to the outsiders."""

    def column(self, present: tuple[str, ...]) -> str | None:
        """The column that tells, of those in a table."""
        return next((name for name in self.columns if name in present), None)


class Tables(Protocol):
    """Where rows come from."""

    columns: dict[str, tuple[str, ...]]
    """Every table there is, and its columns."""
    damage: list[str]

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly the wanted columns, in order."""


@contextlib.contextmanager
def open_tables(path: Path) -> Iterator[Tables]:
    """The tables behind a path. Raises `InputError` for a file that is no database or whose catalogue is damaged."""
    if path.is_dir():
        yield _folder(path)
        return
    with plain_file(path) as (plain, damage):
        with plain.open("rb") as file:
            is_sqlite = file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
        if is_sqlite:
            with _sqlite(plain, path.name) as tables:
                tables.damage.extend([damage] if damage else [])
                yield tables
        else:
            yield _stream(plain, path.name, damage)


def sqlite_tables(path: Path, head: bytes) -> frozenset[str]:
    """Names of the tables of a SQLite database; none for any other file.

    Of a database whose catalogue is damaged, the ones whose definitions lie in the head, so that its reader is found
    and can say what is wrong.
    """
    if not head.startswith(SQLITE_MAGIC):
        return frozenset()
    status = path.stat()
    names = _names(path, status.st_size, status.st_mtime_ns)
    return names or frozenset(match.group(1).decode() for match in _CREATE.finditer(head))


@lru_cache(maxsize=8)
def _names(path: Path, size: int, mtime_ns: int) -> frozenset[str]:
    """Several readers ask in turn, and a compressed database must be unpacked to answer."""
    try:
        with open_tables(path) as tables:
            return frozenset(tables.columns)
    except InputError:
        return frozenset()


@dataclass
class _Sqlite:
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
                    yield _conform(batch.slice(1) if is_first else batch, wanted)
                    is_first = False
            except (pa.ArrowException, OSError) as error:
                self.damage.append(f"table {table} could be read only in part ({_reason(error)})")
            except Exception as error:
                if not _is_driver_error(error):
                    raise
                self.damage.append(f"table {table} could be read only in part ({_reason(error)})")


@contextlib.contextmanager
def _sqlite(path: Path, name: str) -> Iterator[_Sqlite]:
    import adbc_driver_sqlite.dbapi as driver

    try:
        connection = driver.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1")
    except Exception as error:
        if not _is_driver_error(error):
            raise
        raise InputError(f"{name} cannot be opened as a SQLite database ({_reason(error)}).") from error
    try:
        yield _Sqlite(connection, _catalogue(connection, name))
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
        raise InputError(f"{name} is damaged: its list of tables cannot be read ({_reason(error)}).") from error
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


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:200]


@dataclass
class _Batches:
    """Tables whose batches other libraries decode."""

    columns: dict[str, tuple[str, ...]]
    open: dict[str, Callable[[list[str]], Iterator[pa.RecordBatch]]]
    """For each table, what yields its batches; told which columns are wanted."""
    damage: list[str] = field(default_factory=list)

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        teller = owner.column(self.columns[table]) if owner else None
        names = [*wanted, *([teller] if teller and teller not in wanted else [])]
        try:
            for batch in self.open[table]([name for name in names if name in self.columns[table]]):
                yield _conform(_owned(batch, owner, teller) if owner and teller else batch, wanted)
        except (pa.ArrowException, OSError) as error:
            self.damage.append(f"table {table} could be read only in part ({_reason(error)})")


def _owned(batch: pa.RecordBatch, owner: Owner, teller: str) -> pa.RecordBatch:
    number = pc.cast(batch.column(teller), pa.int64(), safe=False)
    process = pc.bit_wise_and(pc.shift_right(number, 24), 0xFFFFFF)
    inside = pc.is_in(process, pa.array(sorted(owner.pids), pa.int64()))
    return batch.filter(pc.invert(inside) if owner.outsiders else inside)


def _folder(path: Path) -> _Batches:
    tables = _Batches({}, {})
    for file in sorted(path.iterdir()):
        if file.is_file() and TABLE_FILE.search(file.name):
            try:
                names, batches = _file(file)
            except (pa.ArrowException, OSError) as error:
                tables.damage.append(f"{file.name} cannot be read ({_reason(error)})")
                continue
            table = TABLE_FILE.sub("", file.name)
            tables.columns[table], tables.open[table] = tuple(names), batches
    return tables


def _file(file: Path) -> tuple[list[str], Callable[[list[str]], Iterator[pa.RecordBatch]]]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as opened:
            names: list[str] = opened.schema_arrow.names
        return names, lambda columns: _parquet(file, columns)
    with _ipc(file) as reader:
        return reader.schema.names, lambda columns: _arrow(file)


def _parquet(file: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        yield from opened.iter_batches(BATCH_ROWS, columns=columns)


def _ipc(file: Path) -> Any:
    with file.open("rb") as start:
        is_file = start.read(6) == b"ARROW1"
    return pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(pa.OSFile(str(file)))


def _arrow(file: Path) -> Iterator[pa.RecordBatch]:
    with _ipc(file) as reader:
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            yield from reader


def _stream(path: Path, name: str, damage: str | None) -> _Batches:
    """Arrow streams one after the other in a file, each with its table's name in the schema's metadata."""
    tables = _Batches({}, {}, [damage] if damage else [])
    with pa.OSFile(str(path)) as file:
        size = file.size()
        while file.tell() < size:
            begin = file.tell()
            try:
                with pa.ipc.open_stream(file) as reader:
                    schema = reader.schema
                    for _ in reader:
                        pass
            except (pa.ArrowException, OSError) as error:
                if not tables.columns and begin == 0:
                    raise InputError(f"{name} is no database that can be read ({_reason(error)}).") from error
                tables.damage.append(f"the file is cut off or damaged ({_reason(error)})")
                break
            table = (schema.metadata or {}).get(b"table_name", b"").decode("utf-8", "replace")
            tables.columns[table] = tuple(schema.names)
            tables.open[table] = _at(path, begin)
    return tables


def _at(path: Path, begin: int) -> Callable[[list[str]], Iterator[pa.RecordBatch]]:
    def batches(columns: list[str]) -> Iterator[pa.RecordBatch]:
        with pa.OSFile(str(path)) as file:
            file.seek(begin)
            yield from pa.ipc.open_stream(file)

    return batches


def _conform(batch: pa.RecordBatch, wanted: Columns) -> pa.RecordBatch:
    """The wanted columns in their types; what is missing or cannot be converted is NULL."""
    arrays = []
    for name, kind in wanted.items():
        index = batch.schema.get_field_index(name)
        arrays.append(_typed(batch.column(index), TYPES[kind]) if index >= 0 else pa.nulls(len(batch), TYPES[kind]))
    return pa.RecordBatch.from_arrays(arrays, names=list(wanted))


def _typed(array: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type != type_:
        if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
            return pa.array([None if value is None else value.hex().upper() for value in array.to_pylist()], pa.string())
        try:
            array = pc.cast(array, type_, safe=False)
        except pa.ArrowException:
            return pa.nulls(len(array), type_)
    if type_ == pa.string():
        try:
            array.validate(full=True)
        except pa.ArrowException:
            raw = array.cast(pa.binary())
            return pa.array([None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()])
    return array


