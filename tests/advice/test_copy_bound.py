"""Copies with nothing beside them: on both sides of a fifth of the step, and what overlap can give."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "copy_bound"


def steps(copy_us: float, work_us: float, begin_us: float = 0) -> Given:
    """A pinned copy, and a kernel that begins when the copy ends, or so long before."""
    given = training()
    for start in (0, 1000, 2000):
        end = start + 10 + copy_us
        given.copy("HtoD", start + 10, end, src_kind="pinned", dst_kind="device", size_bytes=1_000_000, stream=9)
        given.kernel("k", end - begin_us, end - begin_us + work_us)
    return given


def test_overlap_can_give_what_is_exposed(tmp_path: Path) -> None:
    found = answer(RULE, steps(300, 500), tmp_path)
    assert (found.status, found.saving_ns, found.saving_pct) == ("found", 300_000, 30)
    assert "run for 0.300 ms, 0.300 ms of it (30.0 %)" in found.problem and "gives 0.300 ms" in found.problem


def test_a_step_is_no_shorter_than_its_copies(tmp_path: Path) -> None:
    assert answer(RULE, steps(800, 100), tmp_path).saving_ns == 200_000


@pytest.mark.slow
def test_where_overlap_gives_nothing_there_is_no_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(985, 1), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 15_000)
    given = Given()
    for start in range(0, 1000, 100):
        given.copy("HtoD", start, start + 100, src_kind="pinned", dst_kind="device", size_bytes=1_000_000)
    found = answer(RULE, given, tmp_path / "alone")
    assert (found.status, found.saving_ns) == ("found", None) and "only fewer bytes" in found.problem


@pytest.mark.slow
def test_below_the_threshold_and_beside_work_they_are_fine(tmp_path: Path) -> None:
    assert answer(RULE, steps(199, 500), tmp_path / "few").status == "not found"
    assert answer(RULE, steps(400, 500, begin_us=300), tmp_path / "hidden").status == "not found"


@pytest.mark.slow
def test_copies_whose_size_is_not_recorded_are_copies(tmp_path: Path) -> None:
    """The profiler of a TPU records times alone."""
    given = training()
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 10, start + 310, stream=9)
        given.kernel("k", start + 310, start + 800)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 300_000)
    assert "1.0 copies. Overlap" in found.problem


def test_one_copy_of_a_recording_is_a_guess(tmp_path: Path) -> None:
    given = Given()
    given.copy("HtoD", 0, 500, src_kind="pinned", dst_kind="device", size_bytes=1_000_000)
    given.kernel("k", 500, 1000)
    assert answer(RULE, given, tmp_path).confidence.startswith("low: one copy of 0.500 ms")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


def test_what_is_brought_to_the_device_before_its_first_kernel_is_a_guess(tmp_path: Path) -> None:
    given = Given()
    for start in (0, 500, 1000):
        given.copy("HtoD", start, start + 400, src_kind="pageable", dst_kind="device", size_bytes=1_000_000)
    given.kernel("ampere_sgemm_128x64_nn", 1450, 2000)
    found = answer(RULE, given, tmp_path)
    assert found.confidence.startswith("low: 1.200 ms of it are before the first kernel")
