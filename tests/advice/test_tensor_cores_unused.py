"""Single precision on a device with tensor cores: on both sides of a tenth of device time, and where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "tensor_cores_unused"


def steps(single_us: float, device: str = "NVIDIA A100-SXM4-40GB") -> Given:
    given = training()
    given.rows["devices"][0]["name"] = device
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 10 + single_us, launched=start + 1)
        given.kernel("ampere_h16816gemm_128x64_ldg8_nn", start + 500, start + 590, launched=start + 2)
    return given


@pytest.mark.slow
def test_above_the_threshold_it_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 11_000)
    assert "NVIDIA A100-SXM4-40GB, which has tensor cores" in found.problem


@pytest.mark.slow
def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path).status == "not found"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute"
            "_kernel__5x_cublas",
            "found",
        ),
        (
            "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw_tilesize128x64x8_stage3_warpsize2x1x1_g1"
            "_ffma_aligna4_alignc4_execute_kernel__5x_cudnn",
            "found",
        ),
        ("void cudnn::cnn::explicit_convolve_sgemm<float, int, 128, 5, 5, 3, 3, 3, 0, false>(int, int)", "found"),
        ("void precomputed_convolve_sgemm<float, 1024, 5, 5, 4, 3, 3, 1, false>(int, int, int, float const*)", "found"),
        ("void cudnn::detail::implicit_convolveNd_sgemm<float, 3, 1024, 5, 5, 3, 3, 3, 1>(int, int)", "found"),
        ("void implicit_convolve_sgemm<__half, __half, 1024, 5, 5, 3, 3, 3, 1, true, false, true>(int)", "not found"),
        ("void cudnn::detail::dgrad_alg1_engine<float, 128, 6, 7, 3, 3, 5, false, true>(int, int, int)", "found"),
        ("void cudnn::detail::dgrad2d_alg1_1<float, 0, 6, 7, 5, 4, 5, false, true>(int, int, int)", "found"),
        ("void cudnn::cnn::wgrad_alg1_engine<float, float, 128, 6, 8, 3, 3, 5, false, false>(int, int)", "found"),
        ("void cudnn::cnn::wgrad_alg1_engine<__half, __half, 128, 6, 8, 3, 3, 5, false, false>(int, int)", "not found"),
        ("void convolveNd_dgrad_float_engine<float, 3, 128, 6, 7, 3, 3, 5, false>(int, int, int)", "found"),
        ("void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int, int)", "found"),
        ("cutlass_simt_sfprop_optimized_128x64_8x4_nhwc_align1", "found"),
        ("cutlass_80_simt_sgemm_128x64_8x5_nn_align1", "found"),
        ("cutlass_simt_hgemm_256x128_8x2_nt_align1", "not found"),
        ("void gemmSN_NN_kernel<float, 128, 2, 4, 8, 4, 4, false>(cublasGemmSmallNParams)", "found"),
        ("void gemmSN_NN_kernel<__half, 128, 2, 4, 8, 4, 4, false>(cublasGemmSmallNParams)", "not found"),
        ("void convolve_common_engine_float_NHWC<float, float, 128, 5, 5, 3, 3, 3, 1, false>(P)", "found"),
        ("void magma_sgemmEx_kernel<float, __nv_bfloat16, __nv_bfloat16, false, 6, 4, 6, 3, 4>(int)", "not found"),
        ("void magma_sgemmEx_kernel<float, __half, __half, true, false, 6, 4, 6, 3, 4>(int, int)", "not found"),
        ("void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>(float*, float const*)", "found"),
        (
            "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16_stage4_warpsize2x2x1_tensor16x8x8_execute"
            "_kernel_cublas",
            "not found",
        ),
        ("sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_kernel", "not found"),
    ],
)
def test_names_say_single_precision(name: str, status: str, tmp_path: Path) -> None:
    given = steps(200)
    for kernel in given.rows["kernels"]:
        kernel["name"] = kernel["name"].replace("ampere_sgemm_128x64_nn", name)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == (status, 200_000 if status == "found" else None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["volta_fp16_sgemm_fp16_128x64_nn", "maxwell_fp16_scudnn_winograd_fp16_fp32_128x128_ldg1_ldg4_tile148n_nt"],
)
def test_half_precision_without_tensor_cores_is_no_single_precision(name: str, tmp_path: Path) -> None:
    given = steps(100)
    for kernel in given.rows["kernels"]:
        kernel["name"] = kernel["name"].replace("ampere_sgemm_128x64_nn", name)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.long
@pytest.mark.parametrize("device", ["Tesla P100-SXM2-16GB", "GeForce GTX 1080 Ti", "AMD Radeon Instinct MI50"])
def test_without_tensor_cores_it_is_not(tmp_path: Path, device: str) -> None:
    assert answer(RULE, steps(50, device), tmp_path).status == "not found"


@pytest.mark.long
@pytest.mark.parametrize(
    ("device", "kinds"),
    [
        ("NVIDIA GeForce RTX 2080 Ti", " (none for TF32)"),
        ("Tesla V100-SXM2-32GB", " (none for TF32)"),
        ("NVIDIA L4", ""),
        ("NVIDIA GeForce RTX 3090", ""),
    ],
)
def test_tensor_cores_may_be_only_twice_as_fast_or_know_no_tf32(tmp_path: Path, device: str, kinds: str) -> None:
    found = answer(RULE, steps(50, device), tmp_path)
    assert found.status == "found"
    assert f"single precision on {device}, which has tensor cores{kinds};" in found.problem


@pytest.mark.long
def test_a_device_that_nobody_knows_cannot_be_told_also_beside_a_known_processor(tmp_path: Path) -> None:
    given = steps(50, "Stranger 9000")
    given.add("devices", name="AMD EPYC", kind="cpu", n_cores=8)
    given.about = {"cpu_hz": 3_000_000_000, "threads": 8, "cores": 8, "cpu_flags": ["avx2"]}
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the peaks of the device are not known.")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")


@pytest.mark.slow
def test_with_sizes_what_tensor_cores_still_have_to_do_is_no_saving(tmp_path: Path) -> None:
    """Two GFLOP at 312 TFLOP/s of fp16 take 6.9 us, 12.6 MB in half precision 4.0 us at 1,555 GB/s; in TF32 13.8."""
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 20, [(1024, 1024), (1024, 1024)], ["", ""])
        given.kernel("ampere_sgemm_128x64_nn", start + 30, start + 230, launched=start + 11)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == pytest.approx(200_000 - 1e9 * 2 * 1024**3 / 312e12, abs=1)
    assert found.evidence[0] == (
        "Of 0.200 ms in single precision, 0.200 ms have recorded sizes: on tensor cores they take 0.007 ms at least, "
        "in TF32 0.014 ms"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("products", "convolutions", "said"),
    [(False, True, "convolutions alone"), (False, False, "neither products nor convolutions"), (True, None, None)],
)
def test_switches_that_were_noted_are_told(products, convolutions, said, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    given = steps(500)
    given.about = {"flags": {"cuda.matmul.allow_tf32": products, "cudnn.allow_tf32": convolutions}}
    told = [line for line in answer(RULE, given, tmp_path).evidence if line.startswith("The switches")]
    assert told == ([] if said is None else [f"The switches allow TF32 in {said}"])
