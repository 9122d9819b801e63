"""Iterations that nothing marks: where what was launched, or marked, comes again and again in the same order.

Invariant: nothing is called an iteration that the layers of one pass could be as well, and none is left out. A copy or
a pause in each repetition proves no loop: layers that route, or that are fetched from the host, have them too. What
does is the same instance of a module, a name that is one of a loop, or kernels of a forward and of a backward pass in
each repetition, with copies from or to the host.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints

TIMES = 3
"""Repetitions from which on they are believed."""
SHORTEST = 4
"""Kernels in an iteration at least."""
ALIKE = 0.9
"""Share of what is launched that has to come again one iteration later."""
STEADY = 0.8
"""Share of places that have to lie one iteration behind each other for a period to be tried."""
MOST = 0.8
"""Share of the device's time that has to lie in iterations. Layers that a backward pass computes once more take three
quarters of a step."""
EVEN = 2
"""How many times longer or shorter than the median one any iteration may take, the first and the last as well; what
varies more is a loop of something else."""
ANCHORS = 64
"""Kinds that are tried as the beginning of an iteration, the rarest first."""


@dataclass(frozen=True)
class Sequence:
    """Sequence of work: kinds as numbers, when each began and ended, and the pause before it."""

    kind: Ints
    start: Ints
    end: Ints
    gap: Ints


@dataclass(frozen=True)
class Repetitions:
    """Places in a sequence at which its repetitions begin, their length, and how much of them is alike."""

    begins: Ints
    length: int
    alike: float

    def columns(self, values: Ints) -> Ints:
        """One row of values for each repetition."""
        rows: Ints = values[self.begins[:, None] + np.arange(self.length)]
        return rows


def find(sequence: Sequence, shortest: int = SHORTEST, starts: NDArray[np.bool_] | None = None) -> Repetitions | None:
    """The whole repetitions of a sequence; None where nothing repeats. `starts` are places to prefer as the first."""
    length, alike, first = _period(sequence.kind, shortest)
    begins = _begins(sequence, length, first, starts) if length else None
    if begins is None:
        return None
    begins = begins[begins + length <= len(sequence.kind)]
    return Repetitions(begins, length, alike) if len(begins) >= TIMES else None


def share(start: Ints, end: int, time: Ints, duration: Ints) -> float:
    """The part of the work, by its times, that lies between the first start and the end."""
    inside = (time >= start[0]) & (time < end)
    return float(duration[inside].sum() / max(duration.sum(), 1))


def _period(kind: Ints, shortest: int) -> tuple[int, float, int]:
    """After how many members the same comes again, how much of it, and from which place on; 0 for never."""
    numbers, counts = np.unique(kind, return_counts=True)
    fit = (counts >= TIMES) & (counts * shortest <= len(kind))
    rare = numbers[fit][np.argsort(counts[fit], kind="stable")][:ANCHORS]
    found: list[tuple[float, int, int]] = []
    for length in sorted({_usual(np.flatnonzero(kind == number)) for number in rare} - {0}):
        if length < shortest or len(kind) < TIMES * length:
            continue
        same = np.concatenate([[0], np.cumsum(kind[:-length] == kind[length:])])
        share = (same[length:] - same[:-length]) / length
        # What is being tuned at the beginning, or ends the program, repeats less.
        good = np.flatnonzero(share >= ALIKE)
        if len(good) and good[-1] - good[0] + 2 * length >= max(TIMES * length, len(kind) / 2):
            part = share[good[0] : good[-1] + 1]
            if (part >= ALIKE).mean() >= STEADY:
                found.append((round(float(part.mean()), 2), -length, int(good[0])))
    if not found:
        return 0, 0.0, 0
    alike, length, first = max(found)
    return -length, alike, first


def _usual(places: Ints) -> int:
    """The distance that most neighbours among these places have; 0 where most have another."""
    distance, counts = np.unique(np.diff(places), return_counts=True)
    return int(distance[counts.argmax()]) if counts.max() >= STEADY * len(places) - 1 else 0


def _begins(sequence: Sequence, length: int, first: int, starts: NDArray[np.bool_] | None) -> Ints | None:
    """Places at which iterations begin: of what comes once in each, what has the longest usual pause before it."""
    best: tuple[tuple[bool, float, int], Ints] | None = None
    numbers, places, counts = np.unique(sequence.kind[first : first + length], return_index=True, return_counts=True)
    longest = np.argsort(-sequence.gap[first + places], kind="stable")
    for number in numbers[longest[counts[longest] == 1]][:ANCHORS]:
        found = first + np.flatnonzero(sequence.kind[first:] == number)
        if len(found) < TIMES or (np.diff(found) == length).mean() < STEADY:
            continue
        # The first iteration has no pause before it; of equal ones the earlier.
        is_start = starts is not None and bool(starts[found].all())
        pause = is_start, float(np.median(sequence.gap[found[1:]])), -int(found[0])
        if best is None or pause > best[0]:
            best = pause, found
    return best[1] if best else None


def is_even(durations: Ints) -> bool:
    """Whether every iteration takes about as long."""
    middle = np.median(durations)
    return bool(middle > 0 and ((durations * EVEN >= middle) & (durations <= middle * EVEN)).all())
