"""Calls with the time spent on each and the least that its device allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

pytestmark = pytest.mark.slow

SHAPES = [(1024, 1024), (1024, 1024)]
FLOOR_NS = 1e9 * 3 * 4 * 1024 * 1024 / 1555e9
"""Least time of an addition in single precision: three times 4.2 MB at 1,555 GB/s."""


def test_a_call_has_the_time_of_its_kernels_per_step_and_its_least(tmp_path: Path) -> None:
    """A warm-up step counts in neither, overlap once, and no least is above the time that was taken."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for number, start in enumerate((0, 1000, 2000)):
        given.span("step", f"step#{number + 1}", start, start + 1000)
        given.op("aten::add", start + 10, start + 20, [*SHAPES, ()], ["", "", "1"])
        given.kernel("vectorized_elementwise_kernel", start + 30, start + 60, launched=start + 11)
        given.op("aten::mul", start + 70, start + 80, SHAPES, ["", ""])
        given.kernel("vectorized_elementwise_kernel", start + 50, start + 65, launched=start + 71, stream=8)
    found = rows(
        given.open(tmp_path),
        "SELECT op_name, count(*), sum(own_ns), sum(floor_ns), sum(n_kernels) FROM op_floors GROUP BY 1 ORDER BY 1",
    )
    assert found == [
        ("aten::add", 3, pytest.approx(30_000), pytest.approx(FLOOR_NS), pytest.approx(1)),
        ("aten::mul", 3, pytest.approx(5_000), pytest.approx(5_000), pytest.approx(1)),
    ]


def test_a_product_of_bfloat16_is_not_taken_for_tf32(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("aten::mm", 0, 10, SHAPES, ["", ""], "c10::BFloat16")
    given.kernel("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", 20, 40, launched=1)
    assert rows(given.open(tmp_path), "SELECT dtype FROM op_floors") == [("bf16",)]
