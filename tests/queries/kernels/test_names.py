"""Kernels by name: one row for each, whatever it ran for."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, conv, conv_backward, pick, section

pytestmark = pytest.mark.slow


def test_a_kernel_of_several_passes_is_one_row(tmp_path: Path) -> None:
    """A transpose runs in the forward pass of a convolution and in its backward pass: three times in all."""
    given = Given()
    image, filters = (2, 8, 8, 8), (8, 8, 3, 3)
    conv(given, 0, image, filters, padding=1)
    given.kernel("batched_transpose_32x32_half", 20, 30, launched=2)
    given.kernel("miopenSp3AsmConv_v21_1_2_gfx9_fp16_f3x2", 30, 55, launched=5)
    conv_backward(given, 100, image, filters, image, padding=1)
    given.kernel("batched_transpose_32x32_half", 120, 140, launched=102)
    given.kernel("batched_transpose_32x32_half", 140, 170, launched=104)
    given.kernel("miopenSp3AsmConv_v21_1_2_gfx9_fp16_f3x2", 170, 185, launched=106)
    found = section(given.open(tmp_path), "kernels/names")
    assert pick(
        found, "name", "share_pct", "calls", "total_ns", "mean_ns", "median_ns", "sd_ns", "min_ns", "max_ns"
    ) == [
        ("batched_transpose_32x32_half", 60.0, 3, 60_000, 20_000, 20_000, 10_000, 10_000, 30_000),
        ("miopenSp3AsmConv_v21_1_2_gfx9_fp16_f3x2", 40.0, 2, 40_000, 20_000, 20_000, found[1]["sd_ns"], 15_000, 25_000),
    ]
    assert len(found[0]["direction"].split(", ")) == 2 and found[0]["direction"].endswith("fprop")
