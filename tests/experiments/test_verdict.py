"""Statistics of pairs against values that are known."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from traceview.analysis.noise import Interval
from traceview.experiments.verdict import (
    FASTER,
    SAME,
    SLOWER,
    UNDECIDED,
    Judged,
    holm,
    is_noisy,
    judge,
    judge_both,
    signed_rank_interval,
    signed_rank_p,
    verdict,
)

DEPRESSION = (
    (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30),
    (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29),
)
"""Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), p. 29: nine patients, first and second visit."""


def test_the_signed_rank_test_gives_the_textbook_s_numbers() -> None:
    """R's `wilcox.test(x, y, paired = TRUE, conf.int = TRUE)`: V = 40, p = 0.03906, 0.46 within 0.010 and 0.786."""
    differences = [round(first - second, 3) for first, second in zip(*DEPRESSION, strict=True)]
    assert signed_rank_p(differences) == pytest.approx(2 * 10 / 512)
    found = signed_rank_interval(differences)
    assert found.value == pytest.approx(0.46, abs=0.0005)
    assert (found.low, found.high) == (pytest.approx(0.010, abs=0.0005), pytest.approx(0.786, abs=0.0005))
    assert found.confidence == pytest.approx(1 - 2 * 10 / 512)


def test_the_chance_is_that_of_all_signs_also_where_sizes_are_equal() -> None:
    values = [3.0, -1.0, 1.0, 2.0, 2.0, -0.5, 4.0]
    sizes = sorted(map(abs, values))
    ranks = {size: sum(i for i, other in enumerate(sizes, 1) if other == size) / sizes.count(size) for size in sizes}
    seen = sum(ranks[value] for value in values if value > 0)
    half = sum(ranks[abs(value)] for value in values) / 2
    extreme = 0
    for signs in itertools.product((0, 1), repeat=len(values)):
        total = sum(ranks[abs(value)] for value, sign in zip(values, signs, strict=True) if sign)
        extreme += abs(total - half) >= abs(seen - half)
    assert signed_rank_p([*values, 0.0]) == pytest.approx(extreme / 2 ** len(values))
    assert signed_rank_p([0.0, 0.0]) == 1.0


def test_six_pairs_are_the_least_that_decide() -> None:
    base = [1.0] * 6
    faster = [0.5, 0.51, 0.49, 0.5, 0.52, 0.48]
    few = judge(base[:5], faster[:5])
    assert few.interval is None and few.p is None and few.speedup == pytest.approx(2, rel=0.05)
    assert verdict(few, None) == UNDECIDED
    enough = judge(base, faster)
    assert enough.interval and enough.interval.confidence == 1 - 2 / 64 and enough.p == 2 / 64
    assert verdict(enough, enough.p) == FASTER
    assert verdict(judge(faster, base), 2 / 64) == SLOWER
    assert verdict(enough, 4 / 64) == SAME, "among several options it may be chance"
    assert judge([], []) == Judged(None, None, None, 0)


def test_an_option_must_differ_from_both_runs_of_the_base() -> None:
    """Times of a real search for nothing (LeNet, ms): slower than the base in all six, and not than its second run."""
    base = [29.37, 26.70, 29.40, 28.28, 27.06, 30.35]
    same = [29.91, 29.54, 30.03, 33.24, 32.19, 39.32]
    again = [30.33, 31.58, 30.33, 32.47, 27.36, 26.53]
    one, both = judge(base, same), judge_both(base, same, again)
    assert verdict(one, one.p) == SLOWER
    assert verdict(both, both.p) == SAME and both.interval and both.interval.high == pytest.approx(1.069, abs=0.001)
    assert (both.interval.low, both.speedup) == (pytest.approx(0.675, abs=0.001), pytest.approx(0.917, abs=0.001))
    faster = judge_both(base, [each / 2 for each in base], again)
    assert verdict(faster, faster.p) == FASTER and faster.p == 2 / 64
    assert faster.speedup == pytest.approx(2.03, abs=0.01)
    few = judge_both(base[:5], same[:5], again[:5])
    assert few.interval is None and verdict(few, few.p) == UNDECIDED and few.n_pairs == 5


def test_holm_multiplies_by_how_many_are_left() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06)]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_change_of_nothing_that_helps_is_noise() -> None:
    assert is_noisy(Judged(1.1, Interval(1.1, 1.05, 1.2, 0.97), 0.004, 9))
    assert not is_noisy(Judged(1.1, Interval(1.1, 1.05, 1.2, 0.97), 0.03, 6)), "in one case of thirty by chance"
    assert not is_noisy(Judged(1.1, Interval(1.1, 0.95, 1.2, 0.97), 0.4, 6))
    assert not is_noisy(Judged(1.5, None, None, 3))


@pytest.mark.parametrize("walks", [0.0, 0.02])
@pytest.mark.parametrize("n", [6, 10])
def test_false_claims_under_drift_and_heavy_tails_stay_below_their_share(n: int, walks: float) -> None:
    """Nominal 5 %; with 400 experiments three standard deviations are 3.3 %. `walks`: the machine's speed wanders."""
    rng = random.Random(n)
    claims = 0
    for _ in range(400):
        drift = rng.gauss(0, 0.02)
        level = itertools.accumulate(rng.gauss(0, walks) for _ in range(2 * n))
        times = [math.exp(drift * i / (2 * n) + at + rng.gauss(0, 0.01) * (1 + 4 * (rng.random() < 0.1)))
                 for i, at in enumerate(level)]  # fmt: skip
        pairs = [(times[2 * i], times[2 * i + 1])[:: 1 if i % 2 else -1] for i in range(n)]
        found = judge([first for first, _ in pairs], [second for _, second in pairs])
        assert found.interval
        claims += not found.interval.low <= 1 <= found.interval.high
    assert claims / 400 < 0.05 + 0.033


@pytest.mark.parametrize("n", [6, 8])
def test_a_change_of_nothing_is_hardly_ever_claimed_beside_two_runs_of_the_base(n: int) -> None:
    """Below 1 % is expected (0.2 and 0.5); with 400 experiments three standard deviations above that are 2.5 %."""
    rng = random.Random(n)
    claims = 0
    for _ in range(400):
        base, same, again = ([math.exp(rng.gauss(0, 0.1)) for _ in range(n)] for _ in range(3))
        found = judge_both(base, same, again)
        claims += verdict(found, found.p) != SAME
    assert claims / 400 < 0.025
