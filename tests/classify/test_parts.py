"""A call is cut into its parts, and each part has one algorithm and one pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

from traceview.classify import classify_call, classify_op

BACKWARD = "aten::convolution_backward"
SGEMM, WGRAD = "volta_sgemm_32x32_sliced1x4_nn", "void cudnn::cnn::wgrad_alg1_engine<float, 128>(int)"
IN, OUT = "void nchwToNhwcKernel<float>(int)", "void nhwcToNchwKernel<float>(int)"
R2C, C2R = "void fft2d_r2c_32x32<float, false, 1u, true>(float2*)", "void fft2d_c2r_32x32<float, false>(float*)"
GCGEMM, CGEMM = "volta_gcgemm_32x32_nt", "volta_cgemm_32x32_tn"
GEMV = "void gemv2N_kernel<int, int, float2, float2, float2, float2, 128, 8>(Params)"


def passes(*names: str) -> list[str | None]:
    return [verdict.direction for verdict in classify_call(BACKWARD, names)]


def algorithms(op: str, *names: str) -> list[str | None]:
    return [verdict.algorithm for verdict in classify_call(op, names)]


def test_a_product_without_a_pass_before_the_filter_gradient_is_the_data_gradient() -> None:
    assert passes(SGEMM, WGRAD) == ["dgrad", "wgrad"]


def test_a_product_without_a_pass_among_several_stays_without() -> None:
    assert passes(SGEMM, SGEMM, WGRAD) == [None, None, "wgrad"]


def test_layout_changes_and_fills_go_with_their_own_part() -> None:
    dgrad = "sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckcrs_nhwc_tilesize128x64x64"
    wgrad = "sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckcrs_nhwc_tilesize128x64x64"
    call = (IN, IN, dgrad, OUT, IN, IN, "Memset (Device)", wgrad, OUT)
    assert passes(*call) == ["dgrad"] * 4 + ["wgrad"] * 5


@pytest.mark.parametrize("source", ["nhwc", "nchw"])
def test_a_tensor_is_folded_before_the_product_and_unfolded_after_it(source: str) -> None:
    name = "void cudnn::engines_precompiled::{}Kernel<__half, __half, float, true>(Params)"
    fold, unfold = name.format(f"{source}ToFoldedNhwc"), name.format("foldedNhwcToNhwc")
    dgrad = "sm80_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckcrs_nhwc_tilesize128x64x64"
    wgrad = "sm80_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckcrs_nhwc_tilesize128x64x64"
    found = classify_call(BACKWARD, (fold, dgrad, unfold, fold, wgrad))
    assert [(one.category, one.direction) for one in found] == [
        ("layout_transpose", "dgrad"),
        ("conv", "dgrad"),
        ("layout_transpose", "dgrad"),
        ("layout_transpose", "wgrad"),
        ("conv", "wgrad"),
    ]


def test_a_transpose_whose_way_is_not_told_undoes_the_one_before_the_product() -> None:
    turn, dgrad, wgrad = "batched_transpose_32x32_half", "igemm_bwd_gtcx3_nhwc_bf16", "igemm_wrw_gtcx3_nhwc_bf16"
    assert passes(turn, dgrad, turn, turn, wgrad, turn) == ["dgrad"] * 3 + ["wgrad"] * 3


def test_pixels_between_strides_are_left_out_before_the_product_and_put_in_after_it() -> None:
    call = ("miopenGcnAsmConv1x1U.kd", "UpSample.kd", "SubSample.kd", "miopenGcnAsmConv1x1WrW.kd")
    assert passes(*call) == ["dgrad", "dgrad", "wgrad", "wgrad"]


def test_offset_tables_go_with_the_product_after_them() -> None:
    call = ("dgrad_engine", "computeOffsetsKernel", "ampere_scudnn_128x64_stridedB_splitK_small_nn_v1")
    assert passes(*call) == ["dgrad", "wgrad", "wgrad"]


@pytest.mark.parametrize(("product", "algorithm"), [(GCGEMM, "fft_tiling"), (CGEMM, "fft"), (GEMV, "fft")])
def test_a_part_with_ffts_has_one_label(product: str, algorithm: str) -> None:
    assert algorithms("aten::cudnn_convolution", R2C, R2C, product, product, C2R) == [algorithm] * 5


def test_trials_of_a_search_keep_their_own_label() -> None:
    fft = ("flip_filter", R2C, R2C, CGEMM, C2R)
    tiling = (R2C, R2C, GCGEMM, C2R)
    assert algorithms("aten::cudnn_convolution", *tiling, *fft, *tiling) == [
        *["fft_tiling"] * 4,
        *["fft"] * 5,
        *["fft_tiling"] * 4,
    ]


def test_a_split_k_helper_has_its_calls_algorithm() -> None:
    winograd = (
        "winogradForwardData4x4",
        "winogradForwardFilter4x4",
        SGEMM,
        "splitKreduce_kernel",
        "winogradForwardOutput4x4",
    )
    assert algorithms("aten::cudnn_convolution", *winograd) == ["winograd_nonfused"] * 5
    assert algorithms("aten::cudnn_convolution", SGEMM, "splitKreduce_kernel") == ["explicit_gemm"] * 2


UNROLLED = [
    ("ampere_sgemm_128x64_nt", "col2im_kernel", "im2col_kernel", "ampere_sgemm_128x64_tn"),
    ("Cijk_Ailk_Bjlk_SB_MT128x64x16", "Col2Im2dU.kd", "Im2d2Col_v2.kd", "Cijk_Alik_Bljk_SB_MT64x64x16"),
]


@pytest.mark.parametrize("kernels", UNROLLED)
def test_columns_of_the_image_are_for_the_filter_gradient(kernels: tuple[str, ...]) -> None:
    dgrad, wgrad = kernels[:2], kernels[2:]
    assert passes(*dgrad * 4, *wgrad * 4) == ["dgrad"] * 8 + ["wgrad"] * 8
    assert passes(*kernels * 4) == ["dgrad", "dgrad", "wgrad", "wgrad"] * 4
    assert passes("igemm_bwd_gtcx3_nhwc_bf16", *wgrad * 2) == ["dgrad"] + ["wgrad"] * 4


@pytest.mark.parametrize("kernels", UNROLLED)
def test_columns_alone_may_be_for_either_gradient_of_a_transposed_convolution(kernels: tuple[str, ...]) -> None:
    assert passes(*kernels[2:] * 2) == [None] * 4


def test_columns_of_the_image_in_a_double_backward_are_for_a_forward_pass_as_well() -> None:
    product = "Cijk_Ailk_B{}k_SB_MT128x64x16"
    call = ("Im2d2Col_v2.kd", product.format("lj"), product.format("jl"), "Col2Im2dU.kd")
    found = classify_call("aten::_convolution_double_backward", call)
    assert [one.direction for one in found] == [None, None, "dgrad", "dgrad"]


@pytest.mark.slow
def test_the_operator_inside_the_call_says_the_pass(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::cudnn_convolution_backward", 0, 40)
    given.op("aten::cudnn_convolution_backward_input", 1, 15)
    given.op("aten::cudnn_convolution_backward_weight", 20, 35)
    for at in (100, 200):
        for place, name in enumerate((R2C, CGEMM, C2R)):
            start = at + 10 * place
            given.kernel(name, start, start + 5, launched=(2 if at == 100 else 21) + 2 * place)
    found = rows(given.open(tmp_path), "SELECT direction, algorithm FROM kernels ORDER BY start_ns")
    assert found == [("dgrad", "fft")] * 3 + [("wgrad", "fft")] * 3


@pytest.mark.slow
def test_two_parts_of_one_backward_call_are_no_search(tmp_path: Path) -> None:
    given = Given()
    given.op(BACKWARD, 0, 40)
    given.kernel(SGEMM, 100, 110, launched=2)
    given.kernel(IN, 110, 112, launched=4)
    given.kernel(WGRAD, 120, 140, launched=6)
    calls = rows(
        given.open(tmp_path), "SELECT direction, algorithm, main_ns, layout_ns FROM conv_calls ORDER BY direction"
    )
    assert calls == [("dgrad", "explicit_gemm", 10_000, 0), ("wgrad", "implicit_gemm", 20_000, 2_000)]


COPIES = "<ck::GridwiseElementwise<ck::Tuple<float const*>, ck::tensor_operation::element_wise::PassThrough>>(P)"
BOTH = f"void ck::kernel_elementwise_batched_dual{COPIES}"
ONE = f"void ck::kernel_batched_elementwise{COPIES}"


def test_transposes_of_composable_kernel_in_a_convolution_are_no_bias(tmp_path: Path) -> None:
    given = Given()
    given.op(BACKWARD, 0, 100)
    call = (
        (BOTH, 50),
        ("void ck::kernel_grouped_conv_bwd_data_multiple_d_xdl_cshuffle<ck::Traits>(P)", 200),
        (ONE, 40),
        (BOTH, 60),
        ("void ck::kernel_grouped_conv_bwd_weight_xdl_cshuffle_v3<ck::Traits>(P)", 220),
        (ONE, 30),
    )
    for place, (name, lasting) in enumerate(call):
        given.kernel(name, 1000 * place, 1000 * place + lasting, launched=2 + 10 * place)
    calls = rows(
        given.open(tmp_path),
        "SELECT direction, main_ns, layout_ns, bias_ns, helper_ns FROM conv_calls ORDER BY direction",
    )
    assert calls == [("dgrad", 200_000, 90_000, 0, 0), ("wgrad", 220_000, 60_000, 0, 30_000)]


@pytest.mark.slow
def test_a_filter_gradient_is_cast_before_it_is_transposed_back(tmp_path: Path) -> None:
    """In tensors of NCHW MIOpen transposes around Composable Kernel's product, whose second stage is a cast."""
    turn, given = "batched_transpose_32x32_half.kd", Given()
    given.op(BACKWARD, 0, 100)
    call = (
        (turn, 10),
        (turn, 11),
        ("void ck::kernel_grouped_conv_bwd_data_multiple_d_xdl_cshuffle<ck::Traits>(P)", 100),
        (turn, 12),
        (turn, 13),
        (turn, 14),
        ("void ck::kernel_grouped_conv_bwd_weight_xdl_cshuffle_v3<ck::Traits>(P)", 120),
        (ONE, 15),
        (turn, 30),
    )
    for place, (name, lasting) in enumerate(call):
        given.kernel(name, 1000 * place, 1000 * place + lasting, launched=2 + 10 * place)
    calls = rows(
        given.open(tmp_path), "SELECT direction, main_ns, layout_ns, helper_ns FROM conv_calls ORDER BY direction"
    )
    assert calls == [("dgrad", 100_000, 33_000, 0), ("wgrad", 120_000, 57_000, 15_000)]
    names = [name for name, _ in call]
    assert passes(*names[4:], *names[:4]) == ["wgrad"] * 5 + ["dgrad"] * 4


def test_the_cast_after_an_explicit_product_of_composable_kernel_finishes_the_filter_gradient() -> None:
    call = (
        "void ck::kernel_grouped_conv_bwd_data_multiple_d_xdl_cshuffle<ck::Traits>(P)",
        "void ck::kernel_batched_gemm_xdl_cshuffle_v3_multi_d<ck::Traits>(P)",
        f"void ck::kernel_elementwise{COPIES}",
    )
    found = classify_call(BACKWARD, call)
    assert [(one.category, one.algorithm, one.direction, one.role) for one in found] == [
        ("conv", "implicit_gemm", "dgrad", "main"),
        ("conv", "explicit_gemm", "wgrad", "main"),
        ("conv", "explicit_gemm", "wgrad", "helper"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        BOTH,
        "_ZN2ck23kernel_elementwise_dualINS_19GridwiseElementwiseIiEES2_EEvT_",
        ONE,
        "_ZN2ck18kernel_elementwiseINS_19GridwiseElementwiseINS_5TupleIJPKfEEENS_16tensor_operation12element_wise"
        "11PassThroughEEEEEvT_",
    ],
)
def test_a_transpose_of_composable_kernel_is_told_in_every_spelling(name: str) -> None:
    assert classify_call("aten::convolution", (name,))[0].category == "layout_transpose"


def test_miopens_sum_of_split_filter_gradients_is_no_bias() -> None:
    call = ("igemm_bwd_gtcx_nchw_fp32_bx0.kd", "igemm_v4r1_dynamic_wrw_128x128x16.kd", "wrw_reduction_hip.kd")
    found = classify_call(BACKWARD, call)
    assert [(one.category, one.direction, one.role) for one in found] == [
        ("conv", "dgrad", "main"),
        ("conv", "wgrad", "main"),
        ("conv", "wgrad", "helper"),
    ]


@pytest.mark.slow
def test_what_a_compiler_fused_behind_a_convolution_is_no_call(tmp_path: Path) -> None:
    given = Given()
    given.op("triton_poi_fused_convolution_relu_9", 0, 10)
    given.kernel("triton_poi_fused_convolution_relu_9", 100, 110, launched=2)
    given.op("triton_tem_fused_convolution_4", 20, 30)
    given.kernel("triton_tem_fused_convolution_4", 120, 140, launched=22)
    connection = given.open(tmp_path)
    assert rows(connection, "SELECT op_name, algorithm FROM conv_calls") == [
        ("triton_tem_fused_convolution_4", "implicit_gemm")
    ]
    assert classify_op("triton_per_fused_convolution_native_group_norm_3").category == "triton_fused"
