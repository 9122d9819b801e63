"""Launch overhead, queue delay and short kernels."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section


def test_the_queue_delay_counts_where_it_is_positive(tmp_path: Path) -> None:
    given = Given()
    given.kernel("waits", 10, 30, launched=1)  # the call lasts 1 us, so it waits 8 us
    given.kernel("starts within its call", 40, 44, launched=39.5)
    given.kernel("unlinked", 50, 60)
    (row,) = section(given.open(tmp_path), "launches/summary")
    assert (row["kernels"], row["linked"], row["launches"], row["launch_ns"]) == (3, 2, 2, 2_000)
    assert (row["queue_median_ns"], row["queue_max_ns"]) == (8_000, 8_000)
    assert (row["short"], row["short_pct"]) == (1, 100 / 3)
    assert row["short_time_pct"] == 100 * 4 / 34


def test_the_limit_of_a_short_kernel_is_a_parameter(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::add", 0, 20)
    given.kernel("k", 10, 30, launched=1)
    connection = given.open(tmp_path)
    assert section(connection, "launches/short") == []
    found = section(connection, "launches/short", short_ns=20_001)
    assert pick(found, "operator", "short", "launch_ns") == [("aten::add", 1, 1_000)]


def test_a_call_that_launches_several_kernels_is_one_time(tmp_path: Path) -> None:
    given = Given()
    graph = given.launch(0, "cudaGraphLaunch", 5)
    for at, name in ((10, "node"), (12, "node"), (14, "fill"), (16, "fill"), (30, "node")):
        given.kernel(name, at, at + (15 if at == 30 else 1))
        given.rows["kernels"][-1]["correlation"] = graph
    connection = given.open(tmp_path)
    assert pick(section(connection, "launches/short"), "short", "launch_ns") == [(2, 2_000), (2, 2_000)]
    (row,) = section(connection, "launches/summary")
    assert (row["linked"], row["launches"], row["launch_ns"]) == (5, 1, 5_000)
    # The others wait for the first, not in the queue.
    assert (row["queue_mean_ns"], row["queue_max_ns"]) == (5_000, 5_000)


def test_calls_by_name(tmp_path: Path) -> None:
    given = Given()
    given.launch(0, "cudaLaunchKernel", 3)
    given.launch(10, "cudaMemcpyAsync", 9)
    found = section(given.open(tmp_path), "launches/calls")
    assert pick(found, "name", "share_pct") == [("cudaMemcpyAsync", 75.0), ("cudaLaunchKernel", 25.0)]
