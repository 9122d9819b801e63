"""Names of libraries and compilers beyond cuDNN, MIOpen and PyTorch: one line per convention."""

from __future__ import annotations

import pytest

from traceview.classify import classify_kernel

GENERIC = "void mxnet::op::mxnet_op::mxnet_generic_kernel<{}>(int)"
FAMILIES = {
    "neon": {
        "spool_fprop_max": "pooling",
        "spool_bprop_avg_overlap_smallN": "pooling",
        "spool_fprop_lrn": "lrn",
        "bprop_roipooling": "pooling",
        "filter_dimshuffle": "layout_transpose",
        "copy_transpose": "layout_transpose",
        "lut_bprop": "embedding_index",
        "convert_dtype": "cast",
        "persistent_rnn_fprop": "rnn",
        "update_conv_reduce": "conv",
    },
    "mxnet": {
        GENERIC.format("mxnet::op::SGDMomKernel, float*, float*"): "optimizer",
        GENERIC.format("mxnet::op::mxnet_op::op_with_req<mxnet::op::mshadow_op::plus, int=1>, float*"): "elementwise",
        GENERIC.format("mxnet::op::op_with_req<mshadow_op::identity, 1>, mshadow::half::half_t*, float*"): "cast",
        GENERIC.format("mxnet::op::op_with_req<mshadow_op::identity, 1>, float*, float*"): "elementwise",
        GENERIC.format("mxnet::op::one_hot<int=1>, float*, int*"): "embedding_index",
        "void mxnet::op::pool_max_2d_gpu_kernel<float>(int, float const*)": "pooling",
        "void mxnet::op::atomicadaptiveaveragegradinput<float, float>(float*)": "pooling",
        "void mxnet::op::MultiSumSqKernel<float>(int, float*)": "reduction",
        "void mxnet::op::image_2d_pad_constant_kernel<mshadow::gpu, float>(float*)": "concat_split",
    },
    "llama.cpp": {
        "void mul_mat_vec_q<(ggml_type)8, 1, false, false>(void const*, void const*, int const*, float*)": "gemm",
        "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0EEvPKvS2_PKi": "gemm",
        "void k_bin_bcast<&op_add, float, float, float>(float const*, float const*, float*)": "elementwise",
        "unary_gated_op_kernel<&op_silu, float>(float const*, float const*, float*)": "activation",
        "void norm_f32<1024>(float const*, float*, int)": "layer_norm",
        "void k_set_rows<float, long, __half>(float const*)": "embedding_index",
        "cpy_f32_q<&cpy_blck_f32_q8_0, 32>(char const*, char*)": "quantize",
        "void cpy_scalar<&cpy_1_scalar<float, __half>>(char const*, char*)": "cast",
        "void cpy_scalar<&cpy_1_scalar<float, float>>(char const*, char*)": "copy",
        "void cpy_flt<&cpy_1_flt<float, __half>>(char const*, char*, int)": "cast",
        "void cpy_flt<&cpy_1_flt<float, float>>(char const*, char*, int)": "copy",
        "void dequantize_mul_mat_vec_q4_K<...>": "gemm",
        "void mul_mat_q_stream_k_fixup<(ggml_type)8, (int)16, (bool)0>(...)": "gemm",
        "void dequantize_block_q6_K<__half>(void const*, __half*)": "quantize",
        "quantize_mmq_mxfp4(float const*, int const*, void*)": "quantize",
        "void flash_attn_stream_k_fixup_general<128, 4, 8>(float*, float2 const*)": "attention",
        "void gated_delta_net_cuda<128, false, true>(const float *)": "attention",
        "pad_f32(float const*, float*, int, int, int)": "concat_split",
        "void k_argsort_f32_i32<(ggml_sort_order)1>(float const*, int*, int, int)": "sort_scan",
    },
    "serving": {
        "void wvSpltK_hf_m4n_<__half, 32, 16, 8>(int, int, __half const*)": "gemm",
        "void wvSplitKQ_hf_<__hip_bfloat16, __hip_fp8, 64, 2, 16>(int)": "gemm",
        "void flashinfer::norm::RMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)": "layer_norm",
        "void flashinfer::activation::act_and_mul_kernel<__half, &silu>(__half*, int)": "activation",
        "void flashinfer::sampling::OnlineSoftmaxFusedKernel<1024u, 4u, float, false>(float*)": "softmax_loss",
        "void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128u>(__half*)": "elementwise",
        "void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u>(__nv_bfloat16*)": "attention",
        "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)": "elementwise",
        "chunk_gated_delta_rule_fwd_kernel_h_blockdim64": "attention",
        "fused_recurrent_gated_delta_rule_fwd_kernel": "attention",
        "fused_gdn_gating_kernel": "elementwise",
        "_causal_conv1d_update_kernel": "conv",
        "write_req_to_token_pool_triton": "embedding_index",
        "void marlin::gptq_marlin_repack_kernel<256, 4, false>(unsigned int const*)": "layout_transpose",
        "void marlin::Marlin<__nv_bfloat16, 1125899906909960l, 256, 1, 8, 8, false, 4, 8, false>(int4 const*)": "gemm",
        "_ZN10flashinfer33BatchDecodeWithPagedKVCacheKernelILNS_15PosEncodingModeE0ELj2ELj4EEEvT7_": "attention",
        "_ZN10flashinfer4norm13RMSNormKernelILj8E13__nv_bfloat16EEvPT0_S4_S4_jjjff": "layer_norm",
        "void vllm::scaled_fp8_quant_kernel<c10::BFloat16>(c10::Float8_e4m3fn*, c10...": "quantize",
        "void moe_fused_gate_kernel<cutlass::Array<cutlass::bfloat16_t, 32>, 8, 256>(void*)": "sort_scan",
    },
    "paddle": {
        "void phi::funcs::ReduceHigherDimKernel<float, float, phi::kps::AddFunctor<float>>(float const*)": "reduction",
        "void phi::funcs::VectorizedElementwiseKernel<phi::funcs::CudaReluFunctor<float>, 1>(P)": "activation",
        "void phi::funcs::VectorizedElementwiseKernel<phi::CastFunctor<float, phi::dtype::float16>, 1>(P)": "cast",
        "void phi::funcs::TilingSwapDim1And2<float, 256, 32, 32, int>(float const*)": "layout_transpose",
        "void phi::KeBNRestoreData<float>(float)": "batch_norm",
        "void phi::funcs::ForRangeElemwiseOp<paddle::imp...": "elementwise",
        "void phi::funcs::VectorizedElementwiseKernel<float, phi::FullFunctor<float, float>, (int)0, (int)1,…": "fill",
        "void phi::funcs::VectorizedBroadcastKernel<phi::dtype::float16, phi::dtype::float16, ph...": "elementwise",
        "void phi::funcs::KernelPool2D<phi::funcs::AvgPool<float>, float>(int, phi::funcs::AvgPool<float>": "pooling",
        "void phi::funcs::SplitTensorWithSameDimValue<int, 2>(float const*)": "concat_split",
    },
    "compilers": {
        "tvmgen_default_fused_nn_conv2d_add_nn_relu_kernel": "conv",
        "fused_nn_dense_add_1_kernel0": "gemm",
        "fused_nn_softmax_kernel0": "softmax_loss",
        "fused_layout_transform_3_kernel0": "layout_transpose",
        "Conv_12 + Relu_13": "conv",
        "Conv_12 + Relu_13 output reformatter 0": "layout_transpose",
        "Reformatting CopyNode for Output Tensor 0 to /stages.2/main/MatMul_1": "layout_transpose",
        "void fused::fusedConvolutionReluKernel<fused::SrcChwcPtr_FltTex_Reader<float, 1>, float>(P)": "conv",
        "void allClassNMS_kernel<float, float, 8>(int, int)": "sort_scan",
        "__myl_Fc_myl2_2": "gemm",
        "__myl_FcCast_myl5_12": "gemm",
        "__myl_SiluMul_myl7_3": "activation",
        "__myl_MulMulAddAdd_myl3_1": "elementwise",
        "__myl_MaxSubExpSumDivMul_myl3_5": "softmax_loss",
        "__myl_Move_myl3_0": "copy",
        "tvmgen_default_fused_mean": "reduction",
        "tvmgen_default_fused_subtract_1": "elementwise",
        "fused_fused_dequantize1_NT_matmul5_kernel": "gemm",
        "batch_decode_paged_kv_kernel": "attention",
        "fused_nn_adaptive_avg_pool2d_kernel0": "pooling",
        "select_and_scatter_5": "pooling",
        "void nvinfer1::tiled_pooling::poolCHW_PQT<3, 3, 2, 2>(nvinfer1::TiledPoolingParams)": "pooling",
        "void cuInt8::nchwToNcqhw4<float>(float const*)": "layout_transpose",
        "void CUTENSOR_NAMESPACE::permutationKernelPLC3<CUTENSOR_NAMESPACE::VectorWrapper>(P)": "layout_transpose",
    },
    "pytorch and cudnn": {
        "void at::native::(anonymous namespace)::atomic_adaptive_average_gradinput<float>(float*)": "pooling",
        "void at::native::(anonymous namespace)::adaptivemaxpool<float>(float const*)": "pooling",
        "void GRU_elementWise_bp1<float, float, float>(int, int)": "rnn",
        "void persistRNN_bp<float>(P)": "rnn",
        "GENERIC_elementWise_bp2<__nv_bfloat16, __nv_bfloat16, float, 4, 1>": "rnn",
        "_Z20LSTM_elementWise_bp1IfffEviiPT_S1_S1_S1_S1_S1_S1_PT0_S3_ii18cudnnRNNClipMode_t21": "rnn",
        "void cudnn::winograd_nonfused::winogradForwardDat...": "conv",
        "void at::native::(anonymous namespace)::max_pool_forwa...": "pooling",
    },
}
CASES = [(name, category) for names in FAMILIES.values() for name, category in names.items()]


@pytest.mark.parametrize(("name", "category"), CASES)
def test_families(name: str, category: str) -> None:
    assert classify_kernel(name).category == category


@pytest.mark.parametrize(
    ("name", "direction"),
    [("xprop_image_4x4_3x3", None), ("fprop_filter_4x4_3x3", "fprop"), ("update_delta_3x3_4x4", "wgrad")],
)
def test_neon_transforms_before_its_winograd_kernels(name: str, direction: str | None) -> None:
    verdict = classify_kernel(name)
    assert (verdict.category, verdict.algorithm, verdict.role) == ("conv", "winograd", "transform")
    assert verdict.direction == direction


def test_a_filters_transpose_is_told_from_an_images() -> None:
    template = "void tensorflow::functor::ShuffleInTensor3Simple<float, {}, false>(int, float const*)"
    filters = {classify_kernel(template.format(order)).rule for order in ("2, 1, 0", "int=2, int=1, int=0")}
    images = classify_kernel(template.format("0, 2, 1"))
    assert len(filters) == 1
    assert images.category == "layout_transpose"
    assert images.rule not in filters
