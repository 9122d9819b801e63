"""Rows under a convolution operator, judged together."""

from __future__ import annotations

from traceview.classify import classify_kernel, classify_primitive
from traceview.classify.calls import Item, classify_parts

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
