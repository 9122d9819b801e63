"""Which library adds the biases and computes the activations; what is fused is said to be fused, not zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases import first
from given import Given, conv, pick, section

IMAGE, FILTER = (2, 8, 32, 32), (8, 8, 3, 3)
ADD = "void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add<float>>(int)"
CLAMP = "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar>(int)"
MAIN = "sm80_xmma_fprop_implicit_gemm_tf32f32"


def all_layers(found):  # type: ignore[no-untyped-def]
    return pick([row for row in found if row["layer"] == "(all layers)"], "work", "library", "form", "calls", "busy_ns")


def test_a_bias_and_an_activation_with_kernels_of_their_own(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER, padding=1)
    given.op("aten::add_", 6, 9)
    given.kernel(MAIN, 2, 5, launched=1)
    given.kernel(ADD, 7, 9, launched=7)
    given.op("aten::relu", 20, 30)
    given.op("aten::clamp_min", 21, 29)
    given.kernel(CLAMP, 22, 25, launched=22)
    found = section(given.open(tmp_path), "pointwise/layers")
    assert all_layers(found) == [
        ("activation", "pytorch", "unfused", 1, 3000.0),
        ("bias", "pytorch", "unfused", 1, 2000.0),
    ]


def test_a_bias_without_a_kernel_is_fused(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER, padding=1)
    given.kernel(MAIN, 2, 5, launched=1)
    assert [row[0::2] for row in all_layers(section(given.open(tmp_path), "pointwise/layers"))] == [
        ("bias", "fused", None)
    ]


def test_pytorch_calls_a_fused_convolution_after_its_activation(tmp_path: Path) -> None:
    given = Given()
    x, w, bias, y = IMAGE, FILTER, (8,), (2, 8, 32, 32)
    window = [[1, 1], [1, 1], [1, 1]]
    given.op("aten::cudnn_convolution_relu", 0, 10, [x, w, bias, (), (), (), ()], ["", "", "", *window, 1])
    given.kernel(MAIN, 2, 5, launched=1)
    shapes, values = [x, w, y, (), bias, (), (), (), ()], ["", "", "", 1.0, "", *window, 1]
    given.op("aten::cudnn_convolution_add_relu", 20, 30, shapes, values)
    given.kernel(MAIN, 22, 25, launched=21)
    given.op("aten::miopen_convolution_relu", 40, 50)
    given.kernel("igemm_fwd_gtcx3_nhwc_fp32_bx0_ex0_bt64x64x16", 42, 45, launched=41)
    given.kernel(CLAMP, 45, 46, launched=43)
    assert all_layers(section(given.open(tmp_path), "pointwise/layers")) == [
        ("activation", "pytorch", "unfused", 1, 1000.0),
        ("activation", "cudnn", "fused", 2, None),
        ("bias", "cudnn", "fused", 2, None),
    ]


@pytest.mark.parametrize(
    ("prop_kind", "bias", "attributes", "fused"),
    first(
        1,
        [
            ("forward_inference", "f32:a:blocked:a", "attr-post-ops:eltwise_relu", ["activation", "bias"]),
            ("backward_weights", "f32:a:blocked:a", "attr-scratchpad:user", ["bias gradient"]),
            ("backward_data", "undef::undef:", "attr-scratchpad:user", []),
        ],
    ),
)
def test_onednn_logs_what_it_fused(
    tmp_path: Path, prop_kind: str, bias: str, attributes: str, fused: list[str]
) -> None:
    given = Given()
    given.op("aten::conv2d", 0, 100)
    given.add(
        "primitives",
        start_ns=1000,
        dur_ns=5000,
        library="oneDNN 3",
        kind="convolution",
        impl="jit:avx512_core",
        prop_kind=prop_kind,
        formats=f"src:f32:a:blocked:abcd::f0 wei:f32:a:blocked:Acdb16a::f0 bia:{bias}::f0 dst:f32",
        attributes=attributes,
    )
    found = all_layers(section(given.open(tmp_path), "pointwise/layers"))
    assert found == [(work, "oneDNN 3", "fused", 1, None) for work in fused]


def test_the_epilogue_kernel_of_a_linear_layer_is_its_bias(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::addmm", 0, 10)
    given.kernel("ampere_sgemm_32x32_sliced1x4_tn", 2, 5, launched=1)
    given.kernel("void epilogue::impl::globalKernel<float, float, float, true, true>(int)", 5, 6, launched=2)
    found = all_layers(section(given.open(tmp_path), "pointwise/layers"))
    assert found == [("bias", "cublas", "epilogue kernel", 1, 1000.0)]


@pytest.mark.long
def test_tensorflow_calls_a_fused_operator_after_its_last_part(tmp_path: Path) -> None:
    given = Given()
    given.op("net/conv1/Relu:_MklNativeFusedConv2D", 0, 9)
    given.op("net/fc1/BiasAdd:_FusedMatMul", 10, 19)
    given.op("tape/net/conv1/Conv2DBackpropFilter:_MklNativeConv2DBackpropFilterWithBias", 20, 29)
    found = pick(section(given.open(tmp_path), "pointwise/layers"), "layer", "work", "library", "form", "calls")
    assert [row[1:] for row in found if row[0] == "(all layers)"] == [
        # Whether the convolution added a bias or a batch normalisation's offset stands nowhere.
        ("activation", "oneDNN", "fused", 1),
        ("bias", "framework", "fused", 1),
        ("bias gradient", "oneDNN", "fused", 1),
    ]


@pytest.mark.long
def test_work_beside_other_work_has_a_time_and_is_not_busy(tmp_path: Path) -> None:
    given = Given()
    given.op("net/fc1/MatMul:MatMul", 0, 100)
    row = {"name": "tape/net/conv1/ReluGrad:ReluGrad", "pid": 1, "tid": 2}
    given.add("ops", start_ns=20_000, dur_ns=5_000, **row)
    found = section(given.open(tmp_path), "pointwise/layers")
    assert pick(found[:1], "layer", "form", "time_ns", "busy_ns") == [("(all layers)", "operator", 5000, 0)]
