"""The input gradient of the first convolution: of an image, or of more channels than one has."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv, conv_backward

RULE = "first_layer_gradient"
DGRAD, WGRAD = "void cudnn::cnn::dgrad_engine<float>(int)", "void cudnn::cnn::wgrad_alg0_engine<float>(int)"


def steps(channels: int, with_dgrad: bool = True) -> Given:
    image, first, hidden = (2, channels, 32, 32), (8, channels, 3, 3), (2, 8, 32, 32)
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start, image, first, padding=1)
        given.kernel("implicit_convolve_sgemm", start + 5, start + 8, launched=start + 2)
        conv(given, start + 10, hidden, (8, 8, 3, 3), padding=1)
        given.kernel("implicit_convolve_sgemm", start + 15, start + 18, launched=start + 12)
        conv_backward(given, start + 20, hidden, (8, 8, 3, 3), hidden, padding=1)
        given.kernel(DGRAD, start + 25, start + 30, launched=start + 21)
        conv_backward(given, start + 40, image, first, hidden, padding=1)
        if with_dgrad:
            given.kernel(DGRAD, start + 45, start + 55, launched=start + 41)
        given.kernel(WGRAD, start + 55, start + 57, launched=start + 42)
    return given


def test_the_gradient_of_an_image_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(4), tmp_path)
    assert (found.status, found.saving_ns, found.saving_pct) == ("found", 10_000, 1.0)
    assert found.problem == "The first convolution computes the gradient of its input of 2 x 4 x 32 x 32."


@pytest.mark.long
def test_an_input_of_more_channels_may_come_from_a_trained_layer(tmp_path: Path) -> None:
    assert answer(RULE, steps(5), tmp_path).status == "not found"


def test_without_it_nothing_is_found(tmp_path: Path) -> None:
    assert answer(RULE, steps(3, with_dgrad=False), tmp_path).status == "not found"


def after_linear(values: int) -> Given:
    """The first convolution's gradient, and then that of a product that ran before the convolution."""
    image, first, hidden = (2, 3, 32, 32), (8, 3, 3, 3), (2, 8, 32, 32)
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::addmm", start, start + 5, [(values,), (2, 16), (16, values)], ["", "", ""])
        given.rows["ops"][-1]["sequence"] = start + 1
        conv(given, start + 10, image, first, padding=1)
        given.rows["ops"][-1]["sequence"] = start + 2
        given.kernel("implicit_convolve_sgemm", start + 15, start + 25, launched=start + 12)
        conv_backward(given, start + 40, image, first, hidden, padding=1)
        given.rows["ops"][-1].update(sequence=start + 2, forward_thread=1, tid=2)
        given.kernel(DGRAD, start + 45, start + 55, launched=start + 41)
        given.rows["api_calls"][-1]["tid"] = 2
        given.op("AddmmBackward0", start + 60, start + 70, [(2, values)], [""])
        given.rows["ops"][-1].update(sequence=start + 1, forward_thread=1, tid=2)
        given.kernel("ampere_sgemm_32x32_nt", start + 65, start + 75, launched=start + 61)
        given.rows["api_calls"][-1]["tid"] = 2
    return given


@pytest.mark.slow
def test_a_trained_layer_that_makes_the_image_needs_it(tmp_path: Path) -> None:
    assert answer(RULE, after_linear(3 * 32 * 32), tmp_path / "before").status == "not found"
    beside = answer(RULE, after_linear(8), tmp_path / "beside")
    assert (beside.status, beside.saving_ns) == ("found", 10_000)


def sent_back(back_bytes: int) -> Given:
    """Without shapes: after the last gradient something goes to the host."""
    given = training()
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 1, start + 5, launched=start, size_bytes=100_000)
        given.op("aten::cudnn_convolution", start + 10, start + 14)
        given.kernel("implicit_convolve_sgemm", start + 15, start + 18, launched=start + 12)
        given.op("aten::cudnn_convolution_backward_input", start + 40, start + 44)
        given.kernel(DGRAD, start + 45, start + 55, launched=start + 41)
        given.copy("DtoH", start + 60, start + 67, launched=start + 55, size_bytes=back_bytes)
    return given


@pytest.mark.long
def test_without_shapes_a_copy_of_the_inputs_size_shows_it(tmp_path: Path) -> None:
    found = answer(RULE, sent_back(100_000), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 17_000)
    assert found.evidence == (f"{DGRAD}: 1.0 calls and 0.010 ms", "DtoH copy of 100000 bytes: 1.0 calls and 0.007 ms")


@pytest.mark.long
def test_a_copy_of_another_size_does_not(tmp_path: Path) -> None:
    assert answer(RULE, sent_back(99_000), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "no operator or kernel of the gradient of a convolution was recognised in this trace.",
    )
