"""Names of kernels for people: short, different where the names are, and never anything but text of the name."""

from __future__ import annotations

import time

import pytest

from traceview.render import names

ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
)
COPY = (
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda"
    "(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}>"
    "(at::TensorIteratorBase&)::{lambda(int)#1}>(int, void)"
)
COPY_OF_NSYS = (
    "void at::native::elementwise_kernel<(int)128, (int)2, void at::native::gpu_kernel_impl<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 3)]::operator ()() const::[lambda(float) "
    "(instance 1)]>(at::TensorIteratorBase &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)"
)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("void cudnn::ops::nchwToNhwcKernel<float, true, (kind_t)2>(params_t<float>)", "nchwToNhwcKernel"),
        ("cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "computeOffsetsKernel"),
        ("ncclKernel_AllReduce_LL_Sum_float(ncclDevComm*, unsigned long)", "ncclKernel_AllReduce_LL_Sum_float"),
        ("void (anonymous namespace)::softmax_warp_forward<float, 10>(float*)", "softmax_warp_forward"),
        (ELEMENTWISE, "vectorized_elementwise_kernel<CUDAFunctor_add>"),
        (COPY, "elementwise_kernel<direct_copy_kernel_cuda>"),
        (COPY_OF_NSYS, "elementwise_kernel<direct_copy_kernel_cuda>"),
        ("void cutlass::Kernel<cutlass_80_s1688gemm_nn>(cutlass::Params)", "Kernel<cutlass_80_s1688gemm_nn>"),
        ("_ZN2ck16tensor_operation6device11kernel_gemmINS_34GridwiseE", "kernel_gemm"),
        ("ampere_sgemm_32x32_sliced1x4_tn", "ampere_sgemm_32x32_sliced1x4_tn"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("reorder jit:uni", "reorder jit:uni"),
        ("aten::conv2d", "aten::conv2d"),
        ("a < b", "a < b"),
        ("x::y<", "x::y<"),
        ("x::>y", "x::>y"),
        ("::", "::"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_name_alone(name: str, label: str) -> None:
    assert names.short([name]) == {name: label}


def test_template_arguments_stand_where_they_differ() -> None:
    engine = "void cudnn::cnn::wgrad_alg0_engine<float, 128, {}, 3, {}, false>(int)"
    labels = names.short([engine.format(6, 5), engine.format(5, 5), "void other<float>(int)"])
    assert list(labels.values()) == ["wgrad_alg0_engine<6>", "wgrad_alg0_engine<5>", "other"]


def test_what_a_frame_holds_tells_it_apart_first() -> None:
    binary = (
        "void at::native::elementwise_kernel<4, at::native::BinaryFunctor<float, at::native::MulFunctor<float> > >()"
    )
    unary = binary.replace("Binary", "AUnary")
    assert list(names.short([binary, unary, ELEMENTWISE]).values()) == [
        "elementwise_kernel<BinaryFunctor<MulFunctor>>",
        "elementwise_kernel<AUnaryFunctor<MulFunctor>>",
        "vectorized_elementwise_kernel<CUDAFunctor_add>",
    ]


def test_names_that_differ_stay_different() -> None:
    given = ["a::f(int)", "b::f(int)", "a::f(long)", "f", "void c::f<g::h>(int)", "void c::f<i::h>(int)", "b::f"]
    labels = names.short(given)
    assert len(set(labels.values())) == len(given)
    assert labels["f"] == "f" and labels["a::f(int)"] == "a::f(int)"


@pytest.mark.parametrize("piece", ["<", "(", "a<", "a::b<", "{", "operator(", "f(a)::", "<>", "x::y<z::w, ", "_ZN9"])
def test_a_name_made_to_attack_costs_little(piece: str) -> None:
    name = piece * (names.LONGEST // len(piece))
    begun = time.process_time()
    assert len(names.short([name, name + "x", "y::" + name])) == 3
    assert time.process_time() - begun < 5


def test_mangled_names_are_told_apart_in_plain_words() -> None:
    reduced = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_{}IfffEEjfLi4EEEEEvT1_"
    sums, means = reduced.format("7MeanOps"), reduced.format("7NormOps")
    labels = names.short([sums, means])
    assert len(set(labels.values())) == 2
    assert not any(label.startswith("_Z") for label in labels.values())
    assert "MeanOps" in labels[sums]


def test_a_mangled_name_that_refers_back_is_in_plain_words() -> None:
    """TensorFlow's kernels of Eigen, which differ in an argument deep inside, before one that is referred to."""
    product, total = (
        "_ZN5Eigen8internal15EigenMetaKernelINS_15TensorEvaluatorIKNS_14TensorAssignOpINS_9TensorMapINS_6TensorIfLi1ELi1EiEE"
        f"Li16ENS_11MakePointerEEEKNS_18TensorCwiseUnaryOpINS0_12scalar_rightIffNS0_{operator}IffEEEEKNS4_INS5_IKfLi1ELi1EiEE"
        "Li16ES7_EEEEEENS_9GpuDeviceEEEiEEvT_T0_"
        for operator in ("17scalar_product_op", "13scalar_sum_op")
    )
    labels = names.short([product, total])
    assert "scalar_product_op" in labels[product] and "scalar_sum_op" in labels[total]
    assert not any("_Z" in label for label in labels.values())
