"""Ranks that wait for each other in turns: on both sides of a twentieth of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import write
from jobs import Job

from traceview.analysis import advice
from traceview.analysis.model import Finding
from traceview.store import views


def answers(folder: Path, job: Job, *names: str) -> dict[str, Finding]:
    write(folder, *job.build())
    rules = advice.load(names)
    with views.connect(folder) as connection:
        return {said.rule: said for said in advice.run(connection, rules)}


@pytest.mark.slow
def test_in_turns(tmp_path: Path) -> None:
    job = Job(ranks=3, late=lambda step, rank: 90.0 if rank == step % 3 else 0.0)
    found = answers(tmp_path, job, "rank_skew")["rank_skew"]
    # Each rank waits in four of six steps, and nothing computes beside its collectives.
    assert (found.status, found.n_ranks, found.saving_ns) == ("found", 3, 60_000)
    assert found.problem == (
        "Of 0.260 ms in collectives per step 0.060 ms are waiting for the last rank, of which up to 0.060 ms exposed."
    )
    assert found.place == "Mostly in all_reduce"


def test_that_waiting_is_known_of_some_calls_alone_is_said(tmp_path: Path) -> None:
    """Each second call is a broadcast, which is not matched: a rank that waits in these was said to wait little."""
    job = Job(ranks=2, late=lambda step, rank: 300.0 if rank == step % 2 else 0.0)
    given = job.build()
    for rank in given:
        for number, row in enumerate(rank.rows["collectives"]):
            row["kind"] = "broadcast" if number % 2 else row["kind"]
    write(tmp_path, *given)
    with views.connect(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load(["rank_skew"]))
    assert found.confidence == (
        "high for the waiting, known of 6 of 12 calls; some rank is always last, whatever is changed"
    )


@pytest.mark.slow
def test_below_the_threshold(tmp_path: Path) -> None:
    job = Job(ranks=3, late=lambda step, rank: 70.0 if rank == step % 3 else 0.0)
    assert answers(tmp_path, job, "rank_skew")["rank_skew"].status == "not found"


@pytest.mark.slow
@pytest.mark.parametrize(("late", "status"), [(90.0, "found"), (0.0, "cannot tell")])
def test_where_most_calls_are_not_matched_waiting_is_of_the_others(tmp_path: Path, late: float, status: str) -> None:
    """Rank 0 recorded two of twelve steps, without sequence numbers."""
    job = Job(ranks=3, steps=12, numbered=False, late=lambda step, rank: late * (rank == 1))
    job.recorded_steps = lambda rank: 2 if rank == 0 else None
    found = answers(tmp_path, job, "rank_skew")["rank_skew"]
    unknown = "20 of 24 collectives of rank {} are in no step whose collectives are matched on all ranks"
    if status == "found":
        # Rank 0 waits as long, in all that it recorded.
        assert (found.status, found.rank, found.n_ranks, found.saving_ns) == (status, 0, 2, 90_000)
    else:
        assert (found.status, found.reason) == (
            status, f"{unknown.format(1)}: how much of it is waiting is not known.",
        )  # fmt: skip


@pytest.mark.long
def test_one_late_rank_is_said_once(tmp_path: Path) -> None:
    job = Job(ranks=3, late=lambda step, rank: 90.0 if rank == 1 else 0.0)
    found = answers(tmp_path, job, "rank_skew", "straggler")
    assert (found["straggler"].saving_ns, found["rank_skew"].saving_ns) == (90_000, None)
    assert found["rank_skew"].problem.endswith("What that can give is in straggler: it is the same time.")


@pytest.mark.slow
def test_a_rank_that_is_last_in_all_of_too_few_steps_is_not_cleared(tmp_path: Path) -> None:
    """By chance one of two ranks is the last in four steps of four in one case of eight."""
    job = Job(ranks=2, steps=4, buckets=1, late=lambda step, rank: 90.0 if rank == 1 else 0.0)
    found = answers(tmp_path, job, "rank_skew", "straggler")
    assert (found["straggler"].status, found["straggler"].record) == ("cannot tell", "more steps")
    assert found["straggler"].reason == (
        "rank 1 comes after the others in 4 of 4 steps, too few to tell that from chance: 6 such would."
    )
    assert found["rank_skew"].problem.endswith(" exposed. In 4 of 4 collectives the last is rank 1.")


def test_one_rank_cannot_tell(tmp_path: Path) -> None:
    assert answers(tmp_path, Job(ranks=1), "rank_skew")["rank_skew"].status == "cannot tell"
