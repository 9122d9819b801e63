"""What is worked out of each shard of a large job, put together for the whole of it.

Invariant: only what says nothing of more than one rank is put together: rows of a shard are then rows of the job. What
compares ranks (`whole_job` in the header of a view, and all that rests on it) is worked out of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import duckdb

from traceview.ingest.memory import LowMemory
from traceview.store import graph, materialized

UNITE_BYTES = 100_000_000
"""Memory with which it is tried to put rows together; they go to disk as they come."""
NAMES = "names."
"""Tables of what is known of names: one name may be in several shards."""


def asked(missing: Sequence[str]) -> str:
    """A query that rests on what is to be worked out of each shard, where that is missing; empty for nothing."""
    views = [name for name in missing if name in graph.names() and not graph.is_of_job(name)]
    stored = [name for name in views if graph.is_materialized(name)]
    return " ".join(f"FROM {name}" for name in (*stored, "attributed.part")) if stored else ""


def unite(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> frozenset[str]:
    """Make tables of the rows that all of these databases have; returns the names of those that were absent here."""
    common = frozenset.intersection(*(materialized.tables(file) for file in files))
    query = "SELECT if(schema_name = 'main', '', schema_name || '.') || table_name FROM duckdb_tables()"
    present = {name for (name,) in connection.execute(query).fetchall()}
    made = frozenset(name for name in common - present if not graph.is_of_job(name))
    for number, file in enumerate(files):
        connection.execute(f"ATTACH $1 AS shard{number} (READ_ONLY)", [str(file)])
    with LowMemory(connection, UNITE_BYTES) as attempt:
        for name in sorted(made):
            if "." in name:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
            attempt(partial(_make, connection, f"CREATE TABLE {name} AS {_rows(name, len(files))}"))
    for number in range(len(files)):
        connection.execute(f"DETACH shard{number}")
    return made


def _rows(name: str, n_shards: int) -> str:
    how = " UNION " if name.startswith(NAMES) else " UNION ALL "
    return how.join(f"FROM shard{number}.{name if '.' in name else f'main.{name}'}" for number in range(n_shards))


def _make(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    connection.execute(query)
