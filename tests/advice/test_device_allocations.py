"""Allocating in every step: for long, shortly, or only in one step."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "device_allocations"


def steps(free_us: float, which: tuple[int, ...] = (0, 1000, 2000)) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::convolution", start + 5, start + 400)
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 900, launched=start + 1)
        if start in which:
            given.call("hipFree", start + 10, start + 10 + free_us)
    return given


@pytest.mark.slow
def test_above_the_threshold_the_calls_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 11_000, "Mostly under aten::convolution")


@pytest.mark.slow
def test_below_it_or_not_in_every_step_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path / "short").status == "not found"
    assert answer(RULE, steps(90, which=(0, 1000)), tmp_path / "once").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has fewer than two steps, warm-up excluded.")
