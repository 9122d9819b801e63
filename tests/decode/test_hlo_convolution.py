"""One instruction, three passes: told apart by the forward convolution whose shapes fit, and by nothing less."""

from __future__ import annotations

import pytest

from traceview.decode.hlo_convolution import Convolution, Operand, Problem, Window, understand

FORWARD = "jit(step)/jvp({})/conv_general_dilated"
BACKWARD = "jit(step)/transpose(jvp({}))/conv_general_dilated"
PLAIN = Window((1, 1), (1, 1), (1, 1), (1, 1))


def fprop(layer: str, batch: int, inputs: int, outputs: int, size: int) -> Convolution:
    """A 3x3 convolution with padding 1."""
    image, result = Operand(batch, inputs, (size, size)), Operand(batch, outputs, (size, size))
    return Convolution(FORWARD.format(layer), image, Operand(inputs, outputs, (3, 3)), result, PLAIN)


def dgrad(one: Convolution, op_name: str) -> Convolution:
    """The input gradient as JAX writes it: the filter's inputs and outputs exchanged."""
    kernel = Operand(one.filter.channels, one.filter.batch, one.filter.spatial)
    return Convolution(op_name, one.output, kernel, one.image, PLAIN)


def wgrad(one: Convolution, op_name: str) -> Convolution:
    """The filter gradient as JAX writes it: batch and channels of image and result exchanged."""
    image = Operand(one.image.channels, one.image.batch, one.image.spatial)
    kernel = Operand(one.output.batch, one.output.channels, one.output.spatial)
    result = Operand(one.filter.batch, one.filter.channels, one.filter.spatial)
    return Convolution(op_name, image, kernel, result, PLAIN)


@pytest.mark.parametrize("name", [BACKWARD.format("conv2"), ""])
def test_both_gradients_are_told_by_their_shapes(name: str) -> None:
    first, second = fprop("conv1", 4, 3, 16, 32), fprop("conv2", 4, 16, 24, 32)
    one, other = dgrad(second, name), wgrad(second, name)
    understand([first, second, one, other])
    problem = Problem((4, 16, 32, 32), (24, 16, 3, 3), (4, 24, 32, 32), (1, 1), (1, 1), (1, 1), 1)
    assert [(c.direction, c.problem) for c in (second, one, other)] == [
        ("fprop", problem),
        ("dgrad", problem),
        ("wgrad", problem),
    ]
    expected = name or FORWARD.format("conv2")
    assert (one.works_for, other.works_for) == (expected, expected)


def test_a_nameless_gradient_of_one_of_two_alike_belongs_to_neither() -> None:
    layers = [fprop("a", 4, 8, 12, 16), fprop("b", 4, 8, 12, 16)]
    nameless = wgrad(layers[0], "")
    understand([*layers, nameless])
    assert (nameless.direction, nameless.works_for) == ("wgrad", None)


def test_a_nameless_gradient_belongs_to_the_layer_that_lacks_one() -> None:
    layers = [fprop("a", 4, 8, 12, 16), fprop("b", 4, 8, 12, 16)]
    named, nameless = wgrad(layers[1], BACKWARD.format("b")), wgrad(layers[0], "")
    understand([*layers, named, nameless])
    assert nameless.works_for == FORWARD.format("a")


def test_strides_become_dilations_and_back() -> None:
    strided = Convolution(
        FORWARD.format("conv1"), Operand(4, 3, (227, 227)), Operand(3, 96, (11, 11)), Operand(4, 96, (55, 55)),
        Window((4, 4), (0, 0), (1, 1), (1, 1)),
    )  # fmt: skip
    data = Convolution(
        BACKWARD.format("conv1"), strided.output, Operand(96, 3, (11, 11)), strided.image,
        Window((1, 1), (10, 10), (1, 1), (4, 4)),
    )  # fmt: skip
    weights = Convolution(
        BACKWARD.format("conv1"), Operand(3, 4, (227, 227)), Operand(4, 96, (55, 55)), Operand(3, 96, (11, 11)),
        Window((1, 1), (0, 0), (4, 4), (1, 1)),
    )  # fmt: skip
    understand([strided, data, weights])
    assert [one.direction for one in (data, weights)] == ["dgrad", "wgrad"]
    assert data.problem == weights.problem == strided.problem
    assert (data.problem.stride, data.problem.padding) == ((4, 4), (0, 0))  # type: ignore[union-attr]


def test_where_both_readings_fit_neither_is_taken() -> None:
    # As many images as channels and filters, and a filter as large as the image.
    first = Convolution(
        FORWARD.format("odd"), Operand(3, 3, (3, 3)), Operand(3, 3, (3, 3)), Operand(3, 3, (3, 3)), PLAIN
    )
    second = dgrad(first, BACKWARD.format("odd"))
    understand([first, second])
    assert (second.direction, second.problem) == (None, None)


def test_a_gradient_of_no_known_convolution_stays_open() -> None:
    first = fprop("conv1", 4, 3, 16, 32)
    stranger = dgrad(fprop("x", 4, 5, 7, 9), BACKWARD.format("x"))
    understand([first, stranger])
    assert (stranger.direction, stranger.problem, stranger.works_for) == (None, None, None)


def test_a_forward_pass_repeated_in_the_backward_one_is_forward() -> None:
    again = fprop("conv1", 4, 8, 8, 16)
    again.op_name = "jit(step)/transpose(jvp(conv1))/rematted_computation/conv_general_dilated"
    understand([fprop("conv1", 4, 8, 8, 16), again])
    assert again.direction == "fprop"


def test_a_transposed_convolution_has_no_problem() -> None:
    one = fprop("up", 4, 8, 8, 16)
    one.window = Window((1, 1), (1, 1), (1, 1), (2, 2))
    understand([one])
    assert (one.direction, one.problem) == ("fprop", None)


def test_a_named_gradient_in_another_form_is_told_by_its_size() -> None:
    first = fprop("grouped", 4, 16, 32, 16)
    first.filter, first.groups = Operand(8, 32, (3, 3)), 2
    # XLA gives the groups a spatial dimension of their own.
    window = Window((1, 1, 1), (1, 1, 0), (1, 1, 1), (1, 1, 2))
    other = Convolution(
        BACKWARD.format("grouped"), Operand(8, 4, (16, 16, 2)), Operand(4, 16, (16, 16, 2)), Operand(8, 16, (3, 3, 2)),
        window,
    )  # fmt: skip
    understand([first, other])
    assert (other.direction, other.problem) == ("wgrad", first.problem)


def test_what_cudnn_calls_a_pass_is_one() -> None:
    one = fprop("conv1", 4, 3, 16, 32)
    one.op_name, one.told = "", "dgrad"
    understand([one])
    assert (one.direction, one.problem) == (
        "dgrad", Problem((4, 3, 32, 32), (16, 3, 3, 3), (4, 16, 32, 32), (1, 1), (1, 1), (1, 1), 1),
    )  # fmt: skip
