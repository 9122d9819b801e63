"""Names alone: every rule wins its own examples, and labelled real names come out right."""

from __future__ import annotations

import csv
import gzip
import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from vocabulary import ALGORITHMS, CATEGORIES

from traceview.classify import (
    classify_kernel,
    classify_name,
    classify_op,
    classify_primitive,
    rules,
)
from traceview.classify.hints import fold, literals
from traceview.classify.names import head, leaf
from traceview.classify.rules import FOLDER, Rule, Verdict

FILES = ("kernels.toml", "primitives.toml", "ops.toml", "hlo.toml")
EVERY_RULE = [pytest.param(file, rule, id=rule.label) for file in FILES for rule in rules(file).rules]


@pytest.mark.parametrize(("file", "rule"), EVERY_RULE)
def test_every_rule_wins_its_own_examples(file: str, rule: Rule) -> None:
    assert rule.examples
    for example in rule.examples:
        assert rules(file).verdict(leaf(example) if file == "ops.toml" else example).rule == rule.label, example


@pytest.mark.parametrize(("file", "rule"), EVERY_RULE)
def test_every_rule_speaks_the_vocabulary(file: str, rule: Rule) -> None:
    assert rule.category in CATEGORIES
    assert rule.algorithm is None or (rule.category == "conv" and rule.algorithm in ALGORITHMS)
    assert rule.direction in (None, "fprop", "dgrad", "wgrad")
    assert rule.role in (None, "main", "transform", "helper")
    assert rule.why.endswith(".")


@pytest.mark.parametrize("file", FILES)
def test_a_name_that_no_convention_knows_is_other(file: str) -> None:
    assert rules(file).verdict("\x1b[31m\u202e ???").category == "other"
    assert rules(file).verdict("").category == "other"


# One convention per line: the name form, and what it must come out as.
CONVENTIONS = {
    # traps: a word inside another word
    "void broadcast_kernel<float>(float*)": "elementwise",
    "void at::native::vectorized_elementwise_kernel<4, at::native::masked_fill_kernel(at::TensorIterator&)>(int)": (
        "elementwise"
    ),
    "void fbgemm_gpu::permute_pooled_embs_kernel<double>(double const*)": "embedding_index",
    "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel<float, at::PhiloxCudaState>": "embedding_index",
    "convert_fp16_to_fp32_kernel": "cast",
    "fused_attn_layer_norm_kernel": "layer_norm",
    "void my_library::tiled_kernel<float>(float*)": "other",
    "void rearrange_kernel<float>(float*)": "other",
    "void kernel_calculate_densityTile<TilesConstants>(TilesGPU<T1> *, PointsPtr, float, int)": "other",
    "void my_prefill_kernel<float>(float*)": "other",
    "void get_property_kernel<float>(float*)": "other",
    "void logger_kernel(float*)": "other",
    "void shared::step<float>(float*)": "other",
    "void subset_kernel<float>(float*)": "other",
    "abnormal_state_kernel": "other",
    "aggregate_scanner": "other",
    "kSummaryRows": "other",
    "doConvergeStep": "other",
    "ampere_scudnn_128x128_relu_medium_nn_v1": "conv",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize64x64x32_g1": "conv",
    "ncclDevKernel_AllReduce_Sum_f16_TREE_LL(ncclDevKernelArgsStorage<4096ul>)": "communication",
    # spellings of one kernel
    "void cudnn::detail::implicit_convolve_sgemm<float, float, int=512, int=6, int=8, bool=1>(int, int)": "conv",
    "void cudnn::detail::implicit_convolve_sgemm<float, float, (int)512, (int)6, (int)8, (bool)1>(int, int)": "conv",
    "_ZN5cudnn6detail23implicit_convolve_sgemmIffLi512ELi6ELi8EEEviii": "conv",
    "void cudnn::detail::implicit_convolve_sgemm<float, float, int=5...": "conv",
    "void <unnamed>::softmax_warp_forward<float, float, float, 7, true>(float*)": "softmax_loss",
    "void _GLOBAL__N__x_SoftMax::softmax_warp_forward<float, float, float, 7, true>(float*)": "softmax_loss",
    "naive_conv_fwd_nhwc_half_double_half.kd": "conv",
    "cudnn_infer_ampere_scudnn_128x32_relu_small_nn_v1": "conv",
    "_5x_cudnn_ampere_scudnn_128x32_relu_small_nn_v1": "conv",
}


@pytest.mark.parametrize(("name", "category"), CONVENTIONS.items())
def test_conventions_and_traps(name: str, category: str) -> None:
    assert classify_kernel(name).category == category


DIRECTIONS = {
    "ampere_scudnn_128x64_stridedB_splitK_small_nn_v1": "wgrad",
    "ampere_scudnn_128x64_stridedB_small_nn_v1": "dgrad",
    "ampere_scudnn_128x64_relu_small_nn_v1": "fprop",
    "sm86_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x32": "wgrad",
    "igemm_bwd_gtcx2_nhwc_fp32_bx0_ex0_bt128x64x16": "dgrad",
    "sconv_direct_bprop_128x64": "dgrad",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile228t_nt_v1": None,
    "void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::dgrad_indexed::Kernel_traits<...": "dgrad",
    "void conv2d_c1_k1_nhwc_kernel_specialized<float, float, 3, 1, 8>(cudnnTensorStruct)": "fprop",
    "void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::strided_dgrad_indexed::Kernel_traits<...": "dgrad",
    "void wgrad2d_grouped_direct_kernel<float, float, int, float, float, int, 0, 0, false>(int)": "wgrad",
    "mlir_gen_igemm_conv2d_v4r4_wrw_xdlops0": "wgrad",
    "mlir_gen_igemm_conv2d_v4r1_bwd0": "dgrad",
    "mlir_gen_igemm_conv2d_cpp_v4r4_fwd": "fprop",
    "gcnAsmWinogradXformData_3_3_2_2": "wgrad",
    "MIOpenConvBwdB": None,
    "void at::native::(anonymous namespace)::conv_depthwise3d_cuda_kernel<float, float, 3, 3, 3>(int)": "fprop",
    "void at::native::(anonymous namespace)::conv_depthwise3d_cuda_backward_input_kernel<float, 3>(int)": "dgrad",
    "void at::native::(anonymous namespace)::conv_depthwise3d_cuda_backward_weight_kernel<float, float, 1>(int)": (
        "wgrad"
    ),
    "void tensorflow::DepthwiseConv2dGPUKernelNCHWSmall<float, (tensorflow::DepthwiseConv2dDirection)0, 3>(A)": "fprop",
    "void tensorflow::DepthwiseConv2dGPUKernelNCHWSmall<float, (tensorflow::DepthwiseConv2dDirection)1, 3>(A)": "dgrad",
    "void tensorflow::DepthwiseConv2dGPUKernelNHWCSmall<Eigen::half, 1, int=3>(A)": "dgrad",
    "void tensorflow::DepthwiseConv2dGPUKernelNCHW<float, 1, 1, 1>(A)": "fprop",
    "void ck_tile::kentry<1, ck_tile::GroupedConvolutionBackwardWeightKernel<ck_tile::Traits>>(Args)": "wgrad",
    "void ck_tile::kentry<1, ck_tile::GroupedConvolutionBackwardDataKernel<ck_tile::Traits>>(Args)": "dgrad",
    "dcnv3_im2col_gpu_kernel": "fprop",
    "void dcnv3_col2im_gpu_kernel_shm_blocksize_aware_reduce_v1<float, 16>(int)": "dgrad",
}


MANGLED = "_ZN10tensorflow33DepthwiseConv2dGPUKernelNHWCSmallIfLNS_24DepthwiseConv2dDirectionE{}ELi3EEEvNS_4ArgsE"
DIRECTIONS |= {MANGLED.format(0): "fprop", MANGLED.format(1): "dgrad"}


@pytest.mark.parametrize(("name", "direction"), DIRECTIONS.items())
def test_directions(name: str, direction: str | None) -> None:
    assert classify_kernel(name).direction == direction


def test_every_direction_that_a_pattern_reads_is_a_word_of_a_pass() -> None:
    patterns = " ".join(text for rule in rules("kernels.toml").rules for text in rule.patterns)
    groups = re.findall(r"\(\?P<direction>([^()]*)\)", patterns)
    assert {word.lower() for group in groups for word in group.split("|")} <= rules("kernels.toml").words.keys()


def test_primitives_in_three_fields_or_one() -> None:
    verdict = classify_primitive("convolution", "jit:avx512_core", "backward_weights")
    assert verdict == classify_primitive("convolution,jit:avx512_core,backward_weights")
    assert (verdict.category, verdict.algorithm, verdict.direction) == ("conv", "direct", "wgrad")


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("cudnn:any", None), ("quantum_fft9:avx99", None), ("refine:any", None), ("jit_uni_int8_1x1:avx2", "direct")],
)
def test_an_implementation_without_a_rule_has_no_algorithm(name: str, algorithm: str | None) -> None:
    verdict = classify_primitive("convolution", name, "backward_data")
    assert (verdict.category, verdict.algorithm, verdict.direction) == ("conv", algorithm, "dgrad")


@pytest.mark.parametrize(
    ("op", "expected"),
    {
        "aten::relu_": ("activation", None),
        "aten::cudnn_convolution_backward_weight": ("conv", "wgrad"),
        "autograd::engine::evaluate_function: ConvolutionBackward0": ("conv", None),
        "gradient_tape/net/conv1/Conv2D/Conv2DBackpropInput": ("conv", "dgrad"),
        "tower_1/conv/convolution:Conv2D": ("conv", "fprop"),
        "decoder/up1:Conv3DBackpropInputV2": ("conv", "fprop"),
        "gradient_tape/decoder/conv2d_transpose/Conv2D:Conv2D": ("conv", "dgrad"),
        "gradients/decoder/conv2d_transpose_1_grad/Conv2D": ("conv", "dgrad"),
        "gradient_tape/net/conv1/Conv2D/Conv2DBackpropInput_1:Conv2DBackpropInput": ("conv", "dgrad"),
        "Conv2DBackpropInput:Conv2DBackpropInput": ("conv", "dgrad"),
        "net/conv1/BiasAdd_12": ("bias", None),
        "aten::expand": ("bookkeeping", None),
        "Optimizer.step#Adam.step": ("optimizer", None),
        "BNLLBackward": ("activation", None),
        "onednn::qconv2d_pointwise": ("conv", "fprop"),
        "onednn::qconv_prepack": ("layout_transpose", None),
        "quantized::linear_prepack": ("layout_transpose", None),
        "_quantized::_wrapped_quantized_linear_prepacked": ("gemm", None),
        "onednn::qlinear_pointwise": ("gemm", None),
        "aten::_weight_int4pack_mm": ("gemm", None),
        "aten::_cslt_sparse_mm": ("gemm", None),
        "vllm::lora_expand": ("gemm", None),
        "triton_poi_fused_add_all_reduce_2": ("triton_fused", None),
        "cpp_fused_all_reduce_0": ("cpp_fused", None),
    }.items(),
)
def test_operators(op: str, expected: tuple[str, str | None]) -> None:
    verdict = classify_op(op)
    assert (verdict.category, verdict.direction) == expected


def test_a_name_of_unknown_kind() -> None:
    assert classify_name("aten::addmm").rule.startswith("ops.toml")
    assert classify_name("eltwise,jit:avx2,forward_training").rule.startswith("primitives.toml")
    assert classify_name("volta_sgemm_64x64_nn").rule.startswith("kernels.toml")
    assert classify_name("InnerProduct").category == "gemm"
    for name in ("conversion_kernel", "_conversion_backward", "convert_backward", "converse"):
        assert classify_name(name).category != "conv", name
    assert classify_name("conv_kernel").category == "conv"
    for name in ("_chunk_state_fwd_kernel", "chunk_fwd_kernel_o"):
        assert classify_name(name) == classify_kernel(name), name


# The pre-filter must never hold back a rule that would have won.


def brute_force(file: str, name: str) -> str:
    name = head(name) if file == "kernels.toml" and name.startswith("aclnn") else name
    for branch in rules(file).branches:
        if branch.regex.search(name.lower() if branch.folded else name):
            return branch.rule.label
    raise AssertionError(name)


def test_the_literal_prefilter_changes_nothing() -> None:
    names = {example for file in FILES for rule in rules(file).rules for example in rule.examples} | set(CONVENTIONS)
    for file in FILES:
        for name in names:
            assert rules(file).verdict(name).rule == brute_force(file, name)


def test_literals_of_a_pattern() -> None:
    assert literals("foo_bar") == [["foo_bar"]]
    assert literals("foo(?:abc|defg)?x*barr") == [["foo"], ["barr"]]
    assert literals("(?:abc|def)+_") == [["abc", "def"]]
    assert literals(r"\d(?!not_this)[xyz]") == []
    assert fold(r"(?P<Way>A\SB)") == r"(?P<way>a\Sb)"


@pytest.mark.slow
def test_ten_thousand_distinct_names_do_not_hang() -> None:
    examples = [example for rule in rules("kernels.toml").rules for example in rule.examples]
    longest = sorted(examples, key=len)[-100:]
    names = [f"{name}, std::array<char*, 2ul>, at::native::variant_{i}" for i in range(100) for name in longest]
    start = time.process_time()
    for name in names:
        classify_kernel(name)
    elapsed = time.process_time() - start
    print(f"\n{len(set(names))} distinct names of {sum(map(len, names)) // len(names)} characters: {elapsed:.2f} s")
    assert elapsed < 10, "0.3 s of a slow core"


@pytest.mark.slow
def test_a_hostile_name_cannot_make_a_pattern_backtrack_for_long() -> None:
    start = time.process_time()
    for word in ("a", "_conv", "conv", "Eigen_scalar_max_op", "depthwise", "xmma_", "fused_adam", "k_", "\x1b["):
        for ask in (classify_kernel, classify_op, classify_primitive, classify_name):
            ask(word * 50_000)
    assert time.process_time() - start < 10


def test_three_words_anywhere_in_a_name_are_found_in_one_pass() -> None:
    classify_kernel("mlir_dot")
    start = time.process_time()
    classify_kernel("mlir_" + "dot_" * 400 + "softmax_" * 150 + "dotx_" * 250)
    assert time.process_time() - start < 0.3


def test_no_pattern_reads_a_repeated_word_in_many_ways() -> None:
    """With a pattern that can split such a name in two ways at each word, the process would take years."""
    names = ["mklfused" * 60 + "!conv", "add" + "back" * 60 + "!", "fused_add_" + "1" * 60 + "!"]
    names += ["add" + "_a" * 60 + "_fusion!", "kernel_add" + "_4" * 60 + "!", "logical" + "_" * 60 + "!"]
    program = f"from traceview.classify import *\nfor name in {names}: classify_op(name), classify_kernel(name)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# Real names, read in place from the folder of public traces.


def labelled(shared: Path) -> list[dict[str, str]]:
    with (shared / "kernels" / "names.tsv").open(encoding="utf-8") as file:
        return [
            row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["confidence"] == "sure"
        ]


def verdict_of(name: str) -> Verdict:
    return classify_primitive(name) if re.fullmatch(r"\w+,[^,<(]*,\w+", name) else classify_kernel(name)


def share(right: int, of: int, what: str) -> float:
    print(f"\n{what}: {right} of {of}, {100 * right / of:.2f} %")
    return right / of


@pytest.mark.shared
def test_labelled_names_have_the_right_category(shared: Path) -> None:
    rows = labelled(shared)
    wrong = [(row, verdict_of(row["name"])) for row in rows]
    wrong = [(row, verdict) for row, verdict in wrong if row["category"] != verdict.category]
    for row, verdict in wrong:
        print(f"\n{row['category']} but {verdict.category} by {verdict.rule}: {row['name'][:150]}")
    assert share(len(rows) - len(wrong), len(rows), "category") >= 0.99


@pytest.mark.shared
def test_labelled_convolutions_have_an_accepted_algorithm(shared: Path) -> None:
    rows = [row for row in labelled(shared) if row["category"] == "conv"]
    right = sum((verdict_of(row["name"]).algorithm or "-") in row["conv_algorithm"].split("|") for row in rows)
    assert share(right, len(rows), "algorithm of convolutions") >= 0.98


@pytest.mark.shared
def test_labelled_directions_are_right_or_left_to_the_operator(shared: Path) -> None:
    """A label may come from the launching op. Then the name alone must say nothing rather than guess."""
    rows = [row for row in labelled(shared) if row["conv_pass"] not in ("unknown", "-")]
    said = [(row, verdict_of(row["name"])) for row in rows]
    answered = [(row, verdict) for row, verdict in said if verdict.direction]
    for row, verdict in said:
        if verdict.direction is None:
            assert verdict.context, f"no word on what would decide the direction: {row['name']}"
    right = sum(row["conv_pass"] == verdict.direction for row, verdict in answered)
    share(right, len(rows), "direction, unanswered counted wrong")
    assert share(right, len(answered), "direction where the name says one") >= 0.98
    assert share(len(answered), len(rows), "directions that the name says") >= 0.85


@pytest.mark.long
@pytest.mark.shared
def test_kernel_time_of_every_kineto_trace_has_a_category(shared: Path) -> None:
    n_with_kernels = 0
    for path in sorted((shared / "traces" / "kineto").rglob("*.json.gz")):
        spent: Counter[str] = Counter()
        with gzip.open(path) as file:
            content = json.load(file)
        for event in content["traceEvents"] if isinstance(content, dict) else content:
            # spin_kernel is a deliberate delay (torch.cuda._sleep): rightly `other`, and most of one small trace.
            if str(event.get("cat", "")).lower() == "kernel" and "spin_kernel" not in event["name"]:
                spent[classify_kernel(event["name"]).category] += int(1000 * float(event["dur"]))
        if spent:
            n_with_kernels += 1
            assert share(spent.total() - spent["other"], spent.total(), path.name) >= 0.97
    assert n_with_kernels >= 18


@pytest.mark.shared
def test_no_rule_is_one_listed_name(shared: Path) -> None:
    """Rules are conventions: no listed name (longer than a word) is copied into them."""
    names = {row["name"] for row in labelled(shared) if len(row["name"]) > 40}
    text = (FOLDER / "kernels.toml").read_text(encoding="utf-8")
    assert not [name for name in names if name in text]


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("void cudnn::cnn::dgrad2d_grouped_direct_kernel<float, int, float, float, false, true, 1, 0>(P)", "direct"),
        ("mlir_gen_igemm_conv2d_v4r4_fwd0", "implicit_gemm"),
        ("void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_ge...", "implicit_gemm"),
        ("miopenGcnAsmMPBidirectWinogradXformFilter_2_2_3_3", "winograd_nonfused"),
        ("convolution,indirect_gemm:acl,forward_inference", "implicit_gemm"),
        ("convolution,gemm:acl,forward_inference", "explicit_gemm"),
    ],
)
def test_algorithms_that_the_name_tells(name: str, algorithm: str) -> None:
    assert (classify_name(name).category, classify_name(name).algorithm) == ("conv", algorithm)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("volta_sgemm_128x64_nn", "cublas"),
        ("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false>(P)", "cublas"),
        ("rocblas_gemvn_kernel", "rocblas"),
        ("Cijk_SB_PostGSU8_VW4", "tensile"),
        ("void ck::kernel_gemm_xdl_cshuffle_v1<ck::Traits>(P)", "composable kernel"),
        ("_fused_moe_gemm_kernel", None),
        ("OpTensorFwdBias", "miopen"),
        ("Op2dTensorLite", "miopen"),
        ("void op_generic_tensor_kernel<2, float, float, float, 256, (cudnnGenericOp_t)0>(P)", "cudnn"),
        ("fused_conv_bias_relu", None),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x32x8_stage3_kernel__5x_cublas", "cublas"),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x32x8_stage3_kernel__5x_cudnn", "cudnn"),
        ("void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_64x2_tn_align8>(P)", "cutlass"),
        ("_ZN2at6native80_GLOBAL__N__x_backward_feature_kernelIffEEvPlPKT_PS4_ili", "pytorch"),
        ("void at::native::(anonymous namespace)::EmbeddingBag_updateOutputKernel_sum_mean<float, long>(P)", "pytorch"),
        ("void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 64ul>(P)", "fbgemm"),
        ("MIOpenConvFFT_fwd_in", "miopen"),
        ("MIOpenConvFFT_cgemm", "miopen"),
        ("void fft2d_r2c_32x32<float, false, 0u, false>(P)", "cudnn"),
        ("void DSE::vector_fft<1, 2, 128, 8, 8, 1, float, float, float2>(float2*, float2)", "cudnn"),
        ("_ZN3DSE10vector_fftILi0ELi1ELi128ELi8ELi8ELi1EffS0_EEvPS1_", "cudnn"),
        (
            "void vector_fft<512u, EPT<8u>, 8u, (padding_t)6, unsigned int, float>(kernel_arguments_t<unsigned int>)",
            "cufft",
        ),
        ("void regular_bluestein_fft<4096u, EPT<16u>, 16u, 1u>(P)", "cufft"),
        ("void spRadix0032B::kernel1Mem<unsigned int, float, (fftDirection_t)-1>(P)", "cufft"),
        ("vector_fft", None),
        (
            "_ZN7cutlass13device_kernelINS_4conv6kernel13ConvUniversalINS1_16ConvProblemShapeILNS1_8OperatorE0ELi2EEENS1"
            "_10collective14CollectiveConvINS1_47MainloopSm100TmaUmmaWarpSpecializedImplicitGemmILS5_0ELi7EEEEEEEvT_",
            "cutlass",
        ),
        ("void cutlass::device_kernel<cutlass::conv::kernel::ConvUniversal<cutlass::conv::ConvPr...", "cutlass"),
        ("gridwise_convolution_implicit_gemm_v4r1_nchw_kcyx_nkhw_lds_double_buffer", "miopen"),
        ("void sparse::implicit_gemm_kernel<float>(P)", None),
        ("sm80_xmma_deconv_implicit_gemm_f16f16_f16f16_f16_nhwckcrs_nhwc_tilesize128x64x64_kernel", None),
        ("void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_ge...", "cudnn"),
    ],
)
def test_libraries_are_only_those_that_the_name_tells(name: str, library: str | None) -> None:
    assert classify_kernel(name).library == library


def test_a_primitive_as_reports_write_it_is_read_as_they_read_it() -> None:
    assert classify_name("reorder jit:uni") == classify_primitive("reorder", "jit:uni", None)
    assert classify_name("reorder jit:uni").category == "layout_transpose"
    verdict = classify_name("convolution brgconv:avx512_core forward_training")
    assert (verdict.category, verdict.algorithm, verdict.direction) == ("conv", "direct", "fprop")


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("Conv2DBackpropFilter", "wgrad"),
        ("tower/gradients/tower/conv1/Conv2D_grad/Conv2DBackpropInput", "dgrad"),
        ("Conv3DBackpropFilterV2", "wgrad"),
    ],
)
def test_an_operator_in_place_of_a_kernel_tells_the_pass_and_no_algorithm(name: str, direction: str) -> None:
    verdict = classify_kernel(name)
    assert (verdict.category, verdict.algorithm, verdict.direction, verdict.role) == ("conv", None, direction, "main")
