"""Kernels that no operator is known for: what their neighbours on the stream say."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

QUERY = "SELECT category, algorithm, role FROM kernels ORDER BY start_ns"
SGEMM = "volta_sgemm_128x64_nn"


def of(tmp_path: Path, *names: str, streams: tuple[int, ...] = ()) -> list[tuple[str, str | None, str | None]]:
    given = Given()
    for position, name in enumerate(names):
        stream = streams[position] if streams else 7
        given.kernel(name, 10 * position, 10 * position + 5, stream=stream)
    return rows(given.open(tmp_path), QUERY)


def test_a_product_between_transforms_belongs_to_the_convolution(tmp_path: Path) -> None:
    found = of(tmp_path, "winogradForwardData4x4", "winogradForwardFilter4x4", SGEMM, "winogradForwardOutput4x4", SGEMM)
    assert found[2] == ("conv", "winograd_nonfused", "main")
    assert found[4] == ("gemm", None, "main")


def test_a_complex_product_without_transforms_is_a_matrix_product(tmp_path: Path) -> None:
    transform, back = "void fft2d_r2c_32x32<float, bool=1>(float2*)", "void fft2d_c2r_32x32<float, bool=0>(float*)"
    product = "ampere_cgemm_32x32_tn"
    assert of(tmp_path / "alone", product, SGEMM, product) == [("gemm", None, "main")] * 3
    found = of(tmp_path / "both", transform, transform, product, back, SGEMM, product)
    fft = ("conv", "fft", "main")
    assert found[2:] == [fft, ("conv", "fft", "transform"), ("gemm", None, "main"), fft], (
        "its transform may be elsewhere"
    )


@pytest.mark.long
def test_im2col_feeds_one_product(tmp_path: Path) -> None:
    found = of(tmp_path, "im2col4d_kernel", SGEMM, SGEMM)
    assert found[1] == ("conv", "explicit_gemm", "main")
    assert found[2] == ("gemm", None, "main")


@pytest.mark.long
def test_another_kernel_ends_the_stage(tmp_path: Path) -> None:
    reduction = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)"
    found = of(tmp_path, "winogradForwardData4x4", reduction, SGEMM)
    assert found[2] == ("gemm", None, "main")


def test_another_stream_is_no_neighbour(tmp_path: Path) -> None:
    found = of(tmp_path, "winogradForwardData4x4", SGEMM, "winogradForwardOutput4x4", streams=(7, 8, 7))
    assert found[1] == ("gemm", None, "main")


@pytest.mark.long
def test_a_complex_product_beside_tiled_transforms_is_tiled(tmp_path: Path) -> None:
    transform = "void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*)"
    found = of(tmp_path, transform, "ampere_gcgemm_64x64_nt", "void fft2d_c2r_32x32<float, false>(float*, float2*)")
    assert {algorithm for _, algorithm, _ in found} == {"fft_tiling"}


def test_a_transform_on_a_second_stream_goes_with_the_next_complex_product(tmp_path: Path) -> None:
    transform = "void fft2d_r2c_32x32<float, bool=1>(float2*, float const *)"
    back = "void fft2d_c2r_32x32<float, bool=0, bool=1>(float*, float2*)"
    names = (transform, "flip_filter", transform, "cudnn_maxwell_cgemm_64x32_tn_batched", back)
    found = of(tmp_path, *names, streams=(28, 24, 24, 24, 24))
    assert [algorithm for _, algorithm, _ in found] == ["fft"] * 5


def test_a_complex_product_on_a_second_stream_belongs_to_the_call_of_the_transforms(tmp_path: Path) -> None:
    transform, back = "void fft2d_r2c_32x32<float, bool=1>(float2*)", "void fft2d_c2r_32x32<float, bool=0>(float*)"
    given = Given()
    for at in (0, 100):
        names = ((transform, 7), (transform, 7), ("volta_cgemm_32x32_tn", 9), (back, 7))
        for place, (name, stream) in enumerate(names):
            given.kernel(name, at + 10 * place, at + 10 * place + 5, stream=stream)
        given.kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", at + 50, at + 60)
    with given.open(tmp_path) as connection:
        assert rows(connection, QUERY)[:4] == [
            ("conv", "fft", role) for role in ("transform", "transform", "main", "transform")
        ]
        assert rows(connection, "SELECT algorithm, main_ns, transform_ns FROM conv_calls") == [("fft", 5000, 15000)] * 2


@pytest.mark.parametrize(
    ("product", "total"),
    [
        ("igemm_v4r1_dynamic_wrw_128x128x16.kd", "wrw_reduction_hip.kd"),
        (
            "void cudnn::cnn::wgrad2d_grouped_direct_kernel<float, int>(int)",
            "void reduce_wgrad_nchw_helper<float>(int)",
        ),
    ],
)
def test_a_sum_of_split_filter_gradients_goes_with_the_product_before_it(
    tmp_path: Path, product: str, total: str
) -> None:
    given, at = Given(), 0
    filters, prepared = ((product, 100), (total, 50)), ("void cudnn::maxwell::gemm::setOutputKernel<float>(int)", 5)
    data = ("igemm_bwd_gtcx3_nchw_fp32_bx0.kd", 70)
    for name, lasting in (*filters, prepared, data, ("batchnorm_bwd.kd", 10), *filters):
        given.kernel(name, at, at + lasting)
        at += lasting
    calls = rows(
        given.open(tmp_path), "SELECT direction, main_ns, helper_ns, total_ns FROM conv_calls ORDER BY start_ns"
    )
    wgrad = ("wgrad", 100_000, 50_000, 150_000)
    assert calls == [wgrad, ("dgrad", 70_000, 5_000, 75_000), wgrad]


CLEAR, CAST = "SubTensorOpWithScalar1d", "SubTensorOpWithCastTensor1d"
TURN, OTHER = "batched_transpose_16x64_pack_1x4_ediv_1x2_half", "batchnorm_bwd.kd"
IGEMM = "igemm_{}_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32"
AROUND = ["transpose_NCHW2CNHW_V1_2D_WG_float", "Cijk_Ailk_Bljk_SB_MT64x64x8", "transpose_CNHW2NCHW_V1_2D_WG_float"]
MIOPEN = [IGEMM.format("bwd"), CAST, TURN]
TO, BACK = (f"void cudnn::ops::{name}Kernel<__half, __half, float, true>(int)" for name in ("nchwToNhwc", "nhwcToNchw"))


def cudnn(direction: str) -> list[str]:
    """A convolution of tensors in NCHW on tensor cores, which compute in NHWC."""
    name = f"sm80_xmma_{direction}_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4"
    return [TO, TO, f"{name}_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn", BACK]


@pytest.mark.parametrize(
    ("launched", "calls"),
    [
        pytest.param(
            [CLEAR, TURN, TURN, IGEMM.format("fwd"), CAST, TURN, OTHER],
            [("fprop", 1, 3, 2)],
            id="MIOpen, forward",
        ),
        pytest.param(
            # As an MI210 ran ResNet-18: the gradient of a filter of 1x1 needs no conversion back.
            [TURN, *MIOPEN[:3], CLEAR, TURN, TURN, IGEMM.format("wrw"), CAST, CLEAR, TURN, TURN, *MIOPEN[::2]],
            [("dgrad", 1, 2, 1), ("wgrad", 1, 2, 2), ("dgrad", 1, 3, 1)],
            id="MIOpen, gradients",
        ),
        pytest.param(
            [*cudnn("fprop"), OTHER, *cudnn("dgrad"), *cudnn("wgrad")],
            [("fprop", 1, 3, 0), ("dgrad", 1, 3, 0), ("wgrad", 1, 3, 0)],
            id="cuDNN",
        ),
        pytest.param(
            # The gradient of a filter of 1x1 needs no conversion back.
            [*cudnn("wgrad")[:3], *cudnn("dgrad"), OTHER, BACK, cudnn("fprop")[2], TO],
            [("wgrad", 1, 2, 0), ("dgrad", 1, 3, 0), ("fprop", 1, 2, 0)],
            id="cuDNN, one way and the other",
        ),
        pytest.param(
            [*AROUND, CLEAR, TURN, TURN, IGEMM.format("wrw")],
            [("wgrad", 1, 2, 1)],
            id="MIOpen, beside a product",
        ),
        pytest.param(
            # One of channels last beside one that converts, and a conversion beside none.
            [cudnn("fprop")[2], *cudnn("fprop"), OTHER, TO, OTHER],
            [("fprop", 1, 0, 0), ("fprop", 1, 3, 0)],
            id="beside channels last",
        ),
    ],
)
def test_without_operators_a_librarys_layout_conversions_go_with_their_convolution(
    tmp_path: Path, launched: list[str], calls: list[tuple[str, int, int, int]]
) -> None:
    given = Given()
    for at, name in enumerate(launched):
        given.kernel(name, at, at + 1)
    found = rows(
        given.open(tmp_path),
        "SELECT direction, main_ns // 1000, layout_ns // 1000, helper_ns // 1000 FROM conv_calls ORDER BY start_ns",
    )
    assert found == calls


def test_calls_that_share_two_streams_are_told_apart_by_the_inverse_transforms(tmp_path: Path) -> None:
    """A forward call and two gradients, as cuDNN runs them: each transforms one operand on the other stream."""
    transform, back = "void fft2d_r2c_32x32<float, bool=1>(float2*)", "void fft2d_c2r_32x32<float, bool=0>(float*)"
    product, layout = "cudnn_maxwell_cgemm_64x32_tn_batched", "SwapDimension1And2InTensor3UsingTiles"
    calls = (
        ((transform, 28), ("flip_filter", 24), (transform, 24), (product, 24), (back, 24)),
        ((transform, 24), (transform, 28), (product, 28), (back, 28)),
        ((transform, 28), ("flip_filter", 24), (transform, 24), (product, 24), (back, 24)),
    )
    given = Given()
    for step in range(2):
        for number, call in enumerate(calls):
            at = 1000 * step + 100 * number
            for place, (name, stream) in enumerate(call):
                given.kernel(name, at + 10 * place, at + 10 * place + 5, stream=stream)
            given.kernel(layout, at + 60, at + 65, stream=24)
    with given.open(tmp_path) as connection:
        found = rows(connection, "SELECT start_ns, end_ns, n_parts FROM conv_calls ORDER BY start_ns")
    assert found == [
        (1000 * at, 1000 * (at + length), n)
        for step in (0, 1000)
        for at, length, n in ((step, 45, 5), (step + 100, 35, 4), (step + 200, 45, 5))
    ]
