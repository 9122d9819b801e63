"""Whole-image FFT: every pass agrees with double precision; strides cannot be."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from convolutions import errors, reasons

from traceview.convolution.backends import torch_fft


@pytest.mark.parametrize("text", ["6x9x8 k4 3x3 p1", "3x19x17 k8 5x3 p2x0", "4x13x11 k6 11x9 p5x4", "8x7x7 k4 1x1 p2"])
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_pass_agrees_with_double_precision(text: str, direction: str) -> None:
    assert max(errors(torch_fft, text, direction).values()) < 1e-5


def test_strides_and_groups_cannot_be() -> None:
    assert "stride 4 x 4" in reasons(torch_fft, "3x27x27 k8 11x11 s4", "fprop")["whole-image FFT"]
    assert "groups" in reasons(torch_fft, "8x9x9 k8 3x3 g2", "wgrad")["whole-image FFT"]


def test_sizes_are_rounded_up_to_fast_ones() -> None:
    assert [torch_fft.fast(size) for size in (1, 7, 13, 31, 227)] == [1, 8, 15, 32, 240]
