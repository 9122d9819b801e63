"""im2col and GEMM: every pass agrees with double precision, with strides and padding."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from convolutions import errors, reasons

from traceview.convolution.backends import torch_gemm


@pytest.mark.parametrize("text", ["6x9x8 k4 3x3 s2 p1", "3x19x17 k8 5x3 s2x3 p2x0", "8x7x7 k4 1x1", "8x9x7 k5 1x1 s2"])
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_pass_agrees_with_double_precision(text: str, direction: str) -> None:
    assert max(errors(torch_gemm, text, direction).values()) < 1e-5


def test_what_cannot_be_says_why() -> None:
    assert "no groups" in reasons(torch_gemm, "8x9x9 k8 3x3 g2", "fprop")["im2col + GEMM"]
    assert "no dilation" in reasons(torch_gemm, "8x9x9 k8 3x3 d2", "fprop")["im2col + GEMM"]
