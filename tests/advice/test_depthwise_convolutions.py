"""Depthwise convolutions against the time of moving their tensors once."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "depthwise_convolutions"
IMAGES = (32, 96, 56, 56)
BYTES = 4 * (2 * 32 * 96 * 56 * 56 + 96 * 9)
LEAST_US = 1e6 * BYTES / 1555e9


def steps(times: float, channels_of_a_filter: int = 1, step_us: float = 5000) -> Given:
    """Three steps with one convolution, whose kernel takes so many times the least."""
    given, groups = training(length=step_us), 96 // channels_of_a_filter
    for step in range(3):
        start = step * step_us
        conv(given, start + 10, IMAGES, (96, channels_of_a_filter, 3, 3), padding=1, groups=groups)
        given.kernel(
            "conv_depthwise2d_forward_kernel<3, float, int>", start + 30, start + 30 + times * LEAST_US, start + 11
        )
    return given


def test_beyond_the_bandwidth_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(5), tmp_path)
    assert (found.status, found.saving_ns) == ("found", pytest.approx(4000 * LEAST_US, rel=1e-4))
    least_ms = LEAST_US / 1e3
    assert found.problem == (
        f"Depthwise convolutions take {5 * least_ms:.3f} ms; to move their tensors once takes {least_ms:.3f} ms."
    )
    assert "filter 96 x 1 x 3 x 3" in found.evidence[0]


@pytest.mark.parametrize(
    "given",
    [steps(1.9), steps(5, channels_of_a_filter=2), steps(2.1, step_us=20_000)],
    ids=["near the bandwidth", "groups of two", "little of the step"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_kernels_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
