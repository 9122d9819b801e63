"""Named ranges: their time, and how much of it a device was busy."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section

COLUMNS = ("kind", "domain", "name", "calls", "total_ns", "mean_ns", "max_ns", "busy_ns", "busy_pct")


def test_ranges_by_name_and_what_devices_did_meanwhile(tmp_path: Path) -> None:
    given = Given()
    given.kernel("a", 5, 15)
    given.kernel("b", 10, 20, stream=8)  # Overlaps: busy from 5 to 20.
    given.kernel("c", 32, 34)
    given.span("nvtx", "load", 0, 10)
    given.span("nvtx", "load", 30, 40)
    given.span("user", "after", 35, 45)
    given.span("step", "step 1", 0, 50)
    assert pick(section(given.open(tmp_path), "ranges/names"), *COLUMNS) == [
        ("nvtx", None, "load", 2, 20_000, 10_000.0, 10_000, 7_000, 35.0),
        ("user", None, "after", 1, 10_000, 10_000.0, 10_000, 0, 0.0),
    ]


def test_without_work_of_a_device_nothing_is_said_of_it(tmp_path: Path) -> None:
    given = Given()
    given.span("nvtx", "load", 0, 10)
    assert pick(section(given.open(tmp_path), "ranges/names"), "name", "busy_ns", "busy_pct") == [("load", None, None)]
