"""The view `shared_gpus`: idle time of a rank is not that of a GPU which another rank keeps busy meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import connected
from given import Given, rows, section, write

from traceview.analysis import advice


def steps(rank: int, uuid: str | None, from_us: int, until_us: int, first_us: int = 0) -> Given:
    """Four steps of 100 us with a kernel in each, at the same place."""
    given = Given(rank)
    given.device("NVIDIA A100-SXM4-80GB", uuid=uuid)
    for number in range(4):
        start = first_us + 100 * number
        given.span("step", f"step {number}", start, start + 100)
        given.kernel("ampere_sgemm_128x64_nn", start + from_us, start + until_us, launched=start + from_us)
    return given


@pytest.mark.parametrize(
    ("uuid", "until_us", "told"),
    [
        ("GPU-1", 98, [(0, "rank 1 works on the same GPU"), (1, "rank 0 works on the same GPU")]),
        ("GPU-1", 51, [(1, "rank 0 works on the same GPU")]),
        ("GPU-2", 98, []),
        (None, 98, []),
    ],
)
def test_a_gpu_that_others_keep_busy(
    uuid: str | None, until_us: int, told: list[tuple[int, str]], tmp_path: Path
) -> None:
    """One that works on it for 1 of 48 us does not."""
    write(tmp_path, steps(0, uuid and "GPU-1", 1, 49), steps(1, uuid, 50, until_us))
    assert rows(connected(tmp_path), "SELECT rank, told FROM shared_gpus ORDER BY rank") == told


def test_ranks_one_after_the_other_share_nothing(tmp_path: Path) -> None:
    write(tmp_path, steps(0, "GPU-1", 1, 49), steps(1, "GPU-1", 50, 98, first_us=400))
    assert rows(connected(tmp_path), "SELECT * FROM shared_gpus") == []


def test_idle_time_of_a_shared_gpu_is_a_guess(tmp_path: Path) -> None:
    write(tmp_path, steps(0, "GPU-1", 1, 49), steps(1, "GPU-1", 50, 98), steps(2, "GPU-1", 50, 98))
    with connected(tmp_path) as connection:
        assert [row["text"] for row in section(connection, "overview/doubts")] == [
            "Doubt: Ranks 1, 2 work on the same GPU: what stands below as idle is the rank's, and the GPU may be busy "
            "meanwhile (rank 0; so have 2 more)."
        ]
        (found,) = advice.run(connection, advice.load(["idle_at_step_edges"]))
    assert found.status == "found"
    assert found.confidence == "low: ranks 1, 2 work on the same GPU, which may be busy meanwhile"
