"""Blocks against cores: fewer or as many, and how much such kernels weigh."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "small_grids"


def steps(blocks: int, small_us: float = 100) -> Given:
    given = training()
    given.rows["devices"][0].update(n_cores=108, max_threads_per_core=2048)
    for start in (0, 1000, 2000):
        given.kernel(
            "ampere_sgemm_32x32_nn", start + 10, start + 10 + small_us, start + 1, grid_x=blocks, grid_y=1, grid_z=1
        )
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 900, start + 2, grid_x=40, grid_y=40, grid_z=1)
    return given


@pytest.mark.slow
def test_the_share_of_idle_cores_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(9), tmp_path)
    assert (found.status, found.saving_ns) == ("found", round(100_000 * (1 - 9 / 108)))
    assert found.problem == "1.0 kernels with fewer blocks than the device has cores (108) take 0.100 ms."


@pytest.mark.slow
def test_cores_with_blocks_of_kernels_beside_it_are_not_idle(tmp_path: Path) -> None:
    """Beside 9 blocks 99 others fill the device; of the last 50 us of the 9 alone 99 of 108 cores are idle."""
    given = steps(9)
    for start in (0, 1000, 2000):
        given.kernel("b", start + 10, start + 60, start + 3, stream=8, grid_x=99, grid_y=1, grid_z=1)
    found = answer(RULE, given, tmp_path, grid_device_pct="5")
    assert (found.status, found.saving_ns) == ("found", round(50_000 * (1 - 9 / 108)))


@pytest.mark.long
def test_with_a_block_for_every_core_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(108), tmp_path).status == "not found"


@pytest.mark.slow
def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9, 78), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")


@pytest.mark.slow
def test_evidence_is_what_loses_most_first_then_by_name(tmp_path: Path) -> None:
    given = steps(9)
    for start in (0, 1000, 2000):
        for at, name in ((200, "ampere_sgemm_64x64_b"), (320, "ampere_sgemm_64x64_a")):
            given.kernel(name, start + at, start + at + 50, start + 3, grid_x=9, grid_y=1, grid_z=1)
    assert [line.split(" ")[0] for line in answer(RULE, given, tmp_path).evidence] == [
        "ampere_sgemm_32x32_nn",
        "ampere_sgemm_64x64_a",
        "ampere_sgemm_64x64_b",
    ]
