"""Operators that a framework marked as ranges, where a profiler recorded none of its own.

Invariant: the ranges stay as they were recorded; an operator is what one of them says.
"""

from __future__ import annotations

import duckdb

from traceview.ingest.derive.spans import query
from traceview.ingest.sink import at_hand


def add_operators(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill stage.ops from the names of ranges (`queries/derive/ops_from_ranges.sql`), where it is empty."""
    if connection.execute("SELECT 1 FROM stage.ops LIMIT 1").fetchall():
        return
    connection.execute(f"INSERT INTO {at_hand(connection, 'ops')} BY NAME {query('ops_from_ranges')}")
