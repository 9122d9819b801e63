"""Busy time is a union of intervals, clipped to the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, pick, section


@pytest.mark.slow
def test_overlap_counts_once(tmp_path: Path) -> None:
    given = Given()
    given.kernel("a", 0, 10)
    given.kernel("b", 5, 12, stream=8)
    given.kernel("c", 6, 8, stream=9)
    given.copy("HtoD", 20, 30, size_bytes=1)
    (row,) = section(given.open(tmp_path), "utilisation/windows")
    assert (row["window"], row["window_ns"], row["busy_ns"], row["idle_ns"]) == ("whole run", 30_000, 22_000, 8_000)
    assert (row["sum_ns"], row["steps"]) == (29_000, None)
    assert row["busy_pct"] == 100 * 22 / 30


def test_steady_state_leaves_the_warm_up_out_and_clips(tmp_path: Path) -> None:
    given = Given()
    for step, (start, end) in enumerate([(0, 400), (400, 500), (500, 600)]):
        given.span("step", str(step), start, end)
    given.kernel("tuning", 10, 390, launched=5)
    given.kernel("late", 395, 450, launched=392)  # reaches into the window
    given.kernel("work", 520, 590, launched=510)
    found = section(given.open(tmp_path), "utilisation/windows")
    assert pick(found, "window", "steps", "window_ns", "busy_ns") == [
        ("whole run", None, 580_000, 505_000),
        ("steady state", 2, 200_000, 120_000),
    ]
