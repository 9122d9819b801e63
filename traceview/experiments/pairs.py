"""Rounds of runs in fresh processes, in random order: what else the machine does falls on every side alike by chance.

A fixed order, or one that is turned round each time, meets whatever comes back after three or four runs always on the
same side (`benchmarks/tune_simulation.py`).

Invariant: a run that was measured is on disk and is not made again: whoever resumes replays the journal.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from traceview.experiments.command import Timed
from traceview.experiments.quiet import is_quiet
from traceview.experiments.results import Journal
from traceview.experiments.verdict import NOISY as TOO_NOISY
from traceview.experiments.verdict import Judged, is_noisy, judge, judge_both, verdict
from traceview.tables import BY_NAME

BASE, WITH, AGAIN = "base", "with", "again"
TABLE = "tune_runs"
NO = "no: "
"""Begins what an option says that could do nothing."""
WALL, PROCESSOR = "wall", "processor"
TIMED, FAILED, NOISY = "timed", "failed", "noisy"
Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """Two rows of `tune_runs`: the side without what is tried, and the side with it."""

    base: Row
    other: Row

    @property
    def has_times(self) -> bool:
        """Whether both runs gave times."""
        return all(row.get("step_ns") for row in (self.base, self.other))

    @property
    def is_quiet(self) -> bool:
        """Whether wall times of both can be believed."""
        return all(is_quiet(row.get("others_pct")) for row in (self.base, self.other))

    def without_effect(self, option: str) -> str | None:
        """Why an option changed nothing in the process, in its own words; None where it did, or did not say."""
        said = json.loads(self.other.get("applied") or "{}").get(option, "")
        return said.removeprefix(NO) if said.startswith(NO) else None

    @property
    def ratio(self) -> float:
        """How many times as fast the side with it is."""
        return float(self.base["step_ns"] / self.other["step_ns"])

    @property
    def cpu_ratio(self) -> float | None:
        """The ratio of processor times; None where a run has none."""
        base, other = (row.get("step_cpu_ns") for row in (self.base, self.other))
        return float(base / other) if base and other else None


@dataclass(frozen=True)
class Side:
    """One run of a round: `base`, `with` or `again` (repeated baseline), for a candidate, with these options on."""

    side: str
    candidate: str
    options: tuple[str, ...]


def new_seed() -> int:
    """Return a seed for the order of runs."""
    return random.SystemRandom().randrange(1_000_000)


def shuffled(runs: Iterable[T], seed: str) -> list[T]:
    """The runs of a round in random order; equal seeds give equal orders."""
    order = list(runs)
    random.Random(seed).shuffle(order)
    return order


@dataclass
class Runner:
    """Runs rounds, each run once: those that the journal holds are not made again."""

    journal: Journal
    measure: Callable[[Sequence[str]], Timed]
    """One fresh run with options of these names on."""
    seed: int = 1
    """Seed of the order within rounds; equal seeds give equal orders."""
    spent_ns: int = 0
    """Time of all runs of the search so far, also those of an earlier session."""
    n_runs: int = 0
    n_new: int = 0
    """Number of runs that were made now."""
    _known: dict[tuple[str, int, str, str], Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.journal.rows(TABLE):
            key = (row.get("phase", ""), row.get("pair", 0), row.get("side", ""), row.get("candidate", ""))
            self._known[key] = row

    def round(self, phase: str, number: int, sides: Sequence[Side]) -> list[Row]:
        """The rows of these runs, which are made in random order."""
        found: dict[int, Row] = {}
        order = shuffled(range(len(sides)), f"{self.seed} {phase} {number} {sides[0].candidate}")
        for place, at in enumerate(order, 1):
            key = (phase, number, sides[at].side, sides[at].candidate)
            if key not in self._known:
                self._known[key] = self._run(key, place, sides[at].options)
            found[at] = self._known[key]
            self.spent_ns += found[at].get("total_ns") or 0
            self.n_runs += 1
        return [found[at] for at in range(len(sides))]

    def failed_base(self) -> Row | None:
        """A run without any option, where none of those gave times: then nothing can be compared."""
        plain = [row for row in self._known.values() if not row.get("options")]
        return None if any(row.get("step_ns") for row in plain) else next(iter(plain), None)

    def _run(self, key: tuple[str, int, str, str], place: int, options: Sequence[str]) -> Row:
        began = time.monotonic_ns()
        timed = self.measure(options)
        # With what is done around the command, such as copies of its folder.
        total_ns = max(timed.total_ns, time.monotonic_ns() - began)
        phase, number, side, candidate = key
        status = FAILED if timed.step_ns is None else TIMED if timed.is_quiet else NOISY
        row: Row = {
            **{it.name: getattr(timed, it.name) for it in BY_NAME[TABLE].columns if hasattr(timed, it.name)},
            "phase": phase,
            "pair": number,
            "place": place,
            "side": side,
            "candidate": candidate,
            "options": "+".join(options),
            "parameter_norms": json.dumps(timed.norms) if timed.norms else None,
            "status": status,
            "applied": json.dumps(dict(timed.applied)) if timed.applied else None,
            "total_ns": total_ns,
        }
        self.journal.add(TABLE, row)
        self.n_new += 1
        return row


def believed(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that count: with times, and on a quiet machine."""
    return [pair for pair in pairs if pair.has_times and pair.is_quiet]


def spread(pairs: Sequence[Pair]) -> float | None:
    """Return by how much equal runs differ: the root of the mean square of logarithms of ratios of pairs of them."""
    logs = [math.log(pair.ratio) for pair in believed(pairs)]
    return math.sqrt(statistics.fmean(each * each for each in logs)) if logs else None


def speedup(pairs: Sequence[Pair], column: str = "step_ns") -> Judged:
    """Judge pairs by their wall times, or by another column."""
    known = [pair for pair in pairs if pair.base.get(column) and pair.other.get(column)]
    return judge([pair.base[column] for pair in known], [pair.other[column] for pair in known])


def speedup_against_both(
    pairs: Sequence[Pair], repeated: Sequence[Pair], column: str = "step_ns", only_quiet: bool = True
) -> Judged:
    """Return the speed-up from rounds with two base runs, of quiet rounds or of all that gave times."""
    rounds = [
        (first, second)
        for first, second in zip(pairs, repeated, strict=True)
        if (len(believed([first, second])) == 2 if only_quiet else first.has_times and second.has_times)
    ]
    return judge_both(
        [first.base[column] for first, _ in rounds],
        [first.other[column] for first, _ in rounds],
        [second.base[column] for _, second in rounds],
    )


@dataclass(frozen=True)
class Proof:
    """Verdict of rounds that ran the base twice."""

    judged: Judged
    verdict: str
    clock: str
    """WALL, or PROCESSOR where wall times could not be believed."""
    null: Judged
    """The two runs of the base against each other."""
    noisy_rounds: int


def prove(pairs: Sequence[Pair], repeated: Sequence[Pair], n_threads: int | None = None) -> Proof:
    """Judge rounds by wall times on a quiet machine, else by processor times where one thread computes, and no workers.

    Processor time of one thread is what its work takes; of several it also counts those that wait for each other.
    """
    nulls = [Pair(first.base, second.base) for first, second in zip(pairs, repeated, strict=True)]
    noisy = sum(not (first.is_quiet and second.is_quiet) for first, second in zip(pairs, repeated, strict=True))
    judged, null, clock = speedup_against_both(pairs, repeated), speedup(believed(nulls)), WALL
    if judged.interval is None and n_threads == 1 and all(pair.cpu_ratio for pair in (*pairs, *repeated)):
        clock = PROCESSOR
        judged = speedup_against_both(pairs, repeated, "step_cpu_ns", only_quiet=False)
        null = speedup(nulls, "step_cpu_ns")
    return Proof(judged, TOO_NOISY if is_noisy(null) else verdict(judged, judged.p), clock, null, noisy)
