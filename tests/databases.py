"""Small databases as profilers write them, given as rows."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from asked import connected

from traceview import store

Row = Mapping[str, Any]


def write(path: Path, tables: Mapping[str, Sequence[Row]], *statements: str) -> Path:
    """A SQLite file with these rows; columns are those of each table's first row, without types."""
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        for table, rows in tables.items():
            columns = list(rows[0])
            connection.execute(f'CREATE TABLE "{table}" ({", ".join(f"{column!r}" for column in columns)})')
            marks = ", ".join("?" for _ in columns)
            values = [[row.get(column) for column in columns] for row in rows]
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values)
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def unpacked(source: Path, folder: Path) -> Path:
    """A public trace without its compression, and without a name that tells what it is."""
    target = folder / "unknown"
    target.write_bytes(gzip.decompress(source.read_bytes()))
    return target


def as_arrow(database: Path) -> dict[str, pa.Table]:
    """Every table of a SQLite file that has rows."""
    found = {}
    with sqlite3.connect(database) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            cursor = connection.execute(f'SELECT * FROM "{name}"')
            rows = [dict(zip([column[0] for column in cursor.description], row, strict=True)) for row in cursor]
            if rows:
                found[name] = pa.Table.from_pylist(rows)
    return found


def as_parquet(database: Path, folder: Path) -> Path:
    """Write the database as a folder of Parquet files."""
    folder.mkdir()
    for name, table in as_arrow(database).items():
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


def as_stream(database: Path, path: Path) -> Path:
    """Write the database as Arrow streams one after the other, each with its table's name."""
    with pa.OSFile(str(path), "wb") as file:
        for name, table in as_arrow(database).items():
            named = table.replace_schema_metadata({"table_name": name})
            with pa.ipc.new_stream(file, named.schema) as writer:
                writer.write_table(named)
    return path


def opened(path: Path, target: Path) -> duckdb.DuckDBPyConnection:
    """A connection to what a trace converts to."""
    return connected(store.convert([path], target))
