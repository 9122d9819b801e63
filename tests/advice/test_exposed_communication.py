"""Communication: on both sides of a tenth of the step, and hidden by computing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from advised import answer, training
from asked import connected
from given import Given, section, write
from jobs import Job

from traceview.analysis import advice

RULE = "exposed_communication"


def steps(exchange_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        given.kernel(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", start + 250, start + 300 + exchange_us, start + 2, stream=9
        )
    return given


def test_above_the_threshold_what_nothing_hides_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(101), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 101_000, "Mostly in all_reduce")
    assert found.problem == "Collectives run for 0.151 ms, of which 0.101 ms while nothing computes."


def test_an_inference_engine_is_not_told_to_change_gradients(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        given.span("user", "step[DECODE bs=4]", start, start + 990)
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", start + 300, start + 700, launched=start + 2)
    found = answer(RULE, given, tmp_path)
    assert found.status == "found" and found.fix.startswith("fewer ranks for one copy of the model")
    assert not re.search("DistributedDataParallel|no_sync", found.fix)


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(99), tmp_path).status == "not found"


@pytest.mark.long
def test_of_processes_on_cpus_it_is_found_too(tmp_path: Path) -> None:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.op("aten::mm", start, start + 600)
        given.collective("gloo:all_reduce", start + 500, start + 800, kind="all_reduce", size_bytes=4000, group_size=2)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 200_000, "Mostly in all_reduce")
    assert found.problem.endswith("0.200 ms while no recorded operator runs.") and "nccl" not in found.fix


def test_where_no_operator_was_recorded_in_a_step_it_is_not_known_what_hides_it(tmp_path: Path) -> None:
    given = training(device=None)
    given.collective("gloo:all_reduce", 500, 800, kind="all_reduce", size_bytes=4000, group_size=2)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no timed work on a device.")


@pytest.mark.long
def test_a_kind_that_is_not_told_is_no_place(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 300, launched=start + 1)
        given.kernel("ncclDevKernel_Generic(ncclDevComm*)", start + 400, start + 800, start + 2, stream=9)
    assert (answer(RULE, given, tmp_path).status, answer(RULE, given, tmp_path / "again").place) == ("found", "")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no communication.")


@pytest.mark.long
def test_a_collective_in_two_steps_at_once_counts_in_the_later_one_alone(tmp_path: Path) -> None:
    """As where two threads mark their steps: each moment is of the later one, 900, 900 and 1,000 us."""
    given = Given()
    for number, start in enumerate((0, 900, 1800)):
        given.span("step", f"step {number}", start, start + 1000)
        given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", start + 950, start + 970, start + 2, stream=9)
    found = answer(RULE, given, tmp_path, exposed_step_pct="1")
    assert (found.status, found.saving_ns) == ("found", 20_000)
    with connected(tmp_path) as connection:
        assert (
            connection.execute("SELECT is_counted, per, step_ns FROM exchanges").fetchall() == [(True, 3, 933_333)] * 3
        )
        (alone, _) = section(connection, "whatif/prediction", costs="communication")
        assert alone["removed_ns"] == 20_000


def test_what_a_stage_waits_for_a_message_is_no_sure_cost_of_communication(tmp_path: Path) -> None:
    """Rank 1 is in twelve receives of 40 us while rank 0 computes what it sends; one all-reduce ends a step."""
    stages = []
    for rank, (kind, lasting) in enumerate([("send", 2), ("recv", 40)]):
        given, number = Given(rank), 0
        for start in (0, 1000, 2000, 3000):
            given.span("step", f"step#{start // 1000 + 1}", start, start + 1000)
            calls = [(kind, start + 60 * (nth + 1), lasting, 100_000) for nth in range(12)]
            for what, end, each, size_bytes in [*calls, ("allreduce", start + 900, 50, 4)]:
                number += 1
                given.kernel("ampere_sgemm_128x64_nn", end - 59, end - each - 1, launched=end - 60)
                given.kernel("ncclDevKernel(int)", end - each, end, launched=end - 58, id=1000 + number, stream=9)
                times = {"start_ns": (end - each) * 1000, "dur_ns": each * 1000}
                facts = {"group_name": "0", "group_size": 2, "sequence": number, "size_bytes": size_bytes}
                given.add("collectives", name="nccl", kernel_id=1000 + number, kind=what, **facts, **times)
        stages.append(given)
    write(tmp_path, *stages)
    rules = advice.load([RULE, "communication_bound", "small_buckets"])
    with connected(tmp_path) as connection:
        found = {said.rule: said for said in advice.run(connection, rules)}
    assert (found[RULE].rank, found[RULE].saving_ns) == (1, 530_000)
    for rule in (RULE, "communication_bound"):
        assert found[rule].confidence == (
            "low: most of the exposed communication time of rank 1 is in recv, of which no call is matched across "
            "ranks: how much of it is waiting is not known"
        )
    assert found["small_buckets"].status == "not found", "no bucket joins messages of micro-batches"


@pytest.mark.parametrize("is_hidden", [True, False])
def test_messages_count_where_nothing_hides_them_and_never_for_collectives(tmp_path: Path, is_hidden: bool) -> None:
    """A message of 148 us beneath a kernel or in a gap; eleven matched all-reduces of 12 us are exposed."""
    job = Job(ranks=2, compute=150.0, buckets=11, transfer=12.0, size_bytes=4000).build()
    for given, what in zip(job, ("send", "recv"), strict=True):
        for number, step in enumerate(given.rows["ranges"]):
            start, kernel = step["start_ns"] / 1000 + (11 if is_hidden else 845), 3_000_000 + 1000 * given.rank + number
            given.kernel("ncclDevKernel_SendRecv(int)", start, start + 148, start - 5, stream=21, id=kernel)
            facts = {"kind": what, "group_name": "1", "group_size": 2, "sequence": number, "size_bytes": 100_000}
            times = {"start_ns": round(start * 1000), "dur_ns": 148_000}
            given.add("collectives", name="nccl", kernel_id=kernel, **facts, **times)
    write(tmp_path, *job)
    rules = advice.load([RULE, "small_buckets", "straggler", "rank_skew"])
    with connected(tmp_path) as connection:
        found = {said.rule: said for said in advice.run(connection, rules)}
    assert (found[RULE].saving_ns, found["small_buckets"].saving_ns) == (132_000 if is_hidden else 280_000, 132_000)
    assert found[RULE].confidence.startswith(
        "high for the time; up to 0.000 ms of it is waiting for other ranks, known of 66 of 72 calls"
        if is_hidden
        else "low: most of the exposed communication time of rank 0 is in send"
    )
    assert found["small_buckets"].confidence.startswith("high for sizes and times")
    assert found["straggler"].status == found["rank_skew"].status == ("not found" if is_hidden else "cannot tell")
