"""Padding as the program marks it: on both sides of a tenth, and marks that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "padding_waste"


def steps(real: int, mark: str = "traceview.padding: {} of 1600") -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.span("user", mark.format(real), start + 1, start + 2)
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 900, launched=start + 3)
    return given


@pytest.mark.slow
def test_above_the_threshold_the_share_of_busy_time_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(1134), tmp_path)
    assert (found.status, found.problem) == ("found", "29.1 % of 4,800 elements are padding.")
    assert found.saving_ns == round(800_000 * (1 - 1134 / 1600))


@pytest.mark.slow
def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(1441), tmp_path).status == "not found"


@pytest.mark.long
def test_other_words_are_no_mark(tmp_path: Path) -> None:
    assert answer(RULE, steps(9, "traceview.padding: {} of many"), tmp_path).status == "not found"


@pytest.mark.long
def test_without_marks_it_says_how_to_make_them(tmp_path: Path) -> None:
    assert "traceview.padding: REAL of PADDED" in answer(RULE, training(), tmp_path).reason


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no steps.")
