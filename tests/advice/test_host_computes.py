"""Operators on the CPU that the device waits for: on both sides of a twentieth, by thread, and where they come once."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "host_computes"


def steps(computing_us: float, name: str = "aten::randn", tid: int = 1, only_first: bool = False) -> Given:
    """Steps of 1,000 us: the device works for 400 of them, behind an operator that launches nothing."""
    given = training()
    for start in (0, 1000, 2000):
        if not (only_first and start):
            given.op(name, start, start + computing_us)
            given.rows["ops"][-1]["tid"] = tid
        given.kernel("ampere_sgemm_128x64_nn", start + 590, start + 990, launched=start + 580)
    return given


@pytest.mark.slow
def test_the_time_that_the_device_waits_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(500), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 500_000, "Mostly in aten::randn")
    assert found.problem == (
        "The device is idle for 0.500 ms while the thread that launches computes on the CPU: aten::randn."
    )
    assert found.confidence.startswith("high") and found.evidence == ("aten::randn: 1.0 calls, 0.500 ms",)


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(49), tmp_path, least_us="10").status == "not found"


@pytest.mark.parametrize(
    "given",
    [steps(500, tid=2), steps(500, name="TorchDynamo Cache Lookup"), steps(500, name="aten::view")],
    ids=["another thread", "overhead", "no arithmetic"],
)
def test_what_keeps_no_launch_waiting_or_computes_nothing(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_an_operator_that_launches_is_at_work_for_the_device(tmp_path: Path) -> None:
    given = steps(500)
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel", start + 595, start + 600, launched=start + 490)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.slow
def test_what_comes_once_is_of_low_confidence(tmp_path: Path) -> None:
    found = answer(RULE, steps(500, only_first=True), tmp_path)
    assert found.status == "found" and found.confidence.startswith("low: one gap of 0.500 ms")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
