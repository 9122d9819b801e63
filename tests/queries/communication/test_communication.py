"""Exposed communication is what no computing on the same rank covers."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section, write

from traceview import capture

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


def test_a_copy_does_not_hide_communication(tmp_path: Path) -> None:
    given = Given()
    given.kernel(REDUCE, 0, 10)
    given.copy("HtoD", 0, 10, stream=8, size_bytes=4)
    assert pick(section(given.open(tmp_path), "communication/summary"), "exposed_ns") == [(10_000,)]


def test_another_rank_does_not_hide_communication(tmp_path: Path) -> None:
    first, second = Given(0), Given(1)
    first.kernel(REDUCE, 0, 10)
    second.kernel(SGEMM, 0, 10)
    write(tmp_path, first, second)
    found = section(capture.connect(tmp_path), "communication/summary")
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
