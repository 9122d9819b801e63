"""Peaks of memory counters, overall and by step."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section


def sampled() -> Given:
    given = Given()
    given.device("V100", memory_bytes=1000)
    for step in range(2):
        given.span("step", str(step), 100 * step, 100 * step + 100)
    for at, value in ((10, 100), (50, 400), (90, 200), (150, 500), (190, 250)):
        given.add("counters", start_ns=at * 1000, device=0, name="allocated_bytes", value=value)
    given.add("counters", start_ns=5000, device=0, name="utilisation_pct", value=99)
    return given


def test_the_peak_and_where_it_was(tmp_path: Path) -> None:
    found = section(sampled().open(tmp_path), "memory/peak")
    columns = ("counter", "samples", "first_bytes", "peak_bytes", "last_bytes", "peak_step", "memory_pct")
    assert pick(found, *columns) == [("allocated_bytes", 5, 100, 500, 250, 1, 50.0)]


def test_growth_from_step_to_step(tmp_path: Path) -> None:
    found = section(sampled().open(tmp_path), "memory/steps")
    assert pick(found, "step", "peak_bytes", "last_bytes", "growth_bytes") == [(0, 400, 200, None), (1, 500, 250, 50)]
