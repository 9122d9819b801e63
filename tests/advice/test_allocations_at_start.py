"""Allocating outside the steps: at the start, in steps that count, without steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer
from given import Given

RULE = "allocations_at_start"


def run(first_us: float, has_steps: bool = True, step_us: float = 0) -> Given:
    """A copy, an allocation of so long before the steps, then three steps of 1000 us from 5000 us on."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.copy("HtoD", 0, 10, launched=0)
    given.call("cudaMalloc", 5, 5 + first_us)
    for number in range(3):
        start = 5000 + 1000 * number
        if has_steps:
            given.span("step", f"step#{number + 1}", start, start + 1000)
        given.call("cudaFree", start + 20, start + 20 + step_us)
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 990, launched=start + 400)
    return given


@pytest.mark.slow
def test_before_the_steps_it_is_once_per_run_and_idle_time_only(tmp_path: Path) -> None:
    found = answer(RULE, run(2005, step_us=100), tmp_path)
    assert (found.status, found.saving_ns, found.run_ns, found.step_ns) == ("found", 2_000_000, 8_000_000, None)
    assert (found.of, found.saving_pct) == ("the recording, once", 25)
    assert found.evidence == ("cudaMalloc under (no operator): 1 calls, 2.005 ms of the host",)


def test_threads_of_two_devices_that_allocate_at_once_count_once(tmp_path: Path) -> None:
    given = run(2005, step_us=100)
    given.kernel("ampere_sgemm_128x64_nn", 5500, 5990, launched=5400, device=1)
    given.call("cudaMalloc", 5, 1010)
    for row in given.rows["api_calls"][-2:]:
        row["tid"] = 2
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 2_000_000)


@pytest.mark.long
def test_without_steps_all_of_it_is(tmp_path: Path) -> None:
    found = answer(RULE, run(2005, has_steps=False, step_us=100), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 2_300_000)


@pytest.mark.long
def test_below_the_threshold_or_only_in_steps_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, run(410), tmp_path / "above").status == "found"
    assert answer(RULE, run(404), tmp_path / "below").status == "not found"
    assert answer(RULE, run(0, step_us=400), tmp_path / "steps").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
