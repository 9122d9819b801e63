"""From what a device did back to the operator that asked for it.

Correlation -> launch -> innermost enclosing operator is the way; the profiler's own operator number
(`External id`) is used only in a trace without launches, because it is often another operator's; the operator's name is
used where the profiler wrote it beside the kernel and nothing else leads there. `op_link` says which.
"""

from __future__ import annotations

import duckdb
import numpy as np

from traceview.ingest.derive.nesting import Spans
from traceview.ingest.derive.spans import fetch, ids_at, load, publish
from traceview.ingest.derive.steps import Steps


def api_calls(connection: duckdb.DuckDBPyConnection, steps: Steps, operators: Spans) -> None:
    """Fill derived.api_calls: the operator and the ranges around each runtime or driver call, and its step."""
    calls = fetch(
        connection,
        """SELECT c.id, t.thread, c.start_ns FROM stage.api_calls c
        JOIN thread t ON c.pid IS NOT DISTINCT FROM t.pid AND c.tid IS NOT DISTINCT FROM t.tid""",
    )
    facts = {"id": calls["id"], "step": steps.at(calls["start_ns"])}
    around = {"op_id": operators}
    for column, kind in _RANGES.items():
        around[column] = load(connection, _THREAD_RANGES.format(kind=kind))
    for column, spans in around.items():
        facts[column] = ids_at(spans, spans.innermost(calls["thread"], calls["start_ns"]))
    publish(connection, "call_facts", facts)
    connection.execute("INSERT INTO derived.api_calls BY NAME SELECT * EXCLUDE (module_id) FROM call_facts")


_THREAD_RANGES = "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ranges WHERE kind = '{kind}' AND tid IS NOT NULL"
_RANGES = {"range_id": "nvtx", "library_id": "library", "module_id": "module"}

# Both tables at once: what is looked into is larger than what is looked up.
_PLACED = """
CREATE OR REPLACE TEMP TABLE placed AS
WITH device_row AS (
    SELECT 'kernels' AS "table", id, start_ns, correlation, external_id, recorded_op FROM stage.kernels
    UNION ALL SELECT 'memcpys', id, start_ns, correlation, external_id, recorded_op FROM stage.memcpys
), launch AS (
    SELECT correlation, arg_min(id, start_ns) AS launch_id FROM stage.api_calls
    WHERE correlation IS NOT NULL GROUP BY correlation
), by_number AS (
    SELECT external_id, min(id) AS op_id FROM stage.ops
    WHERE external_id IS NOT NULL AND NOT $has_launches GROUP BY external_id
), by_name AS (
    SELECT k.id, o.id AS op_id
    FROM (SELECT id, start_ns, recorded_op FROM device_row WHERE recorded_op IS NOT NULL) k
    ASOF JOIN (SELECT name, start_ns, max(id) AS id FROM stage.ops WHERE $has_names GROUP BY name, start_ns) o
        ON o.name = k.recorded_op AND o.start_ns <= k.start_ns
), linked AS (
    SELECT k."table", k.id, l.launch_id, c.step AS launch_step, c.range_id, c.library_id, c.module_id, k.start_ns,
        k.recorded_op, coalesce(c.op_id, n.op_id, m.op_id) AS op_id,
        CASE WHEN c.op_id IS NOT NULL THEN 'correlation' WHEN n.op_id IS NOT NULL THEN 'external_id'
            WHEN m.op_id IS NOT NULL THEN 'name' WHEN k.recorded_op IS NOT NULL THEN 'recorded' END AS op_link
    FROM device_row k
    LEFT JOIN launch l USING (correlation)
    LEFT JOIN call_facts c ON c.id = l.launch_id
    LEFT JOIN by_number n ON n.external_id = k.external_id
    LEFT JOIN by_name m ON m.id = k.id
)
SELECT linked."table", linked.id, device_until_ns, rank_until_ns, launch_id, range_id, library_id, op_id, op_link,
    coalesce(o.name, recorded_op) AS op_name, coalesce(d.path, recorded_op) AS op_path,
    -- Where no operators were recorded, the module around the launch.
    coalesce(d.layer, CASE WHEN op_id IS NULL THEN regexp_replace(m.name, ' \\(\\w+\\)$', '') END) AS layer,
    d.phase,
    CASE WHEN $has_launches THEN launch_step ELSE row_step.step END AS step
FROM linked
LEFT JOIN stage.ops o ON o.id = op_id
LEFT JOIN derived.ops d ON d.id = op_id
LEFT JOIN row_step ON row_step.id = linked.id
LEFT JOIN cover ON cover.id = linked.id
LEFT JOIN (SELECT id, name FROM stage.ranges WHERE kind = 'module') m ON m.id = linked.module_id
"""

# Busy time is a union of intervals: each row counts from the latest end before it.
_COVER = """
CREATE OR REPLACE TEMP TABLE cover AS
SELECT id,
    max(end_ns) OVER (PARTITION BY device ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS device_until_ns,
    max(end_ns) OVER (ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS rank_until_ns
FROM (SELECT id, device, start_ns, start_ns + dur_ns AS end_ns FROM stage.kernels
    UNION ALL SELECT id, device, start_ns, start_ns + dur_ns AS end_ns FROM stage.memcpys)
"""


def device_rows(connection: duckdb.DuckDBPyConnection, steps: Steps) -> None:
    """Fill derived.kernels and derived.memcpys. A row's step is that of its launch, as host work moves ahead."""
    calls = connection.execute("SELECT count(*) FROM stage.api_calls WHERE correlation IS NOT NULL").fetchall()
    has_launches = bool(calls[0][0])
    connection.execute(_COVER)
    if has_launches or not len(steps.spans):
        publish(connection, "row_step", {"id": np.empty(0, np.int64), "step": np.empty(0, np.int64)})
    else:
        rows = fetch(
            connection, "SELECT id, start_ns FROM stage.kernels UNION ALL SELECT id, start_ns FROM stage.memcpys"
        )
        publish(connection, "row_step", {"id": rows["id"], "step": steps.at(rows["start_ns"])})
    connection.execute(_PLACED, {"has_launches": has_launches, "has_names": _has_names(connection)})
    for table in ("kernels", "memcpys"):
        connection.execute(
            f'INSERT INTO derived.{table} BY NAME SELECT * EXCLUDE ("table") FROM placed WHERE "table" = \'{table}\''
        )
    for name in ("placed", "cover"):
        connection.execute(f"DROP TABLE {name}")
    for name in ("row_step", "call_facts"):
        connection.unregister(name)


def _has_names(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a profiler wrote operators' names beside what the device did."""
    return any(
        connection.execute(f"SELECT 1 FROM stage.{table} WHERE recorded_op IS NOT NULL LIMIT 1").fetchall()
        for table in ("kernels", "memcpys")
    )
