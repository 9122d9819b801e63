"""A name's parts: the function's own name, and a mangled name's words."""

from __future__ import annotations

import pytest

from traceview.classify import classify_kernel
from traceview.classify.names import head, own, readable
from traceview.render.names import short

PAIRS = [
    (
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIfffEEjfLi4EEEEEvT1_",
        "void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float, float, float>>>(T)",
    ),
    (
        "_ZN2at6native12_GLOBAL__N_120cunn_SoftMaxBackwardILi4EfffNS1_23LogSoftMaxBackwardEpilogueEEEvPT0_PKT2_S7_i",
        "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, Epilogue>(float*)",
    ),
    (
        "_Z21kernelPointwiseApply2I6CopyOpIf6__halfEfS1_jLi2ELi1EEv10OffsetInfoIT0_E",
        "kernelPointwiseApply2<CopyOp<float, __half>>",
    ),
    ("_ZL13quantize_q8_1PKfPvll", "quantize_q8_1(float const*, void*, long, long)"),
    (
        "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15neg_kernel_cudaERNS_14TensorIteratorEEUlfE_EEviT0_",
        "void at::native::vectorized_elementwise_kernel<4, at::native::neg_kernel_cuda(at::TensorIterator&)>(int)",
    ),
]


def test_a_value_whose_type_has_a_scope_ends_no_name() -> None:
    name = (
        "_ZN4tcnn11kernel_gridIfLj3ELj2ELNS_8HashTypeE1EEEvjjNS_15GridOffsetTableEjffPKfNS_17InterpolationTypeENS_8"
        "GridTypeEPKT_NS_10MatrixViewIS3_EEPS7_Pf"
    )
    assert readable(name) == "tcnn::kernel_grid<float, 3, 2, HashType, 1>"
    assert short([name]) == {name: "kernel_grid"}


@pytest.mark.parametrize(("mangled", "demangled"), PAIRS)
def test_a_mangled_name_has_the_rule_of_its_demangled_form(mangled: str, demangled: str) -> None:
    assert classify_kernel(mangled).rule == classify_kernel(demangled).rule


def test_brackets_are_emptied_wherever_the_name_was_cut_off() -> None:
    assert own("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(int)") == (
        "std::enable_if<>::type internal::gemvx::kernel<>()"
    )
    assert own("void <unnamed>::softmax_warp_forward<float, at::nat...") == "void <unnamed>::softmax_warp_forward<>"
    assert own("fusion_25") == "fusion_25"


@pytest.mark.parametrize("name", ["_Z", "_ZN", "_Z99999short", "_ZNSt3__1E", "_ZEEEE", "_Z1fIIIII", "_ZL", "_Z0"])
def test_what_is_no_mangled_name_is_read_as_far_as_it_goes(name: str) -> None:
    assert isinstance(readable(name) + head(name), str)
    assert classify_kernel(name).category == "other"


def test_a_word_in_a_template_argument_decides_nothing_where_the_functions_name_says_enough() -> None:
    reduction = "void phi::funcs::ReduceHigherDimKernel<float, float, phi::kps::AddFunctor<float>>(float const*)"
    assert classify_kernel(reduction).category == "reduction"
    pooling = "void pooling_bw_kernel_max<float, float, cudnn::reduced_divisor>(cudnn::reduced_divisor)"
    assert classify_kernel(pooling).category == "pooling"
    softmax = "void softmax_kernel<cub::BlockReduce<float, 128>, Tiled>(float*)"
    assert classify_kernel(softmax).category == "softmax_loss"


def test_a_launcher_is_told_by_its_arguments() -> None:
    name = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::sigmoid_kernel_cuda(at::TensorIterator&)>(int)"
    )
    assert classify_kernel(name).category == "activation"
