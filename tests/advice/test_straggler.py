"""One rank that is late: on both sides of half of the collectives, and of two hundredths of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, write
from jobs import Job

from traceview.analysis import advice
from traceview.analysis.model import Finding
from traceview.store import views

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
        "Rank 1 is the last in 6 of 6 collectives where one rank is clearly last, by a median of 0.060 ms; the "
        "others wait 0.060 ms per step for it."
    )
    assert found.place == "Mostly in data loading, on rank 1"
    assert found.evidence[0] == "data loading: 0.060 ms per step longer than the median of the others"


@pytest.mark.long
def test_too_little_of_the_step(tmp_path: Path) -> None:
    assert answer(tmp_path, Job(late=lambda step, rank: 19.0 if rank == 1 else 0.0)).status == "not found"


def test_ranks_that_are_late_in_turns_are_none(tmp_path: Path) -> None:
    assert answer(tmp_path, Job(late=lambda step, rank: 60.0 if rank == step % 3 else 0.0)).status == "not found"


@pytest.mark.long
def test_one_rank_cannot_tell(tmp_path: Path) -> None:
    found = answer(tmp_path, Job(ranks=1))
    assert (found.status, found.reason[:42]) == ("cannot tell", "no collective could be matched across rank")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    write(tmp_path, Given())
    rules = advice.load([RULE])
    with views.connect(tmp_path) as connection:
        assert advice.run(connection, rules)[0].status == "cannot tell"
