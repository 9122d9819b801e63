"""Training steps: as the profiler or the program marked them, else from one optimizer cycle to the next, else what an
inference engine marks; else guessed: where a trace holds nothing of the host, from one upload of a batch to the next,
else from what repeats as only a loop does (`repeats.py`). Else none, and every report speaks of the recording.

Invariant: a step that was worked out rather than recorded says so in `ranges.domain`, which begins with `GUESSED` where
it is a guess. Guesses are even from the first to the last; none is left out. An optimizer that is called without a
forward pass of its own (one for each group of parameters, or inside of the backward pass) ends no step of its own, and
optimizers that take turns (of a generator and a discriminator) end one together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive import repeats
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, publish, query
from traceview.ingest.sink import at_hand
from traceview.lazy import duckdb

GUESSED = "guessed "
FROM_OPTIMIZER = "from the ends of the optimizer"
FROM_OPTIMIZERS = "from the ends of cycles of {} optimizers"
LATE = "; {} of them from their own batch on, after batches without a backward pass (validation)"
FROM_DEVICE = "from when the device had done what each mark launched, since the host ran ahead"
FROM_ENGINE = "iterations, from the marks of the inference engine"
FROM_COPIES = GUESSED + "{}, from the largest recurring host-to-device copy"
REPEATED = GUESSED + "{}, from a repeated sequence of {} {}{} ({:.0f} % alike, {} times)"


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


@dataclass(frozen=True)
class Found:
    """Steps that were worked out: their times and numbers, and from what."""

    start: Ints
    end: Ints
    number: Ints
    why: str
    thread: tuple[int, int] = (-1, -1)
    """Process and thread, where they are of one."""


def add_missing(connection: duckdb.DuckDBPyConnection) -> None:
    """Add step ranges in a trace that has none of its own, where there is evidence for them."""
    n_kinds, has_optimizer, other_kind, has_host = connection.execute(query("recorded_steps")).fetchall()[0]
    if n_kinds > 1:
        # Steps that overlap others become what ranges are in this trace: each moment is of one step.
        rows = at_hand(connection, "ranges")  # No reader spills steps.
        others = query("steps_of_another_kind")
        connection.execute(f"UPDATE {rows} SET kind = $kind WHERE id IN ({others})", {"kind": other_kind})
    elif not n_kinds:
        found = _worked_out(connection, has_optimizer, has_host)
        if found and len(found.start):
            _add(connection, found)


def _worked_out(connection: duckdb.DuckDBPyConnection, has_optimizer: bool, has_host: bool) -> Found | None:
    """The steps that the best evidence gives; where there is an optimizer, nothing else counts."""
    if has_optimizer:
        return _of_optimizers(connection)
    if not has_host:
        return _of_uploads(connection) or _of_kernels(connection)
    return _of_engine(connection) or _of_ranges(connection) or _of_kernels(connection)


def _add(connection: duckdb.DuckDBPyConnection, found: Found) -> None:
    """Add the ranges of steps."""
    columns = {"start_ns": found.start, "end_ns": found.end, "number": found.number}
    of_thread = {name: np.full(len(found.start), at) for name, at in zip(("pid", "tid"), found.thread, strict=True)}
    publish(connection, "worked_out", {**columns, **of_thread})
    rows = f"INSERT INTO {at_hand(connection, 'ranges')} BY NAME {query('worked_out_steps')}"
    connection.execute(rows, {"why": found.why})
    connection.unregister("worked_out")


def _of_optimizers(connection: duckdb.DuckDBPyConnection) -> Found:
    """From the end of one cycle of optimizers to that of the next, without a validation between them."""
    calls = fetch(connection, query("optimizer_calls"))
    places, cycle = cycle_ends(calls)
    edges, thread = calls["end_ns"][places], (int(calls["pid"][0]), int(calls["tid"][0]))
    number = np.arange(1, len(edges))
    is_long = np.diff(edges) > 0
    start = np.maximum(edges[:-1], calls["batch_ns"][places[:-1] + 1])
    why = FROM_OPTIMIZER if cycle == 1 else FROM_OPTIMIZERS.format(cycle)
    if n_late := np.count_nonzero(start > edges[:-1]):
        why += LATE.format(n_late)
    return Found(start[is_long], edges[1:][is_long], number[is_long], why, thread)


LONGEST = 12
"""Optimizer calls in a cycle at most."""
SAME = 0.02
"""Share by which counts of operators of the same call may differ from one cycle to the next."""
OFTEN = 0.8
"""Share of the calls that have to come again one cycle later."""


def cycle_ends(calls: Mapping[str, Ints]) -> tuple[Ints, int]:
    """Places of the calls at which steps end, and how many calls make a cycle; of `optimizer_calls.sql`."""
    last = _with_own_forward(calls)
    counts = np.column_stack([np.add.reduceat(calls[name], _begins(last)) for name in ("n_backward", "n_inside")])
    cycle = _cycle(calls["kind"][last], counts)
    loads = np.add.reduceat(calls["n_loaded"], _begins(last)) > 0
    return last[(_first(loads, cycle) - 1) % cycle :: cycle], cycle


def _with_own_forward(calls: Mapping[str, Ints]) -> Ints:
    """The last call of each group that no forward pass divides; every call where forward passes were not recorded."""
    n = len(calls["start_ns"])
    divided = calls["n_forward"][1:] > 0
    return np.append(np.flatnonzero(divided), n - 1) if divided.any() else np.arange(n)


def _begins(last: Ints) -> Ints:
    return np.concatenate([[0], last[:-1] + 1])


def _cycle(kind: Ints, counts: Ints) -> int:
    """The fewest calls after which the same optimizer comes again and has as much to do; the first calls make state."""
    for length in range(1, min(LONGEST, len(kind) // 2) + 1):
        one, other = slice(length, -length), slice(2 * length, None)
        if len(kind) < 3 * length:
            one, other = slice(None, -length), slice(length, None)
        is_near = abs(counts[one] - counts[other]) <= SAME * np.maximum(counts[one], counts[other]) + 1
        is_same = np.all(is_near, axis=1) & (kind[one] == kind[other])
        if is_same.size and float(is_same.mean()) >= OFTEN:
            return length
    # Different numbers of calls each time: as often as each of the optimizers is called once.
    return len(np.unique(kind))


def _first(loads: NDArray[np.bool_], cycle: int) -> int:
    """The place of the first call of a whole cycle: the only one of the cycle for which a batch is loaded, if there is
    such a one, else the first recorded."""
    often = [float(loads[place::cycle].mean()) for place in range(cycle)]
    return int(np.argmax(often)) if sum(share > 1 - OFTEN for share in often) == 1 and max(often) >= OFTEN else 0


def _of_engine(connection: duckdb.DuckDBPyConnection) -> Found | None:
    """From each mark of an inference engine to the end of what was launched in it, at most to the next mark. A single
    one is the recording: with the host's lead over the device it would be longer than the work."""
    marks = fetch(connection, query("engine_marks"))
    start = marks["start_ns"]
    if len(start) < 2:
        return None
    end = _worked_until(start, marks["end_ns"], fetch(connection, query("launched_work")))
    end[:-1] = np.minimum(end[:-1], start[1:])
    return Found(start, end, np.arange(len(start)), FROM_ENGINE)


def _worked_until(start: Ints, end: Ints, work: dict[str, Ints]) -> Ints:
    """When each of these spans has ended, and all that was launched in it."""
    until, at = end.copy(), np.searchsorted(start, work["start_ns"], side="right") - 1
    inside = (at >= 0) & (work["start_ns"] <= end[at])
    np.maximum.at(until, at[inside], work["end_ns"][inside])
    return until


def _of_uploads(connection: duckdb.DuckDBPyConnection) -> Found | None:
    """From one upload of a batch to the next, as long as they are even: the first ones tune, the last may be cut."""
    rows = fetch(connection, query("uploads"))
    durations = rows["end_ns"] - rows["start_ns"]
    if not len(durations):
        return None
    middle = np.median(durations)
    usual = np.flatnonzero((durations * repeats.EVEN >= middle) & (durations <= middle * repeats.EVEN))
    regular = slice(int(usual[0]), int(usual[-1]) + 1)
    if not repeats.is_even(durations[regular]) or len(durations[regular]) < repeats.TIMES:
        return None
    noun = _noun(bool(fetch(connection, query("launch_sequence"))["is_backward"].any()))
    return Found(rows["start_ns"][regular], rows["end_ns"][regular], rows["number"][regular], FROM_COPIES.format(noun))


def _of_ranges(connection: duckdb.DuckDBPyConnection) -> Found | None:
    """From outermost ranges that repeat: calls of one instance of a module, batches of a loader, names of a loop."""
    rows = fetch(connection, query("range_sequence"))
    found = repeats.find(_sequence(rows), 1, rows["is_data"] > 0)
    if found is None:
        return None
    columns = {name: found.columns(rows[name]) for name in ("exact", "is_loop", "is_forward", "is_backward")}
    is_same = (columns["exact"] == np.median(columns["exact"], axis=0)).mean(axis=0) >= repeats.ALIKE
    is_pass = columns["is_forward"].any() and columns["is_backward"].any()
    if not (is_same & (is_pass | columns["is_loop"].all(axis=0))).any():
        return None
    return _even(connection, found, rows, "range", bool(columns["is_backward"].any()))


def _of_kernels(connection: duckdb.DuckDBPyConnection) -> Found | None:
    """From kernels that repeat, where each time some are of a forward pass and some of a backward pass."""
    rows = fetch(connection, query("launch_sequence"))
    found = repeats.find(_sequence(rows))
    if found is None or found.columns(rows["is_backward"]).mean(axis=1).min() == 0:
        return None
    transfers = fetch(connection, query("host_transfers"))["start_ns"]
    if (np.histogram(transfers, rows["start_ns"][found.begins])[0] == 0).any() or rows["is_backward"].all():
        return None
    return _even(connection, found, rows, "kernel", True)


def _sequence(rows: dict[str, Ints]) -> repeats.Sequence:
    return repeats.Sequence(*(rows[name] for name in ("kind", "start_ns", "end_ns", "gap_ns")))


def _even(
    connection: duckdb.DuckDBPyConnection, found: repeats.Repetitions, rows: dict[str, Ints], what: str, trains: bool
) -> Found | None:
    """These repetitions as steps, if they are even and most of the work lies in them."""
    start = rows["start_ns"][found.begins]
    work = fetch(connection, query("launched_work"))
    last = found.begins[-1] + found.length
    ended = _worked_until(start[-1:], rows["end_ns"][found.begins[-1] : last].max(keepdims=True), work)[0]
    trains |= connection.execute(query("has_backward")).fetchall() != []
    if trains and what == "range" and last == len(rows["kind"]):
        # What follows the last range, such as a backward pass, is of its iteration.
        ended = max(int(ended), int(work["end_ns"].max(initial=0)))
    edges = np.append(start, ended)
    is_most = repeats.share(start, int(ended), work["start_ns"], work["dur_ns"]) >= repeats.MOST
    if not repeats.is_even(np.diff(edges)) or not is_most:
        return None
    plural = "" if found.length == 1 else "s"
    why = REPEATED.format(_noun(trains), found.length, what, plural, 100 * found.alike, len(start))
    return Found(start, edges[1:], np.arange(len(start)), why)


def _noun(trains: bool) -> str:
    return "steps" if trains else "iterations"


def load(connection: duckdb.DuckDBPyConnection) -> Steps:
    """The steps of the rank. A name without a number counts from 0 in order of time; so do all where a number comes
    twice, as where every epoch begins with 0: what belongs to a step is found by its number."""
    columns = fetch(connection, query("steps"))
    zeros = np.zeros(len(columns["id"]), np.int64)
    number = columns["number"]
    if not np.diff(np.sort(number)).all():
        number = np.arange(len(number))
    return Steps(Spans(columns["id"], zeros, columns["start_ns"], columns["end_ns"]), number)


def moved(connection: duckdb.DuckDBPyConnection) -> dict[str, Ints]:
    """When a device did the work of each step, where the host ran ahead of it; nothing where it did not."""
    return fetch(connection, query("moved_steps"))


def move(connection: duckdb.DuckDBPyConnection, found: dict[str, Ints]) -> None:
    """Have steps last as long as the device's work does. What belongs to which was told by the marks."""
    if len(found["id"]):
        publish(connection, "moved", found)
        rows = at_hand(connection, "ranges")
        to = "start_ns = m.start_ns, dur_ns = m.dur_ns, domain = $why"
        connection.execute(f"UPDATE {rows} r SET {to} FROM moved m WHERE m.id = r.id", {"why": FROM_DEVICE})
        connection.unregister("moved")
