"""What SQL would make slow or unreadable: which operator is inside which, and which one caused a kernel.

Fills the derived columns of the staging tables (see `tables.py`). Knows nothing of trace formats.
"""

from __future__ import annotations

import duckdb

from traceview.derive import device, host, primitives, steps
from traceview.derive.spans import number_threads
from traceview.tables import TABLES


def derive(connection: duckdb.DuckDBPyConnection) -> None:
    """Work out every derived column of the rank that lies in the staging tables, however often it is called."""
    for table in TABLES:
        if table.derived_columns():
            connection.execute(f"DELETE FROM derived.{table.name}")
    steps.add_missing(connection)
    number_threads(connection)
    numbered = steps.load(connection)
    operators = host.operators(connection, numbered)
    host.ranges(connection, numbered)
    device.api_calls(connection, numbered, operators)
    device.device_rows(connection, numbered)
    primitives.primitives(connection, numbered, operators)
