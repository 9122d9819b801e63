"""Kernels in their call: the launching operator and the other kernels decide."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from vocabulary import ALGORITHMS, CATEGORIES

from traceview.classify import (
    classify_call,
    classify_in_context,
    classify_kernel,
    signature,
    tokens,
)
from traceview.classify.context import ContextRule, context_rules
from traceview.classify.parts import WAYS

EVERY_RULE = [pytest.param(rule, id=f"context.toml#{rule.number}") for rule in context_rules()]
WINOGRAD = ("winogradForwardData4x4", "winogradForwardFilter4x4", "volta_sgemm_64x64_nt", "winogradForwardOutput4x4")
WGRAD = ("winogradWgradData4x4", "winogradWgradDelta4x4", "volta_sgemm_64x64_nt", "winogradWgradOutput4x4")
ADD = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::CUDAFunctor_add<float>>>"
SUM = "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float>>>(T)"
AUTOGRAD = "autograd::engine::evaluate_function"
REGULAR = "regular_fft<1024u, EPT<16u>, 16u, 2u, (padding_t)1, unsigned int, float>(kernel_arguments_t<unsigned int>)"
UNFOLD = "void at::native::(anonymous namespace)::_unfold_backward_elementwise_kernel<128, 4>(int)"
COPY = "void at::native::elementwise_kernel<128, 2, at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)"


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_rule_wins_its_own_examples(rule: ContextRule) -> None:
    for example in rule.examples:
        verdict = classify_in_context(example["name"], example.get("op"), example.get("siblings"))
        assert verdict.rule.startswith(f"context.toml#{rule.number}:"), example


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_rule_speaks_the_vocabulary(rule: ContextRule) -> None:
    assert {*rule.own, *rule.op_category} <= set(CATEGORIES)
    assert {*rule.own_token, *rule.sibling, *rule.without} <= tokens() | {"known"} | WAYS
    assert rule.result.get("algorithm", "") in ("", *ALGORITHMS)
    assert rule.result.get("category", "op") in ("op", *CATEGORIES)


def answer(name: str, op: str | None, siblings: Any = None) -> tuple[str, str | None, str | None]:
    verdict = classify_in_context(name, op, siblings)
    return verdict.category, verdict.algorithm, verdict.direction


@pytest.mark.parametrize(
    ("name", "op", "siblings", "expected"),
    [
        ("volta_sgemm_64x64_nt", "aten::cudnn_convolution", WINOGRAD, ("conv", "winograd_nonfused", "fprop")),
        ("volta_sgemm_64x64_nn", "aten::cudnn_convolution", (), ("conv", "explicit_gemm", "fprop")),
        ("volta_sgemm_64x64_nn", "aten::addmm", (), ("gemm", None, None)),
        ("volta_sgemm_64x64_nn", None, None, ("gemm", None, None)),
        ("volta_sgemm_64x64_nn", "net/Conv2D", None, ("conv", None, "fprop")),
        ("ampere_cgemm_32x32_nn", "aten::bmm", None, ("gemm", None, None)),
        ("im2col_kernel", "aten::slow_conv2d_forward", None, ("conv", "explicit_gemm", "fprop")),
        ("im2col_kernel", "aten::im2col", None, ("concat_split", None, None)),
        ("col2im_kernel", "aten::col2im < Im2ColBackward0", None, ("concat_split", None, None)),
        (UNFOLD, "aten::unfold_backward", None, ("elementwise", None, None)),
        (REGULAR, "aten::_fft_r2c", None, ("other", None, None)),
        (f"void DSE::{REGULAR}", "aten::cudnn_convolution", None, ("conv", "fft", "fprop")),
        (ADD, "aten::convolution", None, ("bias", None, "fprop")),
        (ADD, "aten::add", None, ("elementwise", None, None)),
        (SUM, f"aten::sum < {AUTOGRAD}: AddmmBackward0", None, ("bias", None, None)),
        (SUM, f"aten::sum < {AUTOGRAD}: AddBackward0", None, ("reduction", None, None)),
        (SUM, f"aten::sum < {AUTOGRAD}: MmBackward0", None, ("reduction", None, None)),
        (COPY, "aten::copy_ < aten::clone < aten::contiguous", None, ("layout_transpose", None, None)),
        (COPY, "aten::copy_ < aten::_to_copy", None, ("cast", None, None)),
        (COPY, "aten::copy_", None, ("copy", None, None)),
        ("volta_scudnn_128x64_relu_small_nn_v1", "net/block/Relu", None, ("conv", "implicit_precomp_gemm", "fprop")),
        ("void nchwToNhwcKernel<float>(int)", "aten::cudnn_convolution", (), ("layout_transpose", None, "fprop")),
        ("Memset (Device)", "aten::miopen_batch_norm", None, ("memset", None, None)),
        ("convolution.5", "jit(step)/transpose(jvp(mlp))/dot_general", None, ("gemm", None, None)),
        ("convolution.11.remat", "model/dense/MatMul:MatMul", None, ("gemm", None, None)),
        ("convolution.5", "jit(step)/conv1/conv_general_dilated", None, ("conv", None, "fprop")),
    ],
)
def test_context_decides(
    name: str, op: str | None, siblings: Any, expected: tuple[str, str | None, str | None]
) -> None:
    assert answer(name, op, siblings) == expected


def test_without_context_the_name_decides() -> None:
    for name in (*WINOGRAD, ADD, "Memset (Device)", "x"):
        assert classify_in_context(name, None) == classify_kernel(name)


def test_siblings_may_be_tokens() -> None:
    reduced = sorted(frozenset[str]().union(*(signature(name) for name in WINOGRAD)))
    assert answer("volta_sgemm_64x64_nt", "aten::cudnn_convolution", reduced) == ("conv", "winograd_nonfused", "fprop")


def test_a_backward_call_is_cut_into_data_and_filter_gradient() -> None:
    verdicts = classify_call("aten::convolution_backward", (*WINOGRAD, *WGRAD))
    assert [v.direction for v in verdicts] == ["dgrad"] * 4 + ["wgrad"] * 4
    assert {v.algorithm for v in verdicts} == {"winograd_nonfused"}
    assert [v.role for v in verdicts] == ["transform", "transform", "main", "transform"] * 2


def test_a_forward_kernel_in_a_backward_call_gives_the_gradient_of_a_transposed_convolutions_input() -> None:
    forward, wgrad = "sm80_xmma_fprop_implicit_gemm_tf32f32", "sm80_xmma_wgrad_implicit_gemm_tf32f32"
    call = ("void cudnn::ops::nchwToNhwcKernel<float, float>(int)", forward, wgrad)
    for op in ("aten::convolution_backward", "_backward_Deconvolution"):
        assert [verdict.direction for verdict in classify_call(op, call)] == ["dgrad", "dgrad", "wgrad"]
    (one,) = classify_call("aten::_convolution_double_backward", (forward,))
    assert one.direction == "fprop"


def test_a_one_by_one_convolution_is_told_apart_by_operand_layout() -> None:
    call = (
        "volta_sgemm_128x64_nt",
        "volta_sgemm_128x64_tn",
        "void cudnn::cnn::reduce_wgrad_nchw_helper<float>(float*)",
    )
    verdicts = classify_call("aten::convolution_backward", call)
    assert [(v.algorithm, v.direction) for v in verdicts] == [
        ("explicit_gemm", "dgrad"),
        ("explicit_gemm", "wgrad"),
        ("explicit_gemm", "wgrad"),
    ]


@pytest.mark.parametrize(
    "product",
    [
        "sm80_xmma_gemm_f16f16_f16f32_f32_{}_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_128x128_32x5_{}_align8>(T)",
    ],
)
def test_a_one_by_one_convolution_of_channels_last_tensors_has_other_layouts(product: str) -> None:
    call = (product.format("nn"), product.format("nt"), "void splitKreduce_kernel<32, 16, int, float>(T)")
    verdicts = classify_call("aten::convolution_backward", call)
    assert [(v.algorithm, v.direction) for v in verdicts] == [
        ("explicit_gemm", "dgrad"),
        ("explicit_gemm", "wgrad"),
        ("explicit_gemm", "wgrad"),
    ]


@pytest.mark.parametrize("product", ["cutlass_80_tensorop_c1688gemm_64x64_16x4_nn_align1", "ampere_zgemm_64x32_nn"])
def test_a_complex_product_of_the_other_gradient_is_not_of_the_pair(product: str) -> None:
    forth, back = (f"void fft2d_{way}_32x32<float, false, 1u, false>(float*)" for way in ("r2c", "c2r"))
    verdicts = classify_call("aten::convolution_backward", ("ampere_sgemm_128x64_nt", forth, forth, product, back))
    assert [verdict.direction for verdict in verdicts] == ["dgrad"] + ["wgrad"] * 4


def test_a_complex_product_alone_in_a_convolution_is_no_one_by_one_filter() -> None:
    product = "void gemv2N_kernel<int, int, {0}, {0}, {0}, {0}, 128, 8, 4, 4, 1, false>(Params)"
    transpose = "void transpose_readWrite_alignment_kernel<{0}, {0}, 1, false, 6, 4, 4>(cublasTransposeParams<{0}>)"
    for number, algorithm in (("float2", None), ("double2", None), ("float", "explicit_gemm")):
        verdicts = classify_call("net/conv1/Conv2D", (transpose.format(number), product.format(number)))
        assert [(v.category, v.algorithm, v.role) for v in verdicts] == [
            ("conv", algorithm, "helper"),
            ("conv", algorithm, "main"),
        ]
    mangled = "_Z13gemmk1_kernelI6float2Li256ELi5ELb1ELb0ELb0ELb0EEv18cublasGemmk1ParamsIT_E"
    assert answer(mangled, "aten::cudnn_convolution", [mangled]) == ("conv", None, "fprop")


# What cuDNN and MIOpen launch for each algorithm -> that algorithm.
CALLS = {
    "implicit_gemm": ["void implicit_convolve_sgemm<float, float, 512>(int)"],
    "implicit_precomp_gemm": ["computeOffsetsKernel", "maxwell_scudnn_128x32_relu_small_nn"],
    "explicit_gemm": ["im2col4d_kernel", "explicit_convolve_sgemm"],
    "fft": ["flip_filter", "fft2d_r2c_32x32", "fft2d_r2c_32x32", "volta_cgemm_32x32_tn", "fft2d_c2r_32x32"],
    "fft_tiling": ["fft2d_r2c_32x32", "fft2d_r2c_32x32", "volta_gcgemm_32x32_nt", "fft2d_c2r_32x32"],
    "winograd": ["generateWinogradTilesKernel", "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"],
    "winograd_nonfused": [*WINOGRAD],
    "depthwise": ["void at::native::conv_depthwise2d_forward_kernel<3, float, int>(float*)"],
    "direct": ["naive_conv_fwd_nchw_half"],
}
MORE_CALLS = [
    ("implicit_gemm", ["SubTensorOpWithScalar1d", "batched_transpose_32x32_half", "igemm_fwd_gtcx3_nhwc_bf16_bx0"]),
    ("explicit_gemm", ["Im2d2Col_v2", "Cijk_Ailk_Bljk_BBS_BH_MT32x64x64"]),
    ("explicit_gemm", ["transpose_NCHW2CNHW_V2_2D", "Cijk_Ailk_Bljk_BBS_BH_MT32x64x64", "transpose_CNHW2NCHW_V2_2D"]),
    ("implicit_gemm", ["nchwToNhwcKernel", "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32", "nhwcToNchwKernel"]),
    ("fft", ["fft2d_r2c_64x64", "pointwise_mult_and_sum_complex", "fft2d_c2r_64x64"]),
    ("fft_tiling", ["fft1d_r2c_32", "volta_gcgemm_32x32_nt", "fft1d_c2r_32"]),
    ("implicit_gemm", ["void scalePackedTensor_kernel<float, float>(float*)", "void dgrad_engine<float, 512>(int)"]),
]


@pytest.mark.parametrize(("algorithm", "kernels"), [*CALLS.items(), *MORE_CALLS])
def test_a_call_is_recognised_by_its_kernels(algorithm: str, kernels: list[str]) -> None:
    parts = classify_call("aten::cudnn_convolution", tuple(kernels))
    assert {part.algorithm for part in parts if part.category == "conv" and part.role == "main"} == {algorithm}


@pytest.mark.shared
def test_labelled_calls(shared: Path) -> None:
    with (shared / "kernels" / "in_context.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    right = 0
    for row in rows:
        kernels = row["kernels_of_the_same_op_instance"]
        siblings = None if kernels == "-" else [name.strip() for name in kernels.split(" | ")]
        category, algorithm, direction = answer(row["name"], row["launching_op"], siblings)
        accepted = row["conv_algorithm"].replace("unknown", "-").split("|")
        good = category == row["category"] and (algorithm or "-") in accepted
        good = good and (row["conv_pass"] in ("unknown", "-") or direction == row["conv_pass"])
        right += good
        if not good:
            print(
                f"\n{row['category']} {row['conv_algorithm']} {row['conv_pass']} but {category} {algorithm} {direction}"
            )
    print(f"\nin context: {right} of {len(rows)}, {100 * right / len(rows):.2f} %")
    assert right / len(rows) >= 0.98
