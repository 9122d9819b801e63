"""A rank that never enters a collective in which the others wait: found, not found, cannot tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given, write
from jobs import Job

from traceview.analysis import advice
from traceview.analysis.model import Finding

pytestmark = pytest.mark.slow


def answer(folder: Path, *made: Given, world_size: int | None = None) -> Finding:
    write(folder, *made, world_size=world_size)
    with connected(folder) as connection:
        (said,) = advice.run(connection, advice.load(["absent_rank"]))
    return said


def hung(number: int, rank: int) -> bool:
    return (number, rank) == (11, 2)


def test_a_hang_is_found_with_its_time_and_what_the_rank_did_last(tmp_path: Path) -> None:
    said = answer(tmp_path, *Job(absent=hung).build())
    assert said.status == "found" and said.saving_ns == 600_000_000_000
    assert said.problem == "Rank 2 never entered all_reduce 11 of group 0; 3 ranks wait in it."
    assert said.confidence.startswith("high") and said.n_ranks == 3
    assert "last on its device: ampere_sgemm_128x64_nn" in said.evidence


def test_a_hang_after_the_last_step_is_a_share_of_the_recording(tmp_path: Path) -> None:
    """It was up to 100 % of a step of a millisecond, though no step has any of it."""
    made = Job(absent=hung).build()
    for given in made:
        given.rows["ranges"] = [row for row in given.rows["ranges"] if row["name"] != "step#6"]
    said = answer(tmp_path, *made)
    assert (said.saving_ns, said.step_ns, said.of) == (600_000_000_000, None, "the recording, once")
    assert said.run_ns == pytest.approx(600_006_000_000, abs=1_000_000)
    assert said.saving_pct == pytest.approx(99.999, abs=0.001)


def test_a_rank_without_a_trace_is_named_with_low_confidence(tmp_path: Path) -> None:
    made = [given for given in Job(absent=hung).build() if given.rank != 2]
    said = answer(tmp_path, *made, world_size=4)
    assert said.status == "found" and said.confidence.startswith("low")
    assert "Rank 2 (without a readable trace) may never have entered all_reduce 11" in said.problem


def test_of_two_that_one_call_waits_for_the_one_that_is_recorded_is_named(tmp_path: Path) -> None:
    made = [given for given in Job(absent=hung).build() if given.rank != 1]
    said = answer(tmp_path, *made, world_size=4)
    assert said.problem == "Rank 2 never entered all_reduce 11 of group 0; 2 ranks wait in it."
    assert said.confidence.startswith("high")


def test_where_a_trace_is_missing_that_none_is_awaited_is_not_known(tmp_path: Path) -> None:
    """It was among what is no problem, though nothing of that rank is recorded."""
    made = [given for given in Job(ranks=8).build() if given.rank != 3]
    said = answer(tmp_path / "one", *made, world_size=8)
    assert (said.status, said.record) == ("cannot tell", "every rank of one run, in one folder")
    assert said.reason.startswith("the trace of rank 3 is missing: which collectives were entered there is not known")
    more = answer(tmp_path / "more", *(given for given in made if given.rank != 6), world_size=8)
    assert more.reason.startswith("the traces of ranks 3, 6 are missing: ")
    many = answer(tmp_path / "many", *(given for given in Job(ranks=2).build()), world_size=16)
    assert many.reason.startswith("the traces of ranks 2, 3, 4, 5, 6, 7, 8, 9 and 6 more are missing: ")


def test_nothing_is_found_where_all_enter_or_the_wait_is_short(tmp_path: Path) -> None:
    assert answer(tmp_path / "all", *Job().build()).status == "not found"
    assert answer(tmp_path / "short", *Job(absent=hung, gives_up=900_000.0).build()).status == "not found"


def test_one_rank_cannot_tell(tmp_path: Path) -> None:
    assert answer(tmp_path, *Job(ranks=1).build()).status == "cannot tell"
