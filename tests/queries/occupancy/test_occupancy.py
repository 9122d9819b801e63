"""A grid fills a device if it has as many threads as can be resident."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from advised import answer
from given import Given, pick, rows, section

GRID = {"grid_y": 1, "grid_z": 1, "block_y": 1, "block_z": 1}


def test_threads_against_what_the_device_holds(tmp_path: Path) -> None:
    given = Given()
    given.device("V100", n_cores=80, max_threads_per_core=2048)
    given.kernel("full", 0, 10, grid_x=1280, block_x=128, occupancy_pct=50.0, **GRID)
    given.kernel("short of one block", 10, 20, grid_x=1279, block_x=128, occupancy_pct=100.0, **GRID)
    given.kernel("few blocks", 20, 40, grid_x=79, block_x=1024, **GRID)
    given.kernel("not recorded", 40, 50)
    given.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, 60, grid_x=1, block_x=512, **GRID)
    connection = given.open(tmp_path)
    (row,) = section(connection, "occupancy/summary")
    assert (row["capacity"], row["kernels"], row["unfilled"], row["unfilled_ns"]) == (163_840, 3, 2, 30_000)
    assert (row["time_pct"], row["few_blocks_pct"], row["occupancy_pct"]) == (75.0, 50.0, 75.0)
    kernels = section(connection, "occupancy/kernels")
    assert pick(kernels, "name", "threads", "time_pct") == [
        ("few blocks", 79 * 1024, 50.0),
        ("short of one block", 1279 * 128, 25.0),
    ]
    assert sum(kernel["time_pct"] for kernel in kernels) == row["time_pct"]


def test_a_damaged_grid_takes_no_answer_away(tmp_path: Path) -> None:
    given = Given()
    given.device("V100", n_cores=80, max_threads_per_core=2048, architecture="7.0")
    for at, size in ((0, 2**31 - 1), (10, 2**62)):
        grid = {"grid_x": size, "grid_y": 65535, "grid_z": 65535, "block_x": size, "block_y": 1, "block_z": 1024}
        given.kernel("volta_sgemm_64x64_nn", at, at + 10, registers=32, shared_bytes=0, **grid)
    given.kernel("few blocks", 20, 40, grid_x=79, block_x=1024, **GRID)
    given.kernel("no blocks", 40, 50, grid_x=-5, block_x=1024, **GRID)
    connection = given.open(tmp_path)
    (row,) = section(connection, "occupancy/summary")
    assert (row["kernels"], row["unfilled"], row["few_blocks_pct"]) == (3, 1, 50.0)
    assert pick(section(connection, "occupancy/kernels"), "name") == [("few blocks",)]
    assert rows(connection, "SELECT waves FROM waves") == []
    assert answer("small_grids", given, tmp_path / "again").status == "not found"


@pytest.mark.shared
def test_an_old_trace_without_the_size_of_its_device(shared: Path, captures: Any) -> None:
    """nvprof names a GTX 980: 16 multiprocessors that hold 2048 threads each."""
    connection = captures.open(shared / "traces/nvprof/gtx980-tf-alexnet-old.txt.gz")
    (row,) = section(connection, "occupancy/summary")
    assert (row["name"], row["capacity"]) == ("GeForce GTX 980", 16 * 2048)
    assert row["size_from"].startswith("NVIDIA GeForce GTX 980 specifications")
    assert 0 < row["unfilled"] < row["kernels"] == 3372
    for kernel in section(connection, "occupancy/kernels"):
        assert 0 < kernel["threads"] < 16 * 2048


def test_a_device_of_unknown_size_is_left_out(tmp_path: Path) -> None:
    given = Given()
    given.device("V100")
    given.kernel("k", 0, 10, grid_x=1, block_x=32, **GRID)
    assert section(given.open(tmp_path), "occupancy/summary") == []
