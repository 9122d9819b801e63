"""Intervals on known numbers: between recordings, within one, and from deviations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from traceview.analysis import noise


def test_hodges_lehmann_is_the_median_of_all_differences() -> None:
    """Hollander and Wolfe's permeability of human chorioamnion: shift 0.305 with the ends 0.10 and -0.76 as printed."""
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    gestation = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = noise.between(at_term, gestation)
    assert found.value == pytest.approx(-0.305)
    assert (found.low, found.high) == (pytest.approx(-0.76), pytest.approx(0.15))
    assert found.confidence == pytest.approx(0.96, abs=0.01)


@pytest.mark.parametrize(("n", "confidence"), [(2, 1 - 2 / 6), (3, 1 - 2 / 20), (4, 1 - 2 / 70)])
def test_few_recordings_give_the_widest_interval_and_its_confidence(n: int, confidence: float) -> None:
    found = noise.between(range(n), [value + 10 for value in range(n)])
    assert (found.value, found.low, found.high) == (10, 10 - n + 1, 10 + n - 1)
    assert found.confidence == pytest.approx(confidence)


def blocks(values: list[float]) -> np.ndarray:  # type: ignore[type-arg]
    return np.array([[1, value] for value in values])


def test_a_bootstrap_within_one_recording_holds_the_ratio_of_the_means_and_is_repeatable() -> None:
    generator = np.random.default_rng(1)
    a, b = (blocks(list(generator.normal(mean, 10, 40))) for mean in (1000, 1020))
    (found,) = noise.within(a, b, is_log=True)
    assert found.ratio().value == pytest.approx(b[:, 1].mean() / a[:, 1].mean())
    width = 1.96 * 10 * math.sqrt(2 / 40) / 1000
    assert found.high - found.value == pytest.approx(width, rel=0.3)
    assert found == noise.within(a, b, is_log=True)[0]


def test_with_three_blocks_the_interval_is_students() -> None:
    (found,) = noise.within(blocks([9, 10, 11]), blocks([19, 20, 21]))
    width = 4.303 * math.sqrt(2 / 3)
    assert (found.value, found.low, found.high) == (
        10,
        pytest.approx(10 - width, rel=0.03),
        pytest.approx(10 + width, rel=0.03),
    )


@pytest.mark.parametrize(("correlation", "larger", "claimed"), [(0.7, 0, (0, 10)), (0, 0, (0, 7)), (0, 5, (95, 100))])
def test_steps_that_depend_on_the_ones_before_are_not_taken_for_a_difference(
    correlation: float, larger: float, claimed: tuple[float, float]
) -> None:
    """Pairs of runs of 20 steps, in blocks of two, that vary by 3 %: percent of the pairs of which a claim is made."""
    generator = np.random.default_rng(3)

    def run(mean: float) -> np.ndarray:  # type: ignore[type-arg]
        off, steps = generator.normal(0, 3 / math.sqrt(1 - correlation**2)), []
        for noise_of_step in generator.normal(0, 3, 20):
            steps.append(mean + off)
            off = correlation * off + noise_of_step
        return np.array([[2, value] for value in np.array(steps).reshape(10, 2).mean(axis=1)])

    found = [noise.within(run(100), run(100 + larger), is_log=True)[0] for _ in range(200)]
    least, most = claimed
    assert least <= sum(not interval.low <= 0 <= interval.high for interval in found) / 2 <= most


def test_blocks_weigh_as_many_steps_as_they_hold() -> None:
    (found,) = noise.within(np.array([[3, 10.0], [1, 30.0]]), np.array([[1, 15.0], [1, 15.0]]))
    assert found.value == 0


def test_deviations_of_a_log_give_welchs_width() -> None:
    found = noise.from_deviations((420.0, 42.0, 100), (326.0, 33.0, 100))
    assert found.ratio().value == pytest.approx(326 / 420)
    assert found.high - found.value == pytest.approx(1.984 * math.hypot(0.1, 33 / 326) / 10, rel=1e-3)
