"""Links that SQL would make slow or unreadable: which operator is inside which, and which one caused a kernel.

Fills the derived columns of the staging tables (see `tables.py`). Knows nothing of trace formats. From what a device
did back to the operator that asked for it, correlation -> launch -> innermost enclosing operator is the way; the
profiler's own operator number (`External id`) is used only in a trace without launches, because it is often another
operator's; the operator's name is used where the profiler wrote it beside the kernel and nothing else leads there.
`op_link` says which. A kernel that a graph launch replays has the operator around the launch that was captured: the one
at its place, by node and order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from traceview.ingest.derive import host, primitives, steps
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, ids_at, loaded_ranges, number_threads, publish, query
from traceview.ingest.derive.steps import Steps
from traceview.ingest.sink import at_hand
from traceview.lazy import duckdb

Stage = tuple[Callable[[], None], tuple[str, ...]]


class Derivation:
    """Works out the derived columns of the rank that lies in the staging tables.

    `stages` are to be done in their order; each may be done again where it failed, and completes the tables it names.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, has_allocations: bool) -> None:
        self._connection = connection
        stages: list[Stage] = [
            (self._begin, ()),
            (self._operators, ("ops",)),
            (lambda: api_calls(connection, self._steps, self._spans), ("api_calls",)),
            (self._device, ("kernels", "memcpys")),
            (self._ranges, ("ranges",)),
            (lambda: primitives.primitives(connection, self._steps, self._spans), ("primitives",)),
        ]
        if has_allocations:
            stages.append((lambda: host.allocations(connection, self._steps, self._spans), ("allocations",)))
        self.stages = [(partial(self._afresh, work, tables), tables) for work, tables in stages]
        self._steps: Steps
        self._spans: Spans
        self._moved: dict[str, Ints]

    def _begin(self) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW launch AS {query('launch')}")
        host.add_operators(self._connection)
        steps.add_missing(self._connection)
        number_threads(self._connection)
        self._steps = steps.load(self._connection)

    def _operators(self) -> None:
        self._spans = host.operators(self._connection, self._steps)

    def _ranges(self) -> None:
        host.ranges(self._connection, self._steps)
        steps.move(self._connection, self._moved)

    def _device(self) -> None:
        device_rows(self._connection, self._steps)
        self._moved = steps.moved(self._connection)

    def _afresh(self, work: Callable[[], None], tables: tuple[str, ...]) -> None:
        if tables:
            self._connection.execute("; ".join(f"DELETE FROM derived.{table}" for table in tables))
        work()


def api_calls(connection: duckdb.DuckDBPyConnection, steps: Steps, operators: Spans) -> None:
    """Fill derived.api_calls: the operator and the ranges around each runtime or driver call, and its step."""
    calls = fetch(connection, query("calls_on_threads"))
    facts = {"id": calls["id"], "step": steps.at(calls["start_ns"])}
    ranges = loaded_ranges(connection, _RANGES.values(), of_processes="false")
    around = {"op_id": operators, **{column: ranges[kind] for column, kind in _RANGES.items()}}
    for column, spans in around.items():
        facts[column] = ids_at(spans, spans.innermost(calls["thread"], calls["start_ns"]))
    publish(connection, "call_facts", facts)
    connection.execute("INSERT INTO derived.api_calls BY NAME SELECT * EXCLUDE (module_id) FROM call_facts")


_RANGES = {"range_id": "nvtx", "library_id": "library", "frame_id": "python", "module_id": "module"}


def device_rows(connection: duckdb.DuckDBPyConnection, steps: Steps) -> None:
    """Fill derived.kernels and derived.memcpys. A row's step is that of its launch, as host work moves ahead."""
    has_rows, has_launches, has_graphs, has_names, only = connection.execute(query("recorded_calls")).fetchall()[0]
    if not has_rows:  # As on a CPU: to plan the queries takes longer than all else of a small trace.
        connection.unregister("call_facts")
        return
    if only is not None:
        unplaced = f"({query('without_device')}) USING (id) WHEN MATCHED THEN UPDATE SET device = $1"
        for table in ("kernels", "memcpys"):
            connection.execute(f"MERGE INTO {at_hand(connection, table)} USING {unplaced}", [only])
    connection.execute(f"CREATE OR REPLACE TEMP TABLE cover AS {query('cover')}")
    if has_launches or not len(steps.spans):
        publish(connection, "row_step", {"id": np.empty(0, np.int64), "step": np.empty(0, np.int64)})
    else:
        rows = fetch(connection, query("device_starts"))
        publish(connection, "row_step", {"id": rows["id"], "step": steps.at(rows["start_ns"])})
    place = f"CREATE OR REPLACE TEMP TABLE placed AS {query('placed')}"
    found = {"has_launches": has_launches, "has_graphs": has_graphs, "has_names": has_names}
    connection.execute(place, found)
    for table in ("kernels", "memcpys"):
        connection.execute(f"INSERT INTO derived.{table} BY NAME {query('placed_rows')}", {"table": table})
    for name in ("placed", "cover"):
        connection.execute(f"DROP TABLE {name}")
    for name in ("row_step", "call_facts"):
        connection.unregister(name)
