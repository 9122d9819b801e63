"""Waiting for launches: on both sides of a tenth of the step, of short kernels or long ones."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given

RULE = "launch_bound"


def steps(wait_us: float, lasting_us: float = 5, launched_late: bool = True) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        at = start + 10.0
        for _ in range(10):
            given.kernel("ampere_sgemm_128x64_nn", at, at + lasting_us, launched=at - 2 if launched_late else start)
            at += lasting_us + wait_us
    return given


def test_above_the_threshold_the_waits_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(12), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 9 * 12_000 + 3_333), "and 10 us before the first"
    assert found.problem == "100 % of 10.0 kernels are short, and the device waits 0.111 ms for launches."


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(10.7), tmp_path).status == "not found"


def test_long_kernels_and_waits_for_something_else_do_not_count(tmp_path: Path) -> None:
    assert answer(RULE, steps(12, lasting_us=15), tmp_path / "long").status == "not found"
    assert answer(RULE, steps(12, launched_late=False), tmp_path / "early").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "no kernel is linked to the call that launched it.")
