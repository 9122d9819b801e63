"""Layers: their text, their sizes, and what is refused."""

from __future__ import annotations

import pytest

from traceview.errors import UsageError
from traceview.experiments.algorithms.layers import Layer, parse


def test_a_layer_out_of_a_text() -> None:
    layer, batch = parse("64x3x227x227 k96 11x11 s4")
    assert batch == 64
    assert (layer.in_channels, layer.height, layer.width, layer.out_channels) == (3, 227, 227, 96)
    assert (layer.out_height, layer.out_width) == (55, 55)
    assert layer.flop(1) == 2 * 105_415_200
    assert layer.weights == 96 * 3 * 11 * 11


def test_a_text_may_leave_out_the_batch_and_say_more() -> None:
    layer, batch = parse("64x56x40 k128 3x5 s2x1 p1x2 d2x1 g4")
    assert batch is None
    assert layer.facts() == {
        "layer": "64x56x40 k128 3x5 s2x1 p1x2 d2x1 g4",
        "model": None,
        "dtype": "float32",
        "in_channels": 64,
        "height": 56,
        "width": 40,
        "out_channels": 128,
        "filter_height": 3,
        "filter_width": 5,
        "stride_h": 2,
        "stride_w": 1,
        "pad_h": 1,
        "pad_w": 2,
        "dilation_h": 2,
        "dilation_w": 1,
        "groups": 4,
    }
    assert (layer.out_height, layer.out_width) == (27, 40)
    assert layer.flop(2) == 2 * 2 * 128 * 16 * 3 * 5 * 27 * 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conv1", "is not a layer; write a layer as"),
        ("3x8x8 k4 9x9", "the filter is larger than the padded image"),
        ("3x8x8 k4 3x3 g2", "2 groups do not divide"),
        ("3x8x8 k4 3x3 s0", "every size must be between 1"),
        ("3x8x8 k4 3x3 q3", "is not a layer"),
        (f"3x8x{10**9} k4 3x3", "every size must be between 1 and 1,048,576"),
    ],
)
def test_what_is_not_a_layer_is_said(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(text)


def test_flop_of_a_grouped_layer_are_those_of_its_groups() -> None:
    whole = Layer("a", 96, 27, 27, 256, 5, 5, pad_h=2, pad_w=2)
    halves = Layer("a", 96, 27, 27, 256, 5, 5, pad_h=2, pad_w=2, groups=2)
    assert whole.flop(1) == 2 * 447_897_600
    assert halves.flop(1) == 2 * 223_948_800
