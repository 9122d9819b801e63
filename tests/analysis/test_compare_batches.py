"""Memory of two runs at two batches: what a sample takes, and the batch that fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compared import GEMM, measured, table
from given import Given

from traceview.analysis import compare


def run(batch: int, **counters: int) -> Given:
    """One step of a product, with this many rows, and peaks of counters."""
    given = Given()
    given.device("V100", memory_bytes=10_000)
    given.span("step", "step#1", 0, 1000)
    given.op("aten::mm", 0, 20, [[batch, 64], [64, 64]], ["", ""])
    given.kernel(GEMM, 10, 110, launched=5)
    for name, value in counters.items():
        given.add("counters", start_ns=1000, device=0, name=name, value=value)
    return given


def rows(tmp_path: Path, *runs: Given) -> list[dict[str, Any]]:
    return table(compare.compare([measured(it, tmp_path / f"run-{n}") for n, it in enumerate(runs)]), "batches")


def test_a_line_through_two_peaks(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, run(4, allocated_bytes=1400), run(8, allocated_bytes=2200, reserved_bytes=4000))
    assert found == {
        "run": "B", "counter": "allocated_bytes", "base_batch": 4, "batch": 8, "base_bytes": 1400, "peak_bytes": 2200,
        "sample_bytes": 200, "fixed_bytes": 600, "memory_bytes": 10_000, "largest_batch": 47,
    }  # fmt: skip


def test_allocations_are_taken_where_there_are(tmp_path: Path) -> None:
    runs = run(4, allocated_bytes=1400), run(8, allocated_bytes=2200)
    for given, size in zip(runs, (2000, 3000), strict=True):
        given.add("allocations", device=0, address=64, size_bytes=size, how="noted", pid=1)
    (found,) = rows(tmp_path, *runs)
    assert (found["counter"], found["sample_bytes"], found["fixed_bytes"]) == ("allocations", 250, 1000)


@pytest.mark.parametrize("other", [run(4, allocated_bytes=2200), run(8)])
def test_the_same_batch_or_no_peak_tells_nothing(other: Given, tmp_path: Path) -> None:
    assert rows(tmp_path, run(4, allocated_bytes=1400), other) == []


def test_where_the_peak_does_not_grow_no_batch_is_named(tmp_path: Path) -> None:
    (found,) = rows(tmp_path, run(4, allocated_bytes=1400), run(8, allocated_bytes=1300))
    assert found["largest_batch"] is None and found["sample_bytes"] == -25
