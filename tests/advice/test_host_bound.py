"""Waiting for launches: on both sides of a twentieth of the step, of short kernels or long, in gaps long or short."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "host_bound"


def steps(wait_us: float, lasting_us: float = 5, launched_late: bool = True) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        at = start + 0.0
        for _ in range(10):
            given.kernel(
                "ampere_sgemm_128x64_nn", at, at + lasting_us, launched=max(at - 2, start) if launched_late else start
            )
            at += lasting_us + wait_us
    return given


def test_above_the_threshold_the_waits_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(6), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 9 * 6_000)
    assert all(found.evidence)
    assert found.problem == (
        "The device is idle for 0.054 ms because the host has not launched yet what comes next, in 9.0 gaps; "
        "10.0 kernels of 0.005 ms on average."
    )


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(5), tmp_path).status == "not found"


@pytest.mark.long
def test_long_kernels_and_long_gaps_count_as_well(tmp_path: Path) -> None:
    found = answer(RULE, steps(70, lasting_us=30), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 9 * 70_000)


@pytest.mark.long
def test_gaps_before_what_was_queued_do_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(12, launched_late=False), tmp_path).status == "not found"


@pytest.mark.long
def test_it_needs_no_steps(tmp_path: Path) -> None:
    given = steps(6)
    del given.rows["ranges"]
    found = answer(RULE, given, tmp_path)
    # And two gaps of 896 us where the steps were, of 2,099 us recorded.
    assert (found.status, found.saving_ns, found.step_ns) == ("found", 27 * 6_000 + 2 * 896_000, 2_104_000)


@pytest.mark.slow
def test_a_few_long_gaps_of_a_recording_without_steps_are_a_guess(tmp_path: Path) -> None:
    given, at = Given(), 0.0
    for gap_us in (*([20] * 100), 12_000, 15_000, 11_000, *([100] * 10)):
        given.kernel("ampere_sgemm_128x64_nn", at, at + 5, launched=at - 2)
        at += 5 + gap_us
    found = answer(RULE, given, tmp_path / "long")
    assert found.confidence.startswith("low: 3 gaps longer than 10 ms are most of it")
    short = answer(RULE, given, tmp_path / "short", host_start_ms="20")
    assert short.confidence.startswith("high")


def test_gaps_in_which_kernels_were_lost_are_a_guess(tmp_path: Path) -> None:
    given = steps(6)
    for start in (0, 1000, 2000):
        given.launch(start + 1)
    found = answer(RULE, given, tmp_path)
    assert found.confidence == "low: 3 launched kernels are not in the recording, and may have run meanwhile"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "no kernel is linked to the call that launched it.")


def test_one_late_launch_in_many_steps_is_no_habit(tmp_path: Path) -> None:
    given = training(6, 1000)
    for start in range(0, 6000, 1000):
        begin = start + (800 if start == 3000 else 110)
        given.kernel("ampere_sgemm_128x64_nn", start + 1, start + 100, launched=start)
        given.kernel("ampere_sgemm_128x64_nn", begin, start + 999, launched=begin - 1)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", (5 * 10_000 + 700_000) // 6)
    assert found.confidence == "low: one gap of 0.700 ms is most of it, once in 6 steps"
