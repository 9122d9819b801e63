"""Iterations that nothing marks: where what was launched, or marked, comes again and again in the same order.

Invariant: nothing is called an iteration that the layers of one pass could be as well. What repeats needs, in each
repetition, a copy from or to the host, or a pause before it that nothing else in it has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traceview.ingest.derive.nesting import Ints

TIMES = 3
"""Repetitions from which on they are believed."""
SHORTEST = 4
"""Kernels in an iteration at least."""
ALIKE = 0.9
"""Share of what is launched that has to come again one iteration later."""
STEADY = 0.8
"""Share of iterations that have to be as long as the usual one, and to hold what tells them from layers."""
MOST = 0.5
"""Share of the device's time that lies in iterations; less may be a loop of anything, and all of it is not recorded:
the first iterations tune."""
PAUSE = 2
"""How many times the longest usual pause within an iteration the one before it is."""
EVEN = 3
"""How many times longer or shorter than the median one an iteration may take; what varies more is a loop of something
else."""
ANCHORS = 64
"""Kinds that are tried as the beginning of an iteration, the rarest first."""


@dataclass(frozen=True)
class Sequence:
    """What came one after the other: kinds as numbers, when it began and ended, and the pause before it."""

    kind: Ints
    start: Ints
    end: Ints
    gap: Ints


@dataclass(frozen=True)
class Iterations:
    """Where each iteration begins, where the last one ends, how many members it has and how much of it is alike."""

    start: Ints
    end: int
    length: int
    alike: float

    def share(self, time: Ints, duration: Ints) -> float:
        """The part of the work, by its times, that lies in these iterations."""
        inside = (time >= self.start[0]) & (time < self.end)
        return float(duration[inside].sum() / max(duration.sum(), 1))


def find(sequence: Sequence, transfers: Ints, shortest: int = SHORTEST) -> Iterations | None:
    """The iterations of a sequence; None where nothing repeats or that could be something else."""
    length, alike, first = _period(sequence.kind, shortest)
    if not length:
        return None
    begins = _begins(sequence, length, first)
    if begins is None:
        return None
    start = sequence.start[begins]
    # The last iteration counts where all of it was recorded.
    is_whole = len(sequence.kind) - begins[-1] >= length
    end = int(sequence.end[begins[-1] : begins[-1] + length].max()) if is_whole else int(start[-1])
    start = start if is_whole else start[:-1]
    if len(start) < TIMES or (np.diff(np.append(start, end)) <= 0).any():
        return None
    edges = np.append(start, end)
    if not _is_even(np.diff(edges)) or not _is_loop(sequence, transfers, begins, edges):
        return None
    return Iterations(start, end, length, alike)


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


def _begins(sequence: Sequence, length: int, first: int) -> Ints | None:
    """Places at which iterations begin: of what comes once in each, what has the longest usual pause before it."""
    best: tuple[tuple[float, int], Ints] | None = None
    numbers, places, counts = np.unique(sequence.kind[first : first + length], return_index=True, return_counts=True)
    longest = np.argsort(-sequence.gap[first + places], kind="stable")
    for number in numbers[longest[counts[longest] == 1]][:ANCHORS]:
        found = first + np.flatnonzero(sequence.kind[first:] == number)
        if len(found) < TIMES or (np.diff(found) == length).mean() < STEADY:
            continue
        # The first iteration has no pause before it; of equal ones the earlier.
        pause = float(np.median(sequence.gap[found[1:]])), -int(found[0])
        if best is None or pause > best[0]:
            best = pause, found
    return best[1] if best else None


def _is_even(durations: Ints) -> bool:
    """Whether most iterations take about as long."""
    middle = np.median(durations)
    return bool(((durations * EVEN >= middle) & (durations <= middle * EVEN)).mean() >= STEADY)


def _is_loop(sequence: Sequence, transfers: Ints, begins: Ints, edges: Ints) -> bool:
    """Whether this is a loop of the program, and not the equal layers of one pass."""
    held = np.histogram(transfers, edges)[0] if len(transfers) else np.zeros(1)
    if (held > 0).mean() >= STEADY:
        return True
    length = int(np.median(np.diff(begins)))
    whole = begins[(begins > 0) & (begins + length <= len(sequence.gap))]
    pause = np.median(sequence.gap[whole[:, None] + np.arange(length)], axis=0)
    return bool(pause[0] > 0 and pause[0] >= PAUSE * pause[1:].max(initial=0))
