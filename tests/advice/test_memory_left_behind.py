"""Memory that every step leaves behind: on both sides of the threshold, and what is not a leak."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given
from memories import allocated

RULE = "memory_left_behind"


def steps(left_bytes: int, leaving: int = 4, n: int = 5) -> Given:
    given = training(n, device=None)
    for number in range(n):
        at = 1000 * number
        given.op("aten::zeros", at + 100, at + 200)
        allocated(given, at + 110, at + 500, size_bytes=1_000_000)
        if number < leaving:
            allocated(given, at + 120, None, size_bytes=left_bytes)
    return given


def test_what_every_step_leaves_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(2000), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", None, "aten::zeros")
    assert found.problem == "Each of 4 steps leaves 0.002 MB of the host allocated, 0.2 % of the peak."


def test_less_than_a_thousandth_of_the_peak_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(900), tmp_path).status == "not found"


def test_what_some_steps_leave_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(2000, leaving=3), tmp_path).status == "not found"


def test_two_steps_before_the_last_tell_no_leak_that_they_show(tmp_path: Path) -> None:
    found = answer(RULE, steps(2000, n=3), tmp_path)
    assert found.status == "cannot tell"
    assert (
        found.reason
        == "fewer than four steps whose allocations are recorded do not tell what every step leaves behind."
    )
    assert found.record == "more steps"


@pytest.mark.parametrize(("n", "status"), [(3, "not found"), (2, "cannot tell")])
def test_two_steps_before_the_last_that_leave_nothing_tell_that_there_is_no_leak(
    n: int, status: str, tmp_path: Path
) -> None:
    assert answer(RULE, steps(2000, leaving=1, n=n), tmp_path).status == status


@pytest.mark.parametrize("given", [Given(), training()])
def test_without_allocations_it_cannot_tell(given: Given, tmp_path: Path) -> None:
    found = answer(RULE, given, tmp_path)
    assert found.status == "cannot tell"
    assert found.reason == "allocations of a framework inside steps are not recorded (PyTorch: profile_memory=True)."
