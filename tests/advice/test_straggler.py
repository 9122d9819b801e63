"""Ranks that are late: a rank, a host, and neither by chance nor by less than two hundredths of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, write
from jobs import Job

from traceview.analysis import advice
from traceview.analysis.model import Finding
from traceview.store import views

pytestmark = pytest.mark.slow

RULE = "straggler"


def answer(folder: Path, job: Job) -> Finding:
    write(folder, *job.build())
    rules = advice.load([RULE])
    with views.connect(folder) as connection:
        (said,) = advice.run(connection, rules)
    return said


def test_a_rank_that_is_late_in_every_step(tmp_path: Path) -> None:
    found = answer(tmp_path, Job(late=lambda step, rank: 60.0 if rank == 1 else 0.0, why="data"))
    assert (found.status, found.rank, found.saving_ns) == ("found", 1, 60_000)
    assert found.problem == (
        "Rank 1 comes after the others in 6 of 6 steps; these wait up to 0.060 ms per step for it."
    )
    assert found.place == "Mostly in data loading, on rank 1"
    assert found.evidence[0] == "data loading: 0.060 ms per step longer than the median of the others"


def test_a_host_that_is_late_and_no_more_than_what_it_does_longer(tmp_path: Path) -> None:
    """Both of its buckets are waited for; what it computes longer is less than that."""
    job = Job(ranks=8, host=lambda rank: f"node{rank // 4}", slow=lambda step, rank: 1.2 if rank >= 4 else 1.0)
    found = answer(tmp_path, job)
    assert (found.status, found.rank, found.saving_ns) == ("found", 4, 60_000)
    assert found.problem.startswith("Ranks 4 to 7 (host node1) come after the others in 6 of 6 steps")
    assert found.place == "Mostly in gemm, on ranks 4 to 7 (host node1)"


@pytest.mark.long
def test_too_little_of_the_step(tmp_path: Path) -> None:
    assert answer(tmp_path, Job(late=lambda step, rank: 19.0 if rank == 1 else 0.0)).status == "not found"


def test_ranks_that_are_late_in_turns_are_none(tmp_path: Path) -> None:
    assert answer(tmp_path, Job(late=lambda step, rank: 60.0 if rank == step % 3 else 0.0)).status == "not found"


@pytest.mark.parametrize(("steps", "status"), [(2, "cannot tell"), (6, "found"), (9, "found")])
def test_where_most_calls_are_not_matched_no_rank_is_cleared(tmp_path: Path, steps: int, status: str) -> None:
    """Rank 2 is late in each of twelve steps; rank 1 recorded only the first of them, so the others match nothing."""
    job = Job(steps=12, numbered=False, late=lambda step, rank: 60.0 if rank == 2 else 0.0)
    job.recorded_steps = lambda rank: steps if rank == 1 else None
    found = answer(tmp_path, job)
    assert found.status == status
    if status == "found":
        assert (found.rank, found.saving_ns) == (2, 60_000)
    else:
        assert found.reason == (
            "20 of 24 collectives of rank 0 are in no step whose collectives are matched on all ranks: who comes last "
            "there is not known."
        )


@pytest.mark.long
def test_one_rank_cannot_tell(tmp_path: Path) -> None:
    found = answer(tmp_path, Job(ranks=1))
    assert (found.status, found.reason[:42]) == ("cannot tell", "no collective could be matched across rank")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    write(tmp_path, Given())
    rules = advice.load([RULE])
    with views.connect(tmp_path) as connection:
        assert advice.run(connection, rules)[0].status == "cannot tell"
