"""The database in which a rank is staged: opened once for many small ranks, each of which finds it empty.

To open a database, to make its tables and to parse and plan a statement takes longer than to run it over a few thousand
rows. Invariant: what a rank leaves behind is not there for the next; where that is not sure, the database is not used
again.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from traceview.errors import InputError, NoRoom
from traceview.ingest import sink
from traceview.ingest.options import Options
from traceview.lazy import duckdb
from traceview.store import confine

SPILLED = "spilled"
"""Folder in which spilled rows lie until everything has been read."""
SMALL_BYTES = 1 << 20
"""Size of a rank's files, compressed or not, up to which planning a statement well takes longer than a bad plan."""
STATEMENTS = 1024
Settings = tuple[int | None, int | None, bool]


@dataclass(frozen=True)
class _Database:
    settings: Settings
    """Threads, bytes of memory, and whether it is for small ranks."""
    connection: duckdb.DuckDBPyConnection
    tables: dict[str, int]
    """The tables of an empty one that is used again, each with its number in the database."""

    @classmethod
    def open(cls, settings: Settings, is_reused: bool) -> _Database:
        threads, memory_bytes, is_small = settings
        config = {**confine.config(threads, memory_bytes, is_small), "preserve_insertion_order": False}
        connection = duckdb.connect(":memory:", config=config)
        connection.execute(sink.made())
        tables = _tables(connection) if is_reused else ()
        return cls(settings, connection, {name: number for name, number, _ in tables})

    def emptied(self) -> _Database | None:
        """Return the database as it was when opened; None where something stands in it that did not."""
        found = _tables(self.connection)
        if {name for name, *_ in found} != self.tables.keys():
            return None
        changed = [name for name, number, n_rows in found if n_rows or number != self.tables[name]]
        self.connection.execute(sink.made(changed))
        return replace(self, tables={name: number for name, number, _ in _tables(self.connection)})


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, int, int]]:
    query = (
        "SELECT schema_name || '.' || table_name, table_oid, estimated_size FROM duckdb_tables() WHERE NOT temporary"
        " UNION ALL SELECT schema_name || '.' || view_name, view_oid, 0 FROM duckdb_views() WHERE NOT internal"
        " AND NOT temporary"
    )
    return connection.execute(query).fetchall()


class Stages:
    """Databases of one process; that of a small rank waits for the next one, where there are several."""

    def __init__(self, has_several: bool = True) -> None:
        self._idle: list[_Database] = []
        self._has_several = has_several

    @contextlib.contextmanager
    def open(self, folder: Path, options: Options, n_bytes: int) -> Iterator[duckdb.DuckDBPyConnection]:
        """A database for one rank: in memory as long as it fits, in `folder` when it does not.

        `n_bytes`: of the rank's files.
        """
        settings = (options.threads, options.memory_bytes, n_bytes <= SMALL_BYTES)
        is_reused = settings[-1] and self._has_several
        used = (self._taken(settings) if is_reused else None) or _Database.open(settings, is_reused)
        left = None
        try:
            with _translate_errors(folder):
                with used.connection.cursor() as connection:
                    connection.execute("SET temp_directory = $1", [str(folder / "spill")])
                    yield cast(duckdb.DuckDBPyConnection, Repeated(connection)) if is_reused else connection
                left = used.emptied() if is_reused else None
        finally:
            if left:
                self._idle.append(left)
            else:
                used.connection.close()
            for place in (folder / "spill", folder / SPILLED):
                shutil.rmtree(place, ignore_errors=True)

    def _taken(self, settings: Settings) -> _Database | None:
        with contextlib.suppress(IndexError):  # Another thread may have been first.
            found = self._idle.pop()
            if found.settings == settings:
                return found
            found.connection.close()
        return None

    def close(self) -> None:
        """Give back what waits."""
        while self._idle:
            self._idle.pop().connection.close()


class Repeated:
    """A connection that parses each statement once in a process."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def execute(self, query: str, values: object = None) -> duckdb.DuckDBPyConnection:
        """Run a statement, or several that take no values."""
        for statement in _parsed(query):
            self._connection.execute(statement, values)
        return self._connection

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """The rows of one query."""
        return self._connection.sql(_parsed(query)[0])

    def cursor(self) -> Repeated:
        """One more connection to the same tables."""
        return Repeated(self._connection.cursor())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@lru_cache(STATEMENTS)
def _parsed(query: str) -> list[duckdb.Statement]:
    return duckdb.extract_statements(query)


@contextlib.contextmanager
def _translate_errors(folder: Path) -> Iterator[None]:
    """Turns what DuckDB says of a rank that cannot be staged into a sentence."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise NoRoom("not enough memory or disk for this trace; allow more memory with --memory.") from error
    except duckdb.IOException as error:
        raise NoRoom(f"cannot write {folder.parent}: {_plain(error)}.") from error
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"the trace holds something that cannot be stored ({reason}).") from error


def _plain(error: duckdb.IOException) -> str:
    """Return the system's message, out of DuckDB's account of it."""
    text = str(error).splitlines()[0].partition('"exception_message":')[2] or str(error).splitlines()[0]
    return text.rpartition('": ')[2].split('"')[0].rstrip(".") or "the disk does not take it"
