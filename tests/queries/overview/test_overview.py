"""The overview: what is per step and rank, and of what."""

from __future__ import annotations

from pathlib import Path

from advised import training
from given import pick, section


def test_several_devices_of_a_rank_are_added_up_and_shares_are_of_the_step_of_each(tmp_path: Path) -> None:
    """Two devices work at once, 60 of 100 us."""
    given = training(2, 100)
    for start in (0, 100):
        for device in (0, 1):
            given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 70, launched=start + 1, device=device)
    with given.open(tmp_path) as connection:
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "busy_pct", "step_pct") == [
            ("gemm", 120_000, 100, 60),
            ("(GPU idle)", 80_000, None, 40),
        ]
        assert pick(section(connection, "overview/step"), "device", "active_ns", "idle_ns") == [
            ("gpu 0", 60_000, 40_000),
            ("gpu 1", 60_000, 40_000),
        ]
