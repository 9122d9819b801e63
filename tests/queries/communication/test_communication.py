"""Exposed communication is what no computing on the same rank covers."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given, pick, section, write

DDP = "samples/kineto/torch-2.13.0-lenet-ddp-cpu"

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SGEMM = "ampere_sgemm_128x64_nn"


def test_what_computing_covers_is_hidden_and_counted_once(tmp_path: Path) -> None:
    given = Given()
    given.kernel(SGEMM, 0, 10)
    given.kernel(SGEMM, 5, 12, stream=8)  # overlaps the first: still one cover
    given.kernel(REDUCE, 8, 20, stream=9)
    found = section(given.open(tmp_path), "communication/summary")
    assert pick(found, "busy_ns", "hidden_ns", "exposed_ns") == [(12_000, 4_000, 8_000)]
    assert found[0]["exposed_pct"] == 100 * 8 / 12
    assert found[0]["window_pct"] == 100 * 12 / 20


@pytest.mark.long
def test_two_collectives_at_once_are_one_time_of_communication(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10, stream=9)
    given.kernel(GATHER, 5, 15, stream=10)
    given.kernel(SGEMM, 12, 20)
    connection = given.open(tmp_path)
    found = section(connection, "communication/summary")
    assert pick(found, "calls", "busy_ns", "hidden_ns", "exposed_ns") == [(2, 15_000, 3_000, 12_000)]
    kinds = section(connection, "communication/kinds")
    assert pick(kinds, "kind", "total_ns", "exposed_ns") == [
        ("all_gather", 10_000, 2_000),
        ("all_reduce", 10_000, 10_000),
    ]


@pytest.mark.long
def test_a_copy_does_not_hide_communication(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10)
    given.copy("HtoD", 0, 10, stream=8, size_bytes=4)
    assert pick(section(given.open(tmp_path), "communication/summary"), "exposed_ns") == [(10_000,)]


@pytest.mark.long
def test_another_rank_does_not_hide_communication(tmp_path: Path) -> None:
    first, second = Given(0), Given(1)
    first.kernel(REDUCE, 0, 10)
    second.kernel(SGEMM, 0, 10)
    write(tmp_path, first, second)
    found = section(connected(tmp_path), "communication/summary")
    assert pick(found, "rank", "exposed_ns") == [(0, 10_000)]


def test_bus_bandwidth_of_a_ring(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10, id=77)
    given.add(
        "collectives", kernel_id=77, kind="allreduce", size_bytes=1_000_000, group_size=4, start_ns=0, dur_ns=10_000
    )
    (row,) = section(given.open(tmp_path), "communication/kinds")
    assert (row["kind"], row["group_size"]) == ("all_reduce", 4)
    assert row["algorithm_bytes_per_s"] == 1e11
    assert row["bus_bytes_per_s"] == 1.5e11


@pytest.mark.long
def test_bus_bandwidth_of_a_gathering_ring_counts_what_all_ranks_give(tmp_path: Path) -> None:
    given = Given()
    given.kernel(GATHER, 0, 10, id=77)
    facts = {"kind": "_allgather_base", "size_bytes": 1_000_000, "group_size": 4}
    given.add("collectives", kernel_id=77, start_ns=0, dur_ns=10_000, **facts)
    (row,) = section(given.open(tmp_path), "communication/kinds")
    # Each rank gives 1 MB and is sent that of the three others.
    assert (row["kind"], row["algorithm_bytes_per_s"], row["bus_bytes_per_s"]) == ("all_gather", 1e11, 3e11)


def test_gloo_averages_all_gradients_once_a_step(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / DDP)
    per_step = """SELECT c.rank, s.step, count(*), sum(c.size_bytes), any_value(c.group_size), any_value(c.kind),
            any_value(c.dtype)
        FROM collectives c JOIN steps s ON s.rank = c.rank AND c.start_ns BETWEEN s.start_ns AND s.end_ns
        GROUP BY ALL ORDER BY ALL"""
    # DistributedDataParallel sends LeNet's 431,080 gradients in two buckets.
    expected = [(rank, step, 2, 431_080 * 4, 2, "all_reduce", "float") for rank in (0, 1) for step in (5, 6)]
    assert connection.execute(per_step).fetchall() == expected


def test_what_gloo_does_beside_the_main_thread_is_hidden_or_exposed(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / DDP)
    # Worked out once more, moment by moment instead of by sums of intervals: 20 microseconds a moment.
    moments = """WITH moment AS (
            SELECT rank, unnest(range(min(start_ns), max(end_ns), 20000)) AS at FROM collectives GROUP BY rank
        )
        SELECT m.rank, count(*) * 20000,
            count(*) FILTER (EXISTS (SELECT 1 FROM activities a WHERE a.rank = m.rank AND a.category <> 'communication'
                AND a.start_ns <= m.at AND m.at < a.end_ns)) * 20000
        FROM moment m
        WHERE EXISTS (SELECT 1 FROM collectives c WHERE c.rank = m.rank AND c.start_ns <= m.at AND m.at < c.end_ns)
        GROUP BY ALL ORDER BY ALL"""
    sampled = connection.execute(moments).fetchall()
    found = section(connection, "communication/summary")
    for (rank, busy_ns, hidden_ns), row in zip(sampled, found, strict=True):
        assert (row["rank"], row["calls"], row["size_bytes"]) == (rank, 4, 2 * 431_080 * 4)
        assert row["hidden_ns"] + row["exposed_ns"] == row["busy_ns"]
        assert abs(row["busy_ns"] - busy_ns) < 0.01 * busy_ns
        assert abs(row["hidden_ns"] - hidden_ns) < 0.01 * busy_ns
        assert 0 < row["hidden_ns"] < row["busy_ns"]
