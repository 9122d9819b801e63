"""Links that SQL would make slow or unreadable: which operator is inside which, and which one caused a kernel.

Fills the derived columns of the staging tables (see `tables.py`). Knows nothing of trace formats.
"""

from __future__ import annotations

from collections.abc import Callable

from traceview.ingest.derive import device, host, primitives, steps
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import number_threads, query
from traceview.ingest.derive.steps import Steps
from traceview.lazy import duckdb

Stage = tuple[Callable[[], None], tuple[str, ...]]


class Derivation:
    """Works out the derived columns of the rank that lies in the staging tables.

    `stages` are to be done in their order; each may be done again where it failed, and completes the tables it names.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, has_allocations: bool) -> None:
        self._connection = connection
        self.stages: tuple[Stage, ...] = (
            (self._begin, ()),
            (self._operators, ("ops",)),
            (self._calls, ("api_calls",)),
            (self._device, ("kernels", "memcpys")),
            (self._ranges, ("ranges",)),
            (self._primitives, ("primitives",)),
            *([(self._allocations, ("allocations",))] if has_allocations else ()),
        )
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
        self._clear("ops")
        self._spans = host.operators(self._connection, self._steps)

    def _ranges(self) -> None:
        self._clear("ranges")
        host.ranges(self._connection, self._steps)
        steps.move(self._connection, self._moved)

    def _calls(self) -> None:
        self._clear("api_calls")
        device.api_calls(self._connection, self._steps, self._spans)

    def _device(self) -> None:
        self._clear("kernels", "memcpys")
        device.device_rows(self._connection, self._steps)
        self._moved = steps.moved(self._connection)

    def _primitives(self) -> None:
        self._clear("primitives")
        primitives.primitives(self._connection, self._steps, self._spans)

    def _allocations(self) -> None:
        self._clear("allocations")
        host.allocations(self._connection, self._steps, self._spans)

    def _clear(self, *tables: str) -> None:
        self._connection.execute("; ".join(f"DELETE FROM derived.{table}" for table in tables))
