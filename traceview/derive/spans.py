"""Carries columns between the staging database and arrays.

The one law: a thread is one number for (process, thread) everywhere in `derive`, and -1 in an array is NULL in a table.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from traceview.derive.nesting import Ints, Spans

THREADS = """
CREATE OR REPLACE TEMP TABLE thread AS
SELECT pid, tid, row_number() OVER (ORDER BY pid, tid) AS thread
FROM (SELECT pid, tid FROM stage.ops UNION SELECT pid, tid FROM stage.ranges UNION SELECT pid, tid FROM stage.api_calls)
"""


def number_threads(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the temporary table `thread` (pid, tid, thread) that every other query here joins."""
    connection.execute(THREADS)


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, Ints]:
    """The columns of a query as 64-bit integer arrays, NULL as -1."""
    table = connection.sql(query).to_arrow_table()
    columns = {}
    for name in table.column_names:
        column = table.column(name).cast(pa.int64()).fill_null(-1)
        columns[name] = column.to_numpy().astype(np.int64, copy=False)
    return columns


def load(connection: duckdb.DuckDBPyConnection, source: str) -> Spans:
    """Spans of a query or table with id, pid, tid, start_ns, dur_ns."""
    columns = fetch(
        connection,
        f"""SELECT id, thread, start_ns, start_ns + dur_ns AS end_ns
            FROM ({source}) s JOIN thread t ON s.pid IS NOT DISTINCT FROM t.pid AND s.tid IS NOT DISTINCT FROM t.tid
            ORDER BY thread, start_ns, end_ns DESC, id""",
    )
    return Spans(columns["id"], columns["thread"], columns["start_ns"], columns["end_ns"])


def nullable(values: Ints) -> pa.Array:
    """An Arrow column in which -1 is NULL."""
    return pa.array(values, mask=values < 0)


def ids_at(spans: Spans, index: Ints) -> Ints:
    """The ids at these positions, -1 where the position is -1."""
    if not len(spans):
        return np.full(len(index), -1, np.int64)
    return np.where(index >= 0, spans.id[index], -1)


def publish(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Ints]) -> None:
    """Keep columns as a temporary table, -1 as NULL."""
    connection.register("published", pa.table({key: nullable(value) for key, value in columns.items()}))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM published")
    connection.unregister("published")
