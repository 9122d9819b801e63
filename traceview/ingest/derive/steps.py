"""Training steps: as the profiler marked them, else from one optimizer call to the next, else, where a trace holds
nothing of the host, from one upload of a batch to the next, else from what repeats (`repeats.py`), else none.

Invariant: a step that was worked out rather than recorded says so in `ranges.domain`.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np

from traceview.ingest.derive import repeats
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, publish, query
from traceview.ingest.sink import at_hand

FROM_OPTIMIZER = "from the ends of the optimizer"
FROM_COPIES = "from the largest recurring host-to-device copy"


@dataclass(frozen=True)
class Steps:
    """Steps in order of time with their numbers."""

    spans: Spans
    number: Ints

    def at(self, time: Ints) -> Ints:
        """Number of the step with start <= time < end, -1 for none. Steps count on every thread."""
        if not len(self.spans):
            return np.full(len(time), -1, np.int64)
        found = self.spans.innermost(np.zeros(len(time), np.int64), time)
        found[(found >= 0) & (self.spans.end[found] <= time)] = -1
        return np.where(found >= 0, self.number[found], -1)


def add_missing(connection: duckdb.DuckDBPyConnection) -> None:
    """Add step ranges in a trace that has none of its own: the optimizer's, or where only the device was recorded the
    uploads'."""
    n_kinds, has_optimizer, other_kind, has_host = connection.execute(query("recorded_steps")).fetchall()[0]
    if n_kinds > 1:
        # Steps that overlap others become what ranges are in this trace: each moment is of one step.
        rows = at_hand(connection, "ranges")  # No reader spills steps.
        others = query("steps_of_another_kind")
        connection.execute(f"UPDATE {rows} SET kind = $kind WHERE id IN ({others})", {"kind": other_kind})
    elif not n_kinds and has_optimizer:
        _add(connection, "steps_from_the_optimizer", FROM_OPTIMIZER)
    elif not n_kinds and not (not has_host and _add(connection, "steps_from_copies", FROM_COPIES)):
        _add_repeated(connection)


def _add(connection: duckdb.DuckDBPyConnection, name: str, why: str) -> int:
    """Add the step ranges of a query; returns how many."""
    rows = f"INSERT INTO {at_hand(connection, 'ranges')} BY NAME {query(name)}"
    return int(connection.execute(rows, {"why": why}).fetchall()[0][0])


def _add_repeated(connection: duckdb.DuckDBPyConnection) -> None:
    """Add iterations that nothing marks: ranges that repeat in one order, else kernels that do."""
    transfers, work = fetch(connection, query("host_transfers"))["start_ns"], fetch(connection, query("launched_work"))
    for what, shortest in (("range", 1), ("kernel", repeats.SHORTEST)):
        rows = fetch(connection, query(_SEQUENCES[what]))
        found = repeats.find(repeats.Sequence(*(rows[name] for name in _SEQUENCE)), transfers, shortest)
        if found and found.share(work["start_ns"], work["dur_ns"]) >= repeats.MOST:
            publish(connection, "iteration", {"start_ns": found.start, "end_ns": np.append(found.start[1:], found.end)})
            why = REPEATED.format(
                what, found.length, "" if found.length == 1 else "s", 100 * found.alike, len(found.start)
            )
            _add(connection, "steps_from_repeats", why)
            connection.unregister("iteration")
            return


REPEATED = "guessed from a repeated sequence of {1} {0}{2} ({3:.0f} % alike, {4} times)"
_SEQUENCES = {"range": "range_sequence", "kernel": "launch_sequence"}
_SEQUENCE = ("kind", "start_ns", "end_ns", "gap_ns")


def load(connection: duckdb.DuckDBPyConnection) -> Steps:
    """The steps of the rank. A name without a number counts from 0 in order of time; so do all where a number comes
    twice, as where every epoch begins with 0: what belongs to a step is found by its number."""
    columns = fetch(connection, query("steps"))
    zeros = np.zeros(len(columns["id"]), np.int64)
    number = columns["number"]
    if not np.diff(np.sort(number)).all():
        number = np.arange(len(number))
    return Steps(Spans(columns["id"], zeros, columns["start_ns"], columns["end_ns"]), number)
