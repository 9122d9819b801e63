"""Fully connected layers that nobody recorded: by place in the pass that every step repeats, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

pytestmark = pytest.mark.slow

SIZES = [(64, 32), (10, 64)]
"""Outputs and inputs of each layer."""


def network(calls: str = "ff bb", steps: int = 3, layer: str | None = None, swapped: bool = False) -> Given:
    """Steps of one operator to each letter, f forward and b backward in reverse order, each with its kernel."""
    given, at = Given(), 0
    for step in range(steps):
        given.span("step", f"ProfilerStep#{step}", at, at + 1000)
        n_forward = n_backward = 0
        for number, letter in enumerate(calls.replace(" ", "")):
            start = at + 20 * number
            if letter == "f":
                outputs, inputs = SIZES[n_forward % 2]
                n_forward += 1
                given.op("aten::addmm", start, start + 10, [(outputs,), (8, inputs), (inputs, outputs)])
            else:
                outputs = SIZES[n_backward % 2 if swapped else 1 - n_backward % 2][0]
                n_backward += 1
                given.op("AddmmBackward0", start, start + 10, [(8, outputs)])
                given.op("aten::mm", start + 1, start + 9, [(8, outputs), (outputs, 5)])
            if layer:
                given.span("module", layer, start, start + 10)
            given.kernel("ampere_sgemm_128x64_nn", start + 4, start + 8, launched=start + 3)
        at += 1000
    return given


def layers(given: Given, tmp_path: Path) -> list[tuple[object, ...]]:
    query = "SELECT layer, op_is_backward FROM busy WHERE kind = 'kernel' AND step = 1 ORDER BY start_ns"
    return rows(given.open(tmp_path), query)


def test_gradients_have_the_layer_of_their_place_from_the_end(tmp_path: Path) -> None:
    first, second = "linear1 64x32 (guessed)", "linear2 10x64 (guessed)"
    assert layers(network(), tmp_path) == [(first, False), (second, False), (second, True), (first, True)]


@pytest.mark.long
def test_where_sizes_contradict_the_order_only_the_forward_pass_is_guessed(tmp_path: Path) -> None:
    found = [layer for layer, _ in layers(network(swapped=True), tmp_path)]
    assert found == ["linear1 64x32 (guessed)", "linear2 10x64 (guessed)", None, None]


@pytest.mark.long
def test_a_gradient_that_is_missing_leaves_the_others_without_a_place(tmp_path: Path) -> None:
    assert [layer for layer, _ in layers(network("ff b"), tmp_path)][2:] == [None]


def test_recorded_layers_are_kept(tmp_path: Path) -> None:
    assert {layer for layer, _ in layers(network(layer="fc"), tmp_path)} == {"fc"}


@pytest.mark.long
def test_without_steps_nothing_is_guessed(tmp_path: Path) -> None:
    given = network(steps=1)
    given.rows["ranges"].clear()
    found = rows(given.open(tmp_path), "SELECT DISTINCT layer FROM busy WHERE kind = 'kernel'")
    assert found == [(None,)]
