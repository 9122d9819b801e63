"""Captures to ask: connections that make what a query reads, on one thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from traceview import store
from traceview.store import Options, views

ONE = Options(threads=1)
"""Small tables gain nothing from several threads, which cost a tenth of the processor time."""


READING = Options(threads=1, own_queries=True)
"""Nothing that is made is stored for a next time, which most tests do not have."""


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    """The rows of one query over any input."""
    with store.open_capture(path, READING) as connection:
        return connection.execute(query).fetchall()


def connected(folder: Path) -> duckdb.DuckDBPyConnection:
    """A capture in a folder."""
    return views.connect(folder, READING)


def held(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """The views that a connection has made so far, in memory or over what is stored."""
    query = "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL SELECT table_name FROM duckdb_tables()"
    return {name for (name,) in views.plain(connection).execute(query).fetchall()}


def opened(folder: Path, text: str | bytes, name: str = "log") -> duckdb.DuckDBPyConnection:
    """The capture of a file with this text."""
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return connected(store.convert([file], folder / f"{name}.capture"))


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """Every row of a query."""
    return connection.execute(query).fetchall()
