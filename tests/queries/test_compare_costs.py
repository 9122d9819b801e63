"""Costs of two runs by family: as much work at another speed, or another amount of work."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared import measured, table
from given import Given, pick

from traceview.analysis import compare

pytestmark = pytest.mark.slow


def products(rows: int, lasting: float) -> Given:
    """Two steps of one product and one addition each; the product takes so many microseconds."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for step in (1, 2):
        start = 1000 * step
        given.span("step", f"ProfilerStep#{step}", start, start + 1000)
        given.op("aten::mm", start, start + 10, [[rows, 64], [64, 64]], ["", ""])
        given.kernel("ampere_sgemm_128x64_nn", start + 20, start + 20 + lasting, launched=start + 5)
        given.op("aten::relu", start + 600, start + 610, [[64, 64]], [""])
        given.kernel("vectorized_elementwise_kernel", start + 620, start + 630, launched=start + 605)
    return given


def test_work_and_speed_are_told_apart(tmp_path: Path) -> None:
    base = measured(products(64, 100), tmp_path / "base")
    runs = [base, measured(products(64, 200), tmp_path / "slower"), measured(products(128, 200), tmp_path / "more")]
    found = table(compare.compare(runs), "costs")
    picked = pick(found, "run", "family", "matrix_flop", "base_ns", "busy_ns", "work_ratio", "speed_ratio", "cause")
    flop = 2 * 64**3
    assert picked == [
        ("B", "gemm", flop, 100_000, 200_000, 1, 0.5, "speed"),
        ("B", "elementwise", 0, 10_000, 10_000, 1, 1, None),
        ("C", "gemm", 2 * flop, 100_000, 200_000, 2, 1, "work"),
        ("C", "elementwise", 0, 10_000, 10_000, 1, 1, None),
    ]
    assert {row["base_size_bytes"] for row in found if row["family"] == "elementwise"} == {2 * 4 * 64**2}
