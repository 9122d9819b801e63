"""Tensors that leave the device and come back: in every step, or only in some."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

pytestmark = pytest.mark.slow

RULE = "repeated_copies"


def steps(back_in: int, size_bytes: int = 500_000) -> Given:
    given = training()
    for number in range(3):
        start = 1000 * number
        given.span("phase", "forward", start, start + 900)
        given.copy("HtoD", start + 10, start + 60, launched=start + 1, size_bytes=1_000_000)
        given.copy("DtoH", start + 100, start + 130, launched=start + 2, size_bytes=size_bytes)
        if number < back_in:
            given.copy("HtoD", start + 200, start + 230, launched=start + 3, size_bytes=size_bytes)
    return given


def test_a_size_that_goes_both_ways_in_every_step_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(3), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 60_000)
    assert found.evidence == ("500000 bytes: 1.0 each way, 0.060 ms",)


def test_predictions_of_the_size_of_the_labels_do_not_come_back(tmp_path: Path) -> None:
    """Labels go to the device before the predictions leave it: one of two uploads, a second after these is a pair."""
    given = steps(0)
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 62, start + 92, launched=start + 4, size_bytes=500_000)
    assert answer(RULE, given, tmp_path / "labels").status == "not found"
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 200, start + 220, launched=start + 5, size_bytes=500_000)
    found = answer(RULE, given, tmp_path / "both")
    assert (found.saving_ns, found.evidence) == (55_000, ("500000 bytes: 1.0 each way, 0.055 ms",))


@pytest.mark.long
def test_not_in_every_step_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(2), tmp_path).status == "not found"


def test_the_size_of_the_input_is_not_told_from_its_gradient(tmp_path: Path) -> None:
    assert answer(RULE, steps(0, 1_000_000), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "the trace holds no copy by a call of the program whose size is recorded.",
    )
