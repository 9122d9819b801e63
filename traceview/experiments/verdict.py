"""Whether an option is faster, out of pairs of runs: each pair gives the ratio of a time without it and with it.

The estimate is Hodges' and Lehmann's for pairs (the median of all averages of two logarithms of ratios), the interval
that of the exact Wilcoxon signed-rank test; over several options Holm's method keeps the chance of any false claim.

Invariant: below `LEAST_PAIRS` nothing is claimed, for no interval of 95 % exists there; where a change of nothing makes
a difference that chance makes in one case of a hundred, nothing at all is claimed; and where every round ran the base
twice, an option must differ from both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from traceview.analysis.noise import LEVEL, Interval

LEAST_PAIRS = 6
"""With five, the widest interval there is holds in 94 % of all cases."""
NOISE_CHANCE = 0.01
"""A change of nothing that differs with a smaller chance than this is a fault of the measurement."""
FASTER, SLOWER, SAME, UNDECIDED, NOISY = "faster", "slower", "no difference seen", "cannot decide", "too noisy"


@dataclass(frozen=True)
class Judged:
    """Result of an option's pairs: the speed-up, its interval (none below LEAST_PAIRS), and how surprising it is."""

    speedup: float | None
    interval: Interval | None
    p: float | None
    n_pairs: int


def judge(base: Sequence[float], other: Sequence[float]) -> Judged:
    """The times without and with an option, pair by pair."""
    logs = [math.log(a / b) for a, b in zip(base, other, strict=True)]
    if not logs:
        return Judged(None, None, None, 0)
    walsh = walsh_averages(logs)
    middle = math.exp(median(walsh))
    if len(logs) < LEAST_PAIRS:
        return Judged(middle, None, None, len(logs))
    return Judged(middle, signed_rank_interval(logs).ratio(), signed_rank_p(logs), len(logs))


def judge_both(base: Sequence[float], other: Sequence[float], again: Sequence[float]) -> Judged:
    """The times of rounds that ran the base twice: an option must win against both runs of it, or lose against both.

    The estimate is that against the mean of the two logarithms. The interval spans those against each, and the chance
    is the larger one: with equal noise a change of nothing is claimed to differ in 0.25 % (6 rounds) to 0.7 % (12) of
    all cases, where one base gives 3 to 5 %, for half as many runs more (simulated).
    """
    means = [math.sqrt(first * second) for first, second in zip(base, again, strict=True)]
    middle, first, second = judge(means, other), judge(base, other), judge(again, other)
    if not (middle.interval and first.interval and second.interval) or first.p is None or second.p is None:
        return middle
    low = min(first.interval.low, second.interval.low, middle.interval.value)
    high = max(first.interval.high, second.interval.high, middle.interval.value)
    interval = Interval(middle.interval.value, low, high, middle.interval.confidence)
    return Judged(middle.speedup, interval, max(first.p, second.p), middle.n_pairs)


def verdict(judged: Judged, adjusted_p: float | None) -> str:
    """One word for it; `adjusted_p` is Holm's."""
    if judged.interval is None or adjusted_p is None:
        return UNDECIDED
    if adjusted_p > 1 - LEVEL or judged.interval.low <= 1 <= judged.interval.high:
        return SAME
    return FASTER if judged.interval.low > 1 else SLOWER


def is_noisy(null: Judged) -> bool:
    """Whether the change of nothing made a difference, so that no other difference means anything.

    In random order it does so by chance alone as often as the level says, and then a true gain would be lost.
    """
    return null.p is not None and null.p <= NOISE_CHANCE


def visible_gain(spread: float, pairs: int) -> float:
    """Return the gain (0.1: a tenth) that this number of final rounds would show in four of five searches.

    `spread` is that of the logarithms of ratios of two equal runs; the factor is simulated, for rounds with two runs of
    the base, and a little too large for ten rounds and more.
    """
    return math.exp((4 if pairs > LEAST_PAIRS else 5) * spread / math.sqrt(pairs)) - 1


def rounds_for(gain: float, spread: float) -> int:
    """Return the final rounds that would show such a gain in four of five searches."""
    return max(LEAST_PAIRS + 1, math.ceil((4 * spread / math.log1p(gain)) ** 2))


def walsh_averages(values: Sequence[float]) -> list[float]:
    """The averages of every two values and of each with itself, ascending."""
    return sorted((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values)))


def signed_rank_interval(values: Sequence[float]) -> Interval:
    """The middle of paired differences, and the interval that the exact signed-rank test does not reject."""
    walsh = walsh_averages(values)
    ways = _ways(range(1, len(values) + 1))
    total, below, cut = 2.0 ** len(values), 0.0, 0
    while (below + ways[cut]) / total <= (1 - LEVEL) / 2:
        below += ways[cut]
        cut += 1
    if not cut:  # Too few for this level: the widest interval, with the share that it has.
        return Interval(median(walsh), walsh[0], walsh[-1], max(0.0, 1 - 2 / total))
    return Interval(median(walsh), walsh[cut - 1], walsh[-cut], 1 - 2 * below / total)


def signed_rank_p(values: Sequence[float]) -> float:
    """The two-sided chance of such ranks if signs came by chance; equal sizes share a rank, zeros are left out."""
    sizes = sorted(abs(value) for value in values if value)
    if not sizes:
        return 1.0
    # Twice the rank, which is whole also where several share it.
    ranks = {size: 2 * sizes.index(size) + sizes.count(size) + 1 for size in set(sizes)}
    positive = sum(ranks[value] for value in values if value > 0)
    ways = _ways([ranks[size] for size in sizes])
    extreme = min(positive, len(ways) - 1 - positive)
    return float(min(1.0, 2 * sum(ways[: extreme + 1]) / 2.0 ** len(sizes)))


def holm(chances: Sequence[float | None]) -> list[float | None]:
    """Each chance as it counts among all of them (S. Holm, 1979); None stays None and does not count."""
    known = sorted((chance, place) for place, chance in enumerate(chances) if chance is not None)
    found: list[float | None] = [None] * len(chances)
    highest = 0.0
    for done, (chance, place) in enumerate(known):
        highest = max(highest, min(1.0, chance * (len(known) - done)))
        found[place] = highest
    return found


def _ways(ranks: Sequence[int]) -> list[float]:
    """In how many ways signs can give each sum of positive ranks, from 0."""
    ways = [1.0]
    for rank in ranks:
        longer = ways + [0.0] * rank
        for total, n in enumerate(ways):
            longer[total + rank] += n
        ways = longer
    return ways


def pairs_needed(tests: int) -> int:
    """Return the fewest pairs that can reach significance among `tests` options."""
    return max(LEAST_PAIRS, math.ceil(math.log2(2 * max(tests, 1) / (1 - LEVEL))))
