"""A capture as its reader left it, before anything was worked out: to work out other things from it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from traceview.ingest import sink
from traceview.ingest.derive.spans import query
from traceview.tables import BY_NAME

WORKED_OUT = "kind = 'step' AND id & ((CAST(1 AS BIGINT) << 40) - 1) >= CAST(1 AS BIGINT) << 39"


def staged(rank: Path) -> duckdb.DuckDBPyConnection:
    """The staging tables of a rank's files."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(sink.made())
    for path in sorted(rank.glob("*.parquet")):
        if table := BY_NAME.get(path.stem):
            columns = ", ".join(f'"{column.name}"' for column in table.read_columns())
            connection.execute(f"INSERT INTO stage.{path.stem} BY NAME SELECT {columns} FROM read_parquet('{path}')")
    connection.execute(f"DELETE FROM stage.ranges WHERE {WORKED_OUT}")
    connection.execute(f"CREATE TEMP VIEW launch AS {query('launch')}")
    return connection
