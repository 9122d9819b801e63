"""Kernels on tensor cores that load in small pieces, by their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice

RULE = "unaligned_kernels"
NARROW = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_tn_align2>(T1::Params)"


def steps(kernel: str, us: float = 100) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 15, [(512, 1021), (1021, 512)], ["", ""], dtype="c10::BFloat16")
        given.kernel(kernel, start + 20, start + 20 + us, launched=start + 11)
    return given


def test_what_the_device_allows_is_left(tmp_path: Path) -> None:
    found = answer(RULE, steps(NARROW), tmp_path)
    least_ns = 1e9 * max(2 * 512 * 512 * 1021 / 312e12, 2 * (2 * 512 * 1021 + 512 * 512) / 1555e9)
    assert found.status == "found" and found.saving_ns == pytest.approx(100_000 - least_ns, abs=1)
    assert found.problem == "Kernels that load less than 16 bytes at a time take 0.100 ms."
    assert found.evidence == (
        "cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_tn_align2 under aten::mm, 512 x 1021 by 1021 x 512: "
        "1.0 calls, 0.100 ms",
    )


@pytest.mark.parametrize(
    "kernel",
    [
        "fmha_cutlassF_f16_notaligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::Params)",
        "void cutlass::Kernel2<cutlass_75_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align1>(Params)",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align1>(Params)",
        "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_32x6_nt_align2>(Params)",
        "cutlass_tensorop_s16816fprop_optimized_f16_128x128_32x4_nhwc_align4",
        "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x2x1_0_tnn_align4_warpspecialized",
    ],
    ids=["attention", "half", "tf32", "half summed in single", "convolution", "cutlass 3"],
)
def test_other_names_are_found(kernel: str, tmp_path: Path) -> None:
    assert answer(RULE, steps(kernel), tmp_path).status == "found"


@pytest.mark.parametrize(
    "kernel",
    [
        NARROW.replace("align2", "align8"),
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4>(Params)",
        "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_64x64_64x6_tn_align8>(Params)",
        "cutlass3x_sm90_tensorop_s64x128x8gemm_tf32_tf32_f32_f32_f32_128x128x32_1x2x1_0_tnn_align4_warpspecialized",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(Params)",
        "void cutlass::Kernel2<cutlass_80_tensorop_z884gemm_16x32_16x3_nn_align1>(Params)",
        "fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::Params)",
    ],
    ids=["half", "tf32", "half summed in single", "cutlass 3", "single", "double", "attention"],
)
def test_aligned_ones_and_those_of_single_values_are_not(kernel: str, tmp_path: Path) -> None:
    assert answer(RULE, steps(kernel), tmp_path).status == "not found"


def test_little_time_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(NARROW, us=9), tmp_path).status == "not found"


def test_without_kernels_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


@pytest.mark.long
@pytest.mark.shared
def test_public_traces_with_and_without(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """3,137 keys of TimeSformer are odd."""
    rules = advice.load([RULE])
    (found,) = advice.run(captures.open(shared / "traces/operators/h100-timesformer-forward.json.gz"), rules)
    assert found.status == "found" and ", 96 x 3137 x 64 by 64 x 3137: " in found.evidence[0]
    for name in ("bert", "vit"):
        (found,) = advice.run(captures.open(shared / f"traces/operators/h100-{name}-forward.json.gz"), rules)
        assert found.status == "not found"
