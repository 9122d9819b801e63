"""The overview: what is per step and rank, and of what."""

from __future__ import annotations

from pathlib import Path

from advised import training
from given import pick, section


def test_time_without_any_device_is_of_all_devices_of_a_rank(tmp_path: Path) -> None:
    """Two devices work at once, 60 of 100 us: for 40 of them none does."""
    given = training(2, 100)
    for start in (0, 100):
        for device in (0, 1):
            given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 70, launched=start + 1, device=device)
    with given.open(tmp_path) as connection:
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "busy_pct", "step_pct") == [
            ("gemm", 120_000, 100, 60),
            ("(no device busy)", 40_000, None, 40),
        ]
        assert pick(section(connection, "overview/step"), "busy_ns") == [(60_000,)]
