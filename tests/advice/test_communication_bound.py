"""Communication against computing: more or less."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from advised import answer, training
from asked import connected
from given import Given, write
from jobs import Job

from traceview.analysis import advice

pytestmark = pytest.mark.slow

RULE = "communication_bound"


def steps(exchange_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        at = start + 250
        given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", at, at + exchange_us, start + 2, stream=9)
    return given


def test_more_than_computing_is_found_with_what_nothing_hides(tmp_path: Path) -> None:
    found = answer(RULE, steps(201), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 151_000)
    assert found.problem == "Collectives run for 0.201 ms, computing takes 0.200 ms."


def test_of_several_ranks_it_is_known_how_much_is_waiting(tmp_path: Path) -> None:
    write(tmp_path, *Job(compute=10.0, transfer=300.0, late=lambda step, rank: 60.0 if rank == 1 else 0.0).build())
    with connected(tmp_path) as connection:
        for rule, part in ((RULE, "0.060 ms of them"), ("exposed_communication", "up to 0.060 ms of it")):
            (found,) = advice.run(connection, advice.load([rule]))
            assert found.confidence == f"high for the time{'s' * (rule == RULE)}; {part} is waiting for other ranks"


@pytest.mark.parametrize(
    ("rule", "part"), [(RULE, "0.117 ms of them"), ("exposed_communication", "up to 0.117 ms of it")]
)
def test_the_waiting_is_a_part_of_the_time_also_where_not_all_steps_tell_of_it(
    rule: str, part: str, tmp_path: Path
) -> None:
    """Rank 1 is late in the seven steps of twelve that it recorded: of 147 us per step 200 were said to be waiting."""
    job = Job(ranks=2, steps=12, compute=100, transfer=30, buckets=1, numbered=False)
    job.late = lambda step, rank: 200.0 * (rank == 1 and step < 7)
    job.recorded_steps = lambda rank: 7 if rank == 1 else None
    write(tmp_path, *job.build())
    with connected(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([rule]), {"comm_to_compute_pct": "10"} if rule == RULE else {})
    assert (found.rank, found.evidence[0].split(", exposed")[0].split(", 1.00")[0]) == (
        0, "all_reduce: 1.0 calls, 0.147 ms",
    )  # fmt: skip
    assert found.confidence.endswith(f"{part} is waiting for other ranks, known of 7 of 12 calls")


def test_asked_alone_its_bound_is_without_the_waiting(tmp_path: Path) -> None:
    """Nothing hides two collectives of 300 us per step, in the first of which three ranks wait 60 us more."""
    write(tmp_path, *Job(compute=10.0, transfer=300.0, late=lambda step, rank: 60.0 * (rank == 1)).build())
    with connected(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
    assert (found.problem, found.saving_ns) == ("Collectives run for 0.660 ms, computing takes 0.110 ms.", 600_000)


@pytest.mark.parametrize(("late_us", "transfer_us", "is_found"), [(200.0, 100.0, False), (0.0, 300.0, True)])
def test_waiting_for_a_slow_rank_is_no_communication(
    tmp_path: Path, late_us: float, transfer_us: float, is_found: bool
) -> None:
    """In the first collective of a step 200 of 300 us are waiting; each rank computes 210 us."""
    job = Job(compute=160.0, transfer=transfer_us, buckets=1, late=lambda step, rank: late_us * (rank == 1))
    write(tmp_path, *job.build())
    with connected(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
    assert (found.status == "found") == is_found


@pytest.mark.parametrize("is_hung", [False, True])
def test_where_a_trace_is_missing_how_much_is_waiting_is_not_known(tmp_path: Path, is_hung: bool) -> None:
    """The confidence was high, and the first screen said to change `bucket_cap_mb`."""
    made = Job(
        ranks=8, compute=10.0, transfer=300.0, size_bytes=9000, absent=lambda n, rank: is_hung and (n, rank) == (11, 2)
    )
    few = {"bucket_per_step": "1", "bucket_step_pct": "0"}
    rules = {RULE: {}, "exposed_communication": {"exposed_step_pct": "0"}, "small_buckets": few}
    for absent in ((), (5,)):
        write(tmp_path / f"{absent}", *(given for given in made.build() if given.rank not in absent), world_size=8)
        with connected(tmp_path / f"{absent}") as connection:
            for rule, params in rules.items():
                (said,) = advice.run(connection, advice.load([rule]), params)
                assert (said.status, said.saving_ns is not None) == ("found", True)
                missing = "low: the trace of rank 5 is missing: how much of it is waiting is not known"
                assert said.confidence == missing if absent else said.confidence.startswith("high")


def test_waiting_in_few_of_the_steps_is_not_that_of_all(tmp_path: Path) -> None:
    """Rank 1 is late in the two steps of twelve that rank 0 recorded; in the others the ranks only move bytes."""
    job = Job(ranks=3, steps=12, compute=150, transfer=280, buckets=1, numbered=False)
    job.late = lambda step, rank: 200.0 * (rank == 1 and step < 2)
    job.recorded_steps = lambda rank: 2 if rank == 0 else None
    write(tmp_path, *job.build())
    with connected(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
    # Of rank 2: 200 us of 480 in the two steps, of 313 us on average, where it computes 200 us.
    assert (found.status, found.n_ranks) == ("found", 3)


@pytest.mark.parametrize("rule", [RULE, "exposed_communication"])
def test_what_to_change_exists_for_sharded_models_too(rule: str) -> None:
    """A module that fully_shard made has neither no_sync() nor hooks of communication."""
    sharded = pytest.importorskip("torch.distributed.fsdp")
    own = {*dir(sharded.FSDPModule), *inspect.signature(sharded.fully_shard).parameters}
    (loaded,) = advice.load([rule])
    for key in ("pytorch", "pytorch_cpu"):
        text = loaded.extra["fix"][key].partition("fully_shard: ")[2]
        named = set(re.findall(r"set_[a-z_]+|reshard_after_forward", text))
        assert {"set_requires_gradient_sync", "reshard_after_forward"} <= named <= own


def test_less_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(199), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no communication.")
