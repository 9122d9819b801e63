"""The input gradient of a step's first convolution."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, conv, conv_backward, pick, section

IMAGE, FIRST, SECOND = (2, 3, 32, 32), (8, 3, 3, 3), (4, 8, 3, 3)
DGRAD, WGRAD = "void cudnn::cnn::dgrad_engine<float>(int)", "void cudnn::cnn::wgrad_alg0_engine<float>(int)"


def two_layers(with_first_dgrad: bool) -> Given:
    given = Given()
    given.span("step", "0", 0, 100)
    conv(given, 0, IMAGE, FIRST, padding=1)
    given.kernel("implicit_convolve_sgemm", 5, 8, launched=2)
    conv(given, 10, (2, 8, 32, 32), SECOND, padding=1)
    given.kernel("implicit_convolve_sgemm", 15, 18, launched=12)
    conv_backward(given, 20, (2, 8, 32, 32), SECOND, (2, 4, 32, 32), padding=1)
    given.kernel(DGRAD, 25, 30, launched=21)
    given.kernel(WGRAD, 30, 32, launched=22)
    conv_backward(given, 40, IMAGE, FIRST, (2, 8, 32, 32), padding=1)
    if with_first_dgrad:
        given.kernel(DGRAD, 45, 55, launched=41)
    given.kernel(WGRAD, 55, 57, launched=42)
    return given


def test_an_input_gradient_that_is_computed_has_its_price(tmp_path: Path) -> None:
    (row,) = section(two_layers(True).open(tmp_path), "firstlayer/gradient")
    assert (row["layer"], row["backward_calls"], row["dgrad_calls"]) == ("conv1 8x3x3x3 (guessed)", 1, 1)
    assert (row["dgrad_ns"], row["step_pct"]) == (10_000, 10.0)
    assert row["conv_pct"] == pytest.approx(100 * 10 / 25)
    assert row["dgrad_flop"] == 2 * 2 * 8 * 3 * 9 * 32 * 32


def test_without_it_there_is_nothing_to_save(tmp_path: Path) -> None:
    found = section(two_layers(False).open(tmp_path), "firstlayer/gradient")
    assert pick(found, "backward_calls", "dgrad_calls", "dgrad_ns") == [(1, 0, 0)]
