"""The input gradient of a step's first convolution."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, conv, conv_backward, pick, rows, section

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


@pytest.mark.slow
def test_an_input_gradient_that_is_computed_has_its_price(tmp_path: Path) -> None:
    (row,) = section(two_layers(True).open(tmp_path), "firstlayer/gradient")
    assert (row["layer"], row["backward_calls"], row["dgrad_calls"]) == ("conv1 8x3x3x3 (guessed)", 1, 1)
    assert (row["dgrad_ns"], row["step_pct"]) == (10_000, 10.0)
    assert row["conv_pct"] == pytest.approx(100 * 10 / 25)
    assert row["dgrad_flop"] == 2 * 2 * 8 * 3 * 9 * 32 * 32


def test_without_it_there_is_nothing_to_save(tmp_path: Path) -> None:
    found = section(two_layers(False).open(tmp_path), "firstlayer/gradient")
    assert pick(found, "backward_calls", "dgrad_calls", "dgrad_ns") == [(1, 0, 0)]


@pytest.mark.slow
def test_the_input_gradient_of_a_transposed_convolution_is_computed_by_a_forward_kernel(tmp_path: Path) -> None:
    x, w, y = (8, 256, 28, 28), (256, 128, 4, 4), (8, 128, 56, 56)
    rest = [[2, 2], [1, 1], [1, 1], True, [0, 0], 1]
    given = Given()
    given.span("step", "0", 0, 100)
    given.op("aten::convolution", 0, 10, [x, w, *[()] * 7], ["", "", "", *rest])
    given.kernel("sm80_xmma_dgrad_implicit_gemm_tf32f32", 5, 35, launched=2)
    given.op("aten::convolution_backward", 40, 50, [y, x, w, *[()] * 8], ["", "", "", [0], *rest, [True, True, False]])
    given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 45, 55, launched=41)
    given.kernel("sm80_xmma_wgrad_implicit_gemm_tf32f32", 55, 75, launched=42)
    connection = given.open(tmp_path)
    calls = rows(connection, "SELECT direction, total_ns FROM conv_calls ORDER BY start_ns")
    assert calls == [("fprop", 30_000), ("dgrad", 10_000), ("wgrad", 20_000)]
    (row,) = section(connection, "firstlayer/gradient")
    assert (row["verdict"], row["dgrad_calls"], row["dgrad_ns"]) == ("computed", 1, 10_000)


def operator(given: Given, name: str, start: int, end: int, tid: int = 1, **more: int) -> None:
    given.add("ops", name=name, pid=1, tid=tid, start_ns=1000 * start, dur_ns=1000 * (end - start), **more)


def test_the_copy_of_the_gradient_counts_as_in_advice(tmp_path: Path) -> None:
    """Without shapes or layers a copy of the input's size to the host, in every step, tells which gradient it is."""
    given = Given()
    for start in (0, 1000, 2000):
        given.span("step", str(start), start, start + 1000)
        given.copy("HtoD", start + 10, start + 30, size_bytes=600_000)
        given.kernel("implicit_convolve_sgemm", start + 100, start + 200)
        given.kernel(WGRAD, start + 300, start + 400)
        given.kernel(DGRAD, start + 400, start + 500)
        given.copy("DtoH", start + 510, start + 540, size_bytes=600_000)
    connection = given.open(tmp_path)
    (row,) = section(connection, "firstlayer/gradient")
    assert (row["verdict"], row["dgrad_calls"], row["dgrad_ns"], row["copy_ns"]) == ("computed", 1, 130_000, 30_000)
    saved = "SELECT sum(saved_ns) FROM removable WHERE cost = 'firstlayer'"
    assert row["dgrad_ns"] == rows(connection, saved)[0][0]


def test_what_no_shape_and_no_copy_tells_is_not_nothing(tmp_path: Path) -> None:
    given = Given()
    for start in (0, 1000, 2000):
        given.span("step", str(start), start, start + 1000)
        given.kernel("implicit_convolve_sgemm", start + 100, start + 200)
        given.kernel(WGRAD, start + 300, start + 400)
        given.kernel(DGRAD, start + 400, start + 500)
    (row,) = section(given.open(tmp_path), "firstlayer/gradient")
    assert (row["verdict"], row["dgrad_calls"], row["dgrad_ns"], row["step_pct"]) == ("cannot tell", None, None, None)


def test_a_layer_tells_without_shapes(tmp_path: Path) -> None:
    """The gradient of the first of layers that only have names is known; that it reads data is not."""
    given = Given()
    given.span("step", "0", 0, 100)
    for name, start in (("conv1", 0), ("conv2", 10)):
        given.span("module", name, start, start + 9)
        operator(given, "aten::convolution", start + 1, start + 8, sequence=start + 1)
        given.kernel("implicit_convolve_sgemm", start + 3, start + 7, launched=start + 2)
    for sequence, start in ((11, 20), (1, 40)):
        operator(given, "aten::convolution_backward", start, start + 19, sequence=sequence, forward_thread=1, tid=2)
        for kernel, at, end in ((DGRAD, start + 5, start + 10), (WGRAD, start + 11, start + 13)):
            row = {"device": 0, "stream": 7, "name": kernel, "correlation": given.launch(None)}
            given.add("kernels", **row, start_ns=1000 * at, dur_ns=1000 * (end - at))
            call = {"name": "cudaLaunchKernel", "kind": "runtime", "correlation": given.correlation}
            given.add("api_calls", **call, pid=1, tid=2, start_ns=1000 * (at - 3), dur_ns=1000)
    connection = given.open(tmp_path)
    (row,) = section(connection, "firstlayer/gradient")
    assert (row["layer"], row["verdict"], row["dgrad_calls"], row["dgrad_ns"]) == ("conv1", "computed", 1, 5_000)
    assert rows(connection, "SELECT DISTINCT is_data FROM input_gradients") == [(False,)]


def test_a_later_call_of_the_first_layer_may_need_its_input_gradient(tmp_path: Path) -> None:
    """A GAN trains its discriminator on an image, then its generator through the discriminator."""
    given = Given()
    for step in (0, 1000):
        given.span("step", str(step), step, step + 1000)
        for sequence, at, x, w in (
            (1, 0, IMAGE, FIRST),
            (2, 200, (2, 8, 32, 32), (3, 8, 3, 3)),
            (3, 300, IMAGE, FIRST),
        ):
            conv(given, step + at, x, w, padding=1)
            given.rows["ops"][-1]["sequence"] = step + sequence
            given.kernel("implicit_convolve_sgemm", step + at + 5, step + at + 9, launched=step + at + 2)
        for sequence, at, kernel in ((1, 100, WGRAD), (3, 400, DGRAD)):
            conv_backward(given, step + at, IMAGE, FIRST, (2, 8, 32, 32), padding=1)
            given.rows["ops"][-1].update(sequence=step + sequence, forward_thread=1, tid=2)
            given.kernel(kernel, step + at + 5, step + at + 35, launched=step + at + 2)
            given.rows["api_calls"][-1]["tid"] = 2
    connection = given.open(tmp_path)
    (row,) = section(connection, "firstlayer/gradient")
    assert (row["verdict"], row["dgrad_calls"], row["dgrad_ns"]) == ("not computed", 0, 0)
    assert rows(
        connection, "SELECT count(*) FROM conv_calls WHERE direction = 'dgrad' AND forward_call IS NOT NULL"
    ) == [(2,)]
