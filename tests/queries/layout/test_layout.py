"""Layout changes: where, which formats, of what they are a share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from given import Given, conv, pick, section

pytestmark = pytest.mark.slow

IMAGE, FILTER = (2, 8, 32, 32), (8, 8, 3, 3)
TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"


def test_a_layout_change_inside_a_convolution_is_a_share_of_it(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER, padding=1)
    given.kernel(TO_NHWC, 2, 3, launched=1)
    given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 3, 6, launched=2)
    given.op("aten::contiguous", 20, 30)
    given.kernel(TO_NHWC, 22, 23, launched=21)
    given.kernel("ampere_sgemm_128x64_nn", 30, 35)
    connection = given.open(tmp_path)
    found = section(connection, "layout/summary")
    assert pick(found, "place", "busy_ns", "busy_pct", "conv_pct") == [
        ("between operators", 1000.0, 10.0, None),
        ("inside convolutions", 1000.0, 10.0, 25.0),
    ]
    changes = section(connection, "layout/changes")
    assert pick(changes, "layer", "direction", "source", "target", "layer_pct") == [
        ("aten::contiguous", None, "NCHW", "NHWC", None),
        ("filter 8x8x3x3", "fprop", "NCHW", "NHWC", 25.0),
    ]


def test_device_time_has_what_was_launched_before_a_step(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (1000, 2000, 3000):
        given.span("step", f"step#{start}", start, start + 900)
        given.kernel("ampere_sgemm_128x64_nn", start + 200, start + 800, launched=start - 50)
        conv(given, start, IMAGE, FILTER, padding=1)
        given.kernel(TO_NHWC, start + 20, start + 70, launched=start + 1)
        given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", start + 70, start + 170, launched=start + 2)
        given.op("aten::contiguous", start + 20, start + 30)
        given.kernel(TO_NHWC, start + 800, start + 850, launched=start + 21)
    connection = given.open(tmp_path)
    found = section(connection, "layout/summary")
    assert pick(found, "place", "busy_ns", "busy_pct", "conv_pct") == [
        ("between operators", 50_000.0, 6.25, None),
        ("inside convolutions", 50_000.0, 6.25, pytest.approx(100 / 3)),
    ]
    assert pick(section(connection, "layout/changes"), "busy_pct") == [(6.25,), (6.25,)]


def test_a_change_without_an_operator_may_be_anywhere(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER, padding=1)
    given.kernel(TO_NHWC, 2, 3, launched=1)
    given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 3, 6, launched=2)
    given.kernel(TO_NHWC, 12, 14)
    given.op("aten::contiguous", 20, 30)
    given.kernel(TO_NHWC, 22, 26, launched=21)
    connection = given.open(tmp_path)
    places = [("between operators", 4000.0), ("(unknown)", 2000.0), ("inside convolutions", 1000.0)]
    for part in ("layout/summary", "layout/changes", "overview/layout"):
        assert pick(section(connection, part), "place", "busy_ns") == places, part


def test_without_operators_the_place_of_a_conversion_is_known_beside_a_convolution(tmp_path: Path) -> None:
    given = Given()
    given.kernel(TO_NHWC, 2, 3, launched=1)
    given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 3, 6, launched=2)
    given.kernel("batchnorm_fwd", 6, 7, launched=3)
    given.kernel(TO_NHWC, 7, 9, launched=4)
    places = [("(unknown)", 1.0), ("inside convolutions", 1.0)]
    assert pick(section(given.open(tmp_path), "layout/summary"), "place", "calls") == places


def test_formats_of_a_cpu_library_are_those_of_its_log(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 100)
    formats = "src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd16b::f0"
    given.add(
        "primitives", start_ns=1000, dur_ns=1000, library="oneDNN", kind="reorder", impl="jit:uni", formats=formats
    )
    (row,) = section(given.open(tmp_path), "layout/changes")
    assert (row["source"], row["target"]) == ("abcd", "aBcd16b")


def test_a_reorder_between_equal_formats_is_a_copy(tmp_path: Path) -> None:
    """oneDNN's direct copy takes no other: biases, mostly."""
    given = Given()
    equal, turned = "src:f32::blocked:a::f0 dst:f32::blocked:a::f0", "src:f32::blocked:ab::f0 dst:f32::blocked:ba::f0"
    given.primitive("reorder", 1, 4, impl="jit_direct_copy:uni", formats=equal)
    given.primitive("reorder", 4, 5, impl="jit:uni", formats=turned)
    with given.open(tmp_path) as connection:
        assert pick(section(connection, "layout/summary"), "calls", "busy_ns", "busy_pct") == [(1, 1000, 25)]
        assert pick(section(connection, "overview/categories"), "category", "busy_ns")[:2] == [
            ("copy", 3000),
            ("layout_transpose", 1000),
        ]


def test_without_layer_and_shape_there_is_no_share_of_a_layer(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 30)
    given.op("aten::contiguous", 1, 5)
    given.op("aten::cudnn_convolution", 6, 20)
    given.kernel(TO_NHWC, 40, 50, launched=2)
    given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", 50, 80, launched=8)
    with given.open(tmp_path) as connection:
        assert pick(section(connection, "layout/changes"), "layer", "layer_pct") == [("aten::contiguous", None)]
        assert pick(section(connection, "layout/summary"), "conv_pct") == [(25.0,)]


def test_a_filters_transpose_is_told_from_an_images(tmp_path: Path) -> None:
    given = Given()
    for place, order in enumerate(("2, 1, 0", "0, 2, 1")):
        name = f"void tensorflow::functor::ShuffleInTensor3Simple<float, {order}, false>(int, float const*)"
        given.kernel(name, 10 * place, 10 * place + 5 - place)
    found = section(given.open(tmp_path), "layout/changes")
    assert pick(found, "source", "target") == [("filter", "filter"), ("(unknown)", "(unknown)")]


@pytest.mark.parametrize(
    ("strides", "category"),
    [
        ([[1024, 1], [3072, 1]], "copy"),  # Columns of a wider matrix.
        ([[1024, 1], [0, 1]], "copy"),  # One row, repeated.
        ([[1024, 1], [1, 4096]], "layout_transpose"),
        ([[], []], "layout_transpose"),  # Not recorded.
        (None, "layout_transpose"),
    ],
)
def test_a_copy_in_the_order_of_its_source_changes_no_layout(
    strides: list[list[int]] | None, category: str, tmp_path: Path
) -> None:
    given = Given()
    given.op("aten::contiguous", 0, 10)
    given.op("aten::clone", 1, 9)
    given.op("aten::copy_", 2, 8, [(4096, 1024), (4096, 1024), ()])
    given.rows["ops"][-1]["strides"] = json.dumps([*strides, []]) if strides else None
    given.kernel("void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda>(int)", 20, 30, launched=3)
    connection = given.open(tmp_path)
    assert connection.execute("SELECT category FROM kernels").fetchall() == [(category,)]
    assert connection.execute("SELECT category FROM ops WHERE name = 'aten::copy_'").fetchall() == [(category,)]
