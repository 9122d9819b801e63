"""How surely two sets of times differ: between recordings where there are several, else within one recording each.

Invariant: no shape of the noise is assumed where times are there. Between recordings the estimate is Hodges' and
Lehmann's (the median of all differences of logarithms) with the interval that the Mann-Whitney test gives; within one
recording it is the ratio of the means with the interval of a block bootstrap, widened for few blocks (expanded
percentiles: T. Hesterberg, "What Teachers Should Know About the Bootstrap", 2015; below FEW_BLOCKS, where what can be
drawn says too little, Student's t on the spread of the draws), and for blocks that resemble the ones before them. The
same input gives the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LEVEL = 0.95
CLAIM = 0.9
"""Minimum confidence for a claim."""
RESAMPLES = 2000
FEW_BLOCKS = 8
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
"""Student's t, 97.5 %, for 1, 2, ... degrees of freedom."""


@dataclass(frozen=True)
class Interval:
    """A difference, the interval around it, and the share of all cases (0 to 1) in which such an interval holds it."""

    value: float
    low: float
    high: float
    confidence: float

    def ratio(self) -> Interval:
        """Return the ratio, for a difference of logarithms; what only rounding makes of equal times is 1."""
        value, low, high = (math.exp(round(end, 12)) for end in (self.value, self.low, self.high))
        return Interval(value, low, high, self.confidence)


def between(a: Sequence[float], b: Sequence[float], *, level: float = LEVEL) -> Interval:
    """By how much values of `b` lie above those of `a`, one value per recording.

    With few recordings no interval holds in as many cases as `level` asks for; then it is the widest, with the share
    that it has.
    """
    import numpy as np

    shifts = np.sort((np.asarray(b)[:, None] - np.asarray(a)[None, :]).ravel())
    below = _mann_whitney(len(a), len(b))
    cut = max(1, sum(chance <= (1 - level) / 2 for chance in below))
    confidence = max(0.0, 1 - 2 * below[cut - 1])
    return Interval(float(np.median(shifts)), float(shifts[cut - 1]), float(shifts[-cut]), confidence)


def within(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], is_log: bool = False) -> list[Interval]:
    """By how much the means of `b` lie above those of `a`, column by column (by their logarithms with `is_log`).

    A row is a block of consecutive steps: first the number of steps, then the mean of each column.
    """
    import numpy as np

    generator = np.random.default_rng(0)
    drawn = []
    for blocks in (a, b):
        weights, values = blocks[:, :1], blocks[:, 1:]
        rows = np.vstack(
            [np.arange(len(blocks))[None, :], generator.integers(0, len(blocks), (RESAMPLES, len(blocks)))]
        )
        means = (weights * values)[rows].sum(axis=1) / weights[rows].sum(axis=1)
        drawn.append(np.log(means) if is_log else means)
    shifts = drawn[1] - drawn[0]
    n_blocks = min(len(a), len(b))
    tail = NormalDist().cdf(-student(n_blocks - 1) * math.sqrt(n_blocks / (n_blocks - 1)))
    low, high = np.quantile(shifts[1:], [tail, 1 - tail], axis=0)
    if n_blocks < FEW_BLOCKS:
        spreads = [
            means[1:].std(axis=0) * math.sqrt(len(blocks) / (len(blocks) - 1))
            for means, blocks in zip(drawn, (a, b), strict=True)
        ]
        width = student(n_blocks - 1) * np.hypot(*spreads)
        low, high = shifts[0] - width, shifts[0] + width
    # As in an autoregression of the first order, whose correlation few blocks show too low (M. Kendall, 1954).
    off = [(v - v.mean(axis=0)) / (v.mean(axis=0) if is_log else 1) for v in (a[:, 1:], b[:, 1:])]
    along, whole = (sum((v[lag:] * v[: len(v) - lag]).sum(axis=0) for v in off) for lag in (1, 0))
    alike = along / np.maximum(whole, 1e-300)
    alike = np.where(alike > 0, np.minimum(alike + 2 * (1 + 4 * alike) / (len(a) + len(b)), 0.8), 0)
    factor = np.sqrt((1 + alike) / (1 - alike))
    low, high = shifts[0] - factor * (shifts[0] - low), shifts[0] + factor * (high - shifts[0])
    return [
        Interval(float(value), float(least), float(most), LEVEL)
        for value, least, most in zip(shifts[0], low, high, strict=True)
    ]


def from_deviations(a: tuple[float, float, int], b: tuple[float, float, int]) -> Interval:
    """The difference of the logarithms of two means, each given with its standard deviation and number of steps."""
    errors = [sd / mean / math.sqrt(n) for mean, sd, n in (a, b)]
    width = student(min(a[2], b[2]) - 1) * math.hypot(*errors)
    value = math.log(b[0] / a[0])
    return Interval(value, value - width, value + width, LEVEL)


def student(degrees: int) -> float:
    """Student's t, 97.5 %; between 16 and 120 degrees of freedom the next approximation (within 0.3 %)."""
    if degrees <= len(STUDENT):
        return STUDENT[max(degrees, 1) - 1]
    return 1.95996 + 2.3722 / degrees + 2.8225 / degrees**2


def _mann_whitney(m: int, n: int) -> list[float]:
    """The chance of U <= 0, <= 1, ... if there is no difference."""
    ways = [1.0] + [0.0] * (m * n)
    for i in range(1, n + 1):
        for u in range(m * n, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, m * n + 1):
            ways[u] += ways[u - i]
    total, found = math.comb(m + n, n), 0.0
    return [(found := found + way) / total for way in ways]
