"""Rows under a convolution operator, judged together."""

from __future__ import annotations

from traceview.classify import classify_kernel, classify_primitive
from traceview.classify.calls import Item, classify_parts, classify_stage, stage_mark

DIRECT = "jit:avx512_core"


def primitive(kind: str, impl: str, prop: str) -> Item:
    return Item(kind, True, classify_primitive(kind, impl, prop))


def kernel(name: str) -> Item:
    return Item(name, False, classify_kernel(name))


def test_a_reorder_goes_with_the_convolution_it_prepares_else_with_the_last() -> None:
    items = [
        primitive("reorder", "jit:blk", "undef"),
        primitive("convolution", DIRECT, "backward_data"),
        primitive("reorder", "jit:uni", "undef"),
        primitive("convolution", DIRECT, "backward_weights"),
        primitive("reorder", "jit:blk", "undef"),
    ]
    parts = classify_parts("aten::convolution_backward", items)
    assert [part.direction for part in parts] == ["dgrad", "dgrad", "wgrad", "wgrad", "wgrad"]
    assert [part.category for part in parts] == [
        "layout_transpose",
        "conv",
        "layout_transpose",
        "conv",
        "layout_transpose",
    ]
    assert [part.algorithm for part in parts] == [None, "direct", None, "direct", None]


def test_a_gemm_between_winograd_transforms_is_winograd_and_alone_it_is_explicit_gemm() -> None:
    winograd = [
        "winogradForwardData4x4",
        "winogradForwardFilter4x4",
        "volta_sgemm_128x64_nn",
        "winogradForwardOutput4x4",
    ]
    parts = classify_parts("aten::cudnn_convolution", [kernel(name) for name in winograd])
    assert [(part.algorithm, part.direction, part.role) for part in parts] == [
        ("winograd_nonfused", "fprop", "transform"),
        ("winograd_nonfused", "fprop", "transform"),
        ("winograd_nonfused", "fprop", "main"),
        ("winograd_nonfused", "fprop", "transform"),
    ]
    (alone,) = classify_parts("aten::cudnn_convolution", [kernel("volta_sgemm_128x64_nn")])
    assert (alone.category, alone.algorithm, alone.role) == ("conv", "explicit_gemm", "main")


def test_no_items_no_parts() -> None:
    assert classify_parts("aten::conv2d", []) == []


def test_marks_of_kernels_in_the_order_of_a_stream() -> None:
    marks = {
        "winogradForwardData4x4": "open",
        "void fft2d_r2c_32x32<float, false, 0u, false>(float2*)": "open",
        "im2col4d_kernel": "unroll",
        "volta_sgemm_128x64_nn": "product",
        "volta_cgemm_32x32_tn": "product",
        "winogradForwardOutput4x4": "close",
        "flip_filter": "open",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "none",
    }
    assert {name: stage_mark(name) for name in marks} == marks


def test_a_stage_without_an_operator_is_told_by_neighbours() -> None:
    names = ("winogradWgradData4x4", "winogradWgradDelta4x4", "volta_sgemm_128x64_nt", "winogradWgradOutput4x4")
    parts = classify_stage(names)
    assert [(part.category, part.algorithm, part.direction) for part in parts] == [
        ("conv", "winograd_nonfused", "wgrad")
    ] * 4
    assert [part.role for part in parts] == ["transform", "transform", "main", "transform"]


def test_the_pass_of_winograds_forward_form_is_not_told_without_an_operator() -> None:
    parts = classify_stage(("winogradForwardData4x4", "volta_sgemm_128x64_nn", "winogradForwardOutput4x4"))
    assert {part.direction for part in parts} == {None}
