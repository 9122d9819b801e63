"""Page faults and the time of the system: on both sides of both thresholds."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "page_faults"
REASON = "page faults and processor time are not recorded (traceview collect notes them)."


def steps(system_us: float, faults: int = 9000) -> Given:
    given = training(device=None)
    used = {"wall_ns": 3_000_000, "user_ns": 2_950_000, "system_ns": round(1000 * system_us), "minor_faults": faults}
    given.about = {"usage": used, "steps": {"recorded": 3}}
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 810)
    return given


def test_the_time_of_the_system_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(93), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 31_000)
    assert found.problem.startswith("3,000 pages are faulted in per step (12.3 MB if they are of 4 KiB)")


@pytest.mark.slow
def test_below_either_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(87), tmp_path / "time").status == "not found"
    assert answer(RULE, steps(93, faults=2999), tmp_path / "faults").status == "not found"


@pytest.mark.long
def test_on_a_busy_machine_the_share_is_of_processor_time(tmp_path: Path) -> None:
    given = steps(30)
    given.about["usage"] |= {"user_ns": 500_000}
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 10_000)


@pytest.mark.long
def test_a_trace_without_a_time_takes_nothing_from_the_bound(tmp_path: Path) -> None:
    given = Given()
    given.about = steps(93).about
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns, found.step_ns, found.saving_pct) == ("found", 31_000, 0, None)


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


def test_where_code_is_compiled_in_the_steps_it_is_a_guess(tmp_path: Path) -> None:
    given = steps(93)
    given.op("_compile.compile_inner (dynamo_timed)", 820, 990)
    assert answer(RULE, given, tmp_path).confidence.startswith("low: code was compiled within the steps")
