"""Layers that nobody recorded: by place in the pass that every step repeats, forward and backward alike, or none."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows, section

FPROP = "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1>"
DGRAD = "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>"
WGRAD = "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>"
FILTERS = [(8, 3, 3, 3), (16, 8, 3, 3), (32, 16, 3, 3)]


def network(calls: str = "fff wwdwd", steps: int = 3, shapes: bool = False, links: bool = False) -> Given:
    """Steps of one operator to each letter: f, w and d are the passes of a convolution; backward in reverse order."""
    given, at = Given(), 0
    for step in range(steps):
        given.span("step", f"ProfilerStep#{step}", at, at + 1000)
        layer = {"f": 0, "w": 3, "d": 3}
        for number, letter in enumerate(calls.replace(" ", "")):
            if letter in "fwd":
                given.op(*operator(letter, at + 10 * number, layer, shapes))
                if links:
                    sequence = 10 * step + layer[letter] - (letter == "f")
                    given.rows["ops"][-1] |= {"sequence": sequence, "forward_thread": None if letter == "f" else 1}
                name = {"f": FPROP, "w": WGRAD, "d": DGRAD}[letter]
                given.kernel(name, at + 10 * number + 2, at + 10 * number + 6, launched=at + 10 * number + 1)
        at += 1000
    return given


def operator(letter: str, at: int, layer: dict[str, int], shapes: bool) -> tuple[object, ...]:
    layer[letter] += 1 if letter == "f" else -1
    w = FILTERS[(layer[letter] - (letter == "f")) % 3]
    x = (4, w[1], 8, 8)
    if letter == "f":
        return "aten::cudnn_convolution", at, at + 8, [x, w] if shapes else ()
    return "aten::cudnn_convolution_backward", at, at + 8, [x, (4, w[0], 8, 8), w] if shapes else ()


def layers(given: Given, tmp_path: Path) -> list[tuple[object, ...]]:
    return rows(given.open(tmp_path), "SELECT direction, layer FROM conv_calls WHERE step = 1 ORDER BY start_ns")


def test_gradients_have_the_layer_of_their_place_from_the_end(tmp_path: Path) -> None:
    """The first layer needs no input gradient."""
    assert layers(network("fff wdwdw"), tmp_path) == [
        ("fprop", "conv1 (guessed)"),
        ("fprop", "conv2 (guessed)"),
        ("fprop", "conv3 (guessed)"),
        ("wgrad", "conv3 (guessed)"),
        ("dgrad", "conv3 (guessed)"),
        ("wgrad", "conv2 (guessed)"),
        ("dgrad", "conv2 (guessed)"),
        ("wgrad", "conv1 (guessed)"),
    ]


@pytest.mark.slow
def test_a_layer_has_its_filter_in_its_name_where_shapes_are_known(tmp_path: Path) -> None:
    found = layers(network("fff wdwdw", shapes=True), tmp_path)
    assert found[0] == ("fprop", "conv1 8x3x3x3 (guessed)")
    assert found[2:5] == [(way, "conv3 32x16x3x3 (guessed)") for way in ("fprop", "wgrad", "dgrad")]


@pytest.mark.long
def test_a_link_to_the_forward_call_counts_for_more_than_the_order(tmp_path: Path) -> None:
    """Two weight gradients are put off to the end."""
    found = layers(network("fff ddwww", links=True), tmp_path)
    assert [layer for _, layer in found[3:]] == [f"conv{n} (guessed)" for n in (3, 2, 3, 2, 1)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ("fff wwd", "two of three layers have a weight gradient: which, the order does not say"),
        ("ff w f wdw", "passes alternate: the same layers again, or others?"),
    ],
)
def test_what_the_order_does_not_tell_is_not_guessed(tmp_path: Path, calls: str, why: str) -> None:
    found = layers(network(calls), tmp_path)
    assert {layer for way, layer in found if way != "fprop"} == {None}, why


@pytest.mark.long
def test_shapes_that_contradict_the_order_leave_the_forward_pass_its_layers(tmp_path: Path) -> None:
    given = network("fff wdwdw", shapes=True)
    # The backward pass ran its layers in another order than the reverse.
    gradients = [op for op in given.rows["ops"] if op["name"].endswith("backward")]
    for first, last in zip(gradients[::5], gradients[4::5], strict=True):
        first["shapes"], last["shapes"] = last["shapes"], first["shapes"]
    found = layers(given, tmp_path)
    assert {layer for way, layer in found if way != "fprop"} == {None}
    assert next(layer for way, layer in found if way == "fprop") == "conv1 8x3x3x3 (guessed)"


@pytest.mark.long
def test_a_step_with_another_sequenceof_calls_has_none(tmp_path: Path) -> None:
    given = network("fff wdwdw")
    given.op("aten::cudnn_convolution", 1990, 1998)
    given.kernel(FPROP, 1992, 1996, launched=1991)
    assert {layer for _, layer in layers(given, tmp_path)} == {None}


def test_recorded_layers_are_never_mixed_with_guessed_ones(tmp_path: Path) -> None:
    given = network("fff wdwdw")
    given.span("module", "features.0", 0, 9)
    query = "SELECT DISTINCT layer FROM conv_calls ORDER BY layer NULLS LAST"
    assert rows(given.open(tmp_path), query) == [("features.0",), (None,)]


def test_places_are_not_counted_where_xla_made_one_instruction_of_several_convolutions(tmp_path: Path) -> None:
    """It has no layer and no algorithm, and one that holds matrix products as well is no convolution."""
    given = Given()
    for step in range(3):
        given.span("step", f"step {step}", 1000 * step, 1000 * step + 900)
        for at, kind in enumerate(("ynn convolution", "ynn convolutions", "ynn products")):
            given.op("jit(f)/reduce_sum", 1000 * step + 100 * at, 1000 * step + 100 * at + 50)
            given.rows["ops"][-1] |= {"hlo_op": f"ynn_fusion.{at}", "hlo_kind": kind}
    with given.open(tmp_path) as connection:
        assert rows(connection, "SELECT DISTINCT layer, algorithm FROM conv_calls ORDER BY algorithm") == [
            (None, "implicit_gemm"),
            (None, None),
        ]
        assert rows(connection, "SELECT DISTINCT category FROM ops WHERE hlo_kind = 'ynn products'") == [
            ("xla_fusion",)
        ]


@pytest.mark.long
def test_without_steps_one_pass_and_its_gradients_are_one(tmp_path: Path) -> None:
    for name, calls, expected in (("one", "fff wdwdw", 3), ("two", "fff wdwdw fff wdwdw", 0), ("forward", "ffffff", 0)):
        given = network(calls, steps=1)
        del given.rows["ranges"]
        with given.open(tmp_path / name) as connection:
            assert rows(connection, "SELECT count(DISTINCT layer) FROM conv_calls") == [(expected,)], name


def test_the_report_of_layers_has_them_in_the_order_of_the_pass_and_both_directions(tmp_path: Path) -> None:
    found = section(network("fff wdwdw").open(tmp_path), "layers/layers")
    assert [(row["layer"], row["forward_ns"] > 0, row["backward_ns"]) for row in found] == [
        ("conv1 (guessed)", True, 4000),
        ("conv2 (guessed)", True, 8000),
        ("conv3 (guessed)", True, 8000),
    ]


@pytest.mark.parametrize("links", [True, False])
def test_on_a_cpu_one_operator_of_both_gradients_has_the_layer_of_its_forward_call(tmp_path: Path, links: bool) -> None:
    given = Given()
    for step in range(3):
        at = 1000 * step
        given.span("step", f"ProfilerStep#{step}", at, at + 1000)
        for number in range(6):
            is_forward = number < 3
            layer = number if is_forward else 5 - number
            name = "aten::convolution" if is_forward else "aten::convolution_backward"
            start = at + 100 * number
            if not is_forward:
                given.op("ConvolutionBackward0", start, start + 60)
                if links:
                    given.rows["ops"][-1] |= {"sequence": 10 * step + layer, "forward_thread": 1}
            given.op(name, start + 5, start + 50)
            if is_forward and links:
                given.rows["ops"][-1] |= {"sequence": 10 * step + layer, "forward_thread": None}
    expected = [f"conv{number} (guessed)" for number in (1, 2, 3, 3, 2, 1)]
    assert [layer for _, layer in layers(given, tmp_path)] == expected
