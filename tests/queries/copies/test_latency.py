"""Tiny copies and short idle stretches: a share of the step on either side of the threshold."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, section


def steps(kernels: int) -> Given:
    """In each step of 1000 microseconds a tiny copy of 10, then kernels of 20 with 80 idle before each."""
    given = training()
    for start in (0, 1000, 2000):
        given.copy("HtoD", start, start + 10, size_bytes=8)
        given.copy("HtoD", start + 10, start + 20)
        for number in range(kernels):
            given.kernel("k", start + 100 + 100 * number, start + 120 + 100 * number)
    return given


@pytest.mark.slow
@pytest.mark.parametrize(("kernels", "verdict"), [(3, "not bound by latency"), (4, "bound by latency")])
def test_the_verdict_is_of_the_step(tmp_path: Path, kernels: int, verdict: str) -> None:
    (row,) = section(steps(kernels).open(tmp_path), "copies/latency")
    assert (row["tiny"], row["tiny_ns"], row["unsized"]) == (1, 10_000, 1)
    assert (row["gaps"], row["gaps_ns"]) == (kernels, 80_000 * kernels)
    assert (row["latency_pct"], row["verdict"]) == (1 + 8 * kernels, verdict)


@pytest.mark.slow
def test_a_long_idle_stretch_is_another_problem(tmp_path: Path) -> None:
    (row,) = section(steps(4).open(tmp_path), "copies/latency", short_gap_ns=79_999)
    assert (row["gaps"], row["verdict"]) == (0, "not bound by latency")
