"""Model FLOP utilisation: by hand, and never with a peak that is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import Given, conv, pick, section

SQUARE = [[1024, 1024], [1024, 1024]]
FLOP = 2 * 1024**3


def training(device: str, dtype: str = "c10::BFloat16", shapes: list[list[int]] = SQUARE) -> Given:
    """Two steps of 100 us: one product each, and one launched before the first step."""
    given = Given()
    given.device(device)
    for step in (1, 2):
        given.span("step", f"ProfilerStep#{step}", 100 * step, 100 * step + 100)
    for at in (0, 110, 210):
        given.op("aten::mm", at, at + 10, shapes, ["", ""], dtype)
        given.kernel("ampere_bf16_s16816gemm_bf16_128x128_tn", at + 20, at + 40, launched=at + 5)
    return given


@pytest.mark.slow
def test_mfu_is_model_flop_over_step_time_and_peak(tmp_path: Path) -> None:
    """One product of 2.1 GFLOP in 100 us is 21.5 TFLOP/s, of 312 TFLOP/s; what ran before the steps is in none."""
    [row] = section(training("NVIDIA A100-SXM4-40GB").open(tmp_path), "mfu/utilisation")
    assert (row["step_ns"], row["model_flop"], row["type"], row["verdict"]) == (100_000, FLOP, "bf16", "measured")
    assert row["mfu_pct"] == row["hfu_pct"] == pytest.approx(100 * FLOP / 100e-6 / 312e12)
    assert row["peaks_from"].startswith("NVIDIA A100 datasheet")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "dtype", "verdict"),
    [
        ("Some Device", "c10::BFloat16", "cannot tell: no peak is known for bf16 on this device"),
        ("NVIDIA A100-SXM4-40GB", "double", "cannot tell: no peak is known for fp64 on this device"),
        ("Tesla V100-SXM2-32GB", "c10::BFloat16", "cannot tell: no peak is known for bf16 on this device"),
    ],
)
def test_without_a_peak_nothing_is_claimed(device: str, dtype: str, verdict: str, tmp_path: Path) -> None:
    [row] = section(training(device, dtype).open(tmp_path), "mfu/utilisation")
    assert (row["mfu_pct"], row["hfu_pct"], row["verdict"]) == (None, None, verdict)
    assert row["model_flop"] == FLOP


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "pct", "verdict"),
    [
        (15625, 105, "about: above the peak, which is that at the clock of the datasheet"),
        (
            65536,
            None,
            "cannot tell: 441 % of the peak, more than the device can do; a count, the type or the device is wrong",
        ),
    ],
)
def test_more_than_the_peak_is_not_measured(columns: int, pct: float | None, verdict: str, tmp_path: Path) -> None:
    """By hand: 2 x 1024 x 1024 x columns FLOP in 100 us, of 312 TFLOP/s."""
    given = training("NVIDIA A100-SXM4-40GB", shapes=[[1024, 1024], [1024, columns]])
    given.span("module", "fc", 105, 125)
    connection = given.open(tmp_path)
    [row] = section(connection, "mfu/utilisation")
    assert row["mfu_pct"] == row["hfu_pct"] == (pytest.approx(pct, rel=1e-3) if pct else None)
    assert row["verdict"] == verdict
    [line] = section(connection, "overview/efficiency")
    assert line["unknown"] == (None if pct else verdict.removeprefix("cannot tell: "))
    # While they run, a fifth of the step, both are faster than the device.
    assert (
        section(connection, "mfu/phases")[0]["peak_pct"] is section(connection, "modules/modules")[0]["mfu_pct"] is None
    )


def on_a_cpu(busy_us: int) -> Given:
    """Two steps of 10 ms with a product each; by its noted clock 2 threads x 64 FLOP x 2.6 GHz = 332.8 GFLOP/s."""
    given = Given()
    given.device("AMD EPYC", kind="cpu")
    given.about = {"cpu_flags": ["avx512f"], "cpu_hz": 2_600_000_000, "threads": 2}
    for step in (1, 2):
        given.span("step", f"ProfilerStep#{step}", 10_000 * step, 10_000 * step + 10_000)
        given.op("aten::mm", 10_000 * step + 10, 10_000 * step + 10 + busy_us, SQUARE, ["", ""], "float")
    return given


@pytest.mark.slow
def test_the_peak_of_a_cpu_is_said_to_be_about(tmp_path: Path) -> None:
    [row] = section(on_a_cpu(9_000).open(tmp_path), "mfu/utilisation")
    assert row["mfu_pct"] == pytest.approx(100 * FLOP / 10e-3 / 332.8e9)
    assert (
        row["verdict"] == "about: the peak of a CPU is that at the clock that was noted, which turbo clocks may exceed"
    )


def test_a_cpu_that_is_faster_than_its_noted_clock_has_no_utilisation(tmp_path: Path) -> None:
    """2.1 GFLOP in 4 ms are 537 GFLOP/s."""
    [row] = section(on_a_cpu(4_000).open(tmp_path), "mfu/utilisation")
    assert (row["mfu_pct"], row["hfu_pct"], row["model_flop"]) == (None, None, FLOP)
    assert row["verdict"] == "cannot tell: operators ran at 537 GFLOP/s, above the 333 of the clock that was noted"


@pytest.mark.slow
def test_without_steps_there_is_no_utilisation(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("aten::mm", 0, 10, SQUARE, ["", ""], "c10::BFloat16")
    given.kernel("gemm", 20, 40, launched=5)
    [row] = section(given.open(tmp_path), "mfu/utilisation")
    assert (row["mfu_pct"], row["verdict"]) == (None, "cannot tell: no steps in this trace")


@pytest.mark.slow
def test_work_without_a_cost_makes_it_a_lower_bound(tmp_path: Path) -> None:
    given = training("NVIDIA A100-SXM4-40GB")
    given.kernel("my_own_gemm", 150, 190, launched=145)
    [row] = section(given.open(tmp_path), "mfu/utilisation")
    assert row["covered_pct"] == pytest.approx(50) and row["verdict"].startswith("at least")


@pytest.mark.slow
def test_an_upper_bound_is_not_at_least(tmp_path: Path) -> None:
    """Attention of a server may have slid a window over its keys, which nothing records."""
    given = training("NVIDIA A100-SXM4-40GB")
    given.span("user", "execute_4_context_1(sq4sk4sqsq16sqsk16)_generation_0(sq0sk0sqsq0sqsk0)", 140, 195)
    given.op("vllm::unified_attention", 142, 150, [[4, 8, 64], [4, 2, 64], [4, 2, 64]], ["", "", ""], "c10::BFloat16")
    given.kernel("kernel_unified_attention", 151, 160, launched=145)
    given.kernel("my_own_gemm", 160, 199, launched=196)
    [row] = section(given.open(tmp_path), "mfu/utilisation")
    # Ten pairs of eight heads, in one of two steps.
    assert row["model_flop"] == FLOP + 2 * 80 * 128 / 2
    assert row["covered_pct"] < 95 and row["verdict"] == "about: some of the FLOP are an upper bound"


@pytest.mark.slow
def test_types_are_each_held_against_their_own_peak(tmp_path: Path) -> None:
    given = training("NVIDIA A100-SXM4-40GB")
    given.op("aten::mm", 130, 140, SQUARE, ["", ""])
    given.kernel("ampere_sgemm_128x64_nn", 150, 180, launched=135)
    connection = given.open(tmp_path)
    [row] = section(connection, "mfu/utilisation")
    assert row["mfu_pct"] == pytest.approx(100 * (FLOP / 312e12 + FLOP / 2 / 19.5e12) / 100e-6)
    assert pick(section(connection, "mfu/types"), "dtype", "model_flop", "peak_flop_per_s") == [
        ("bf16", FLOP, 312e12),
        ("fp32", FLOP / 2, 19.5e12),
    ]


@pytest.mark.parametrize(
    ("trace", "mfu_pct", "hfu_pct"),
    [
        # FLOP over step time and peak: 8,192,059,392 / 4,426.114 us / 989.4 TFLOP/s, and so on.
        ("h100-bert-forward", 0.1871, 0.1871),
        ("h100-vit-forward", 1.799, 1.799),
        ("h100-qwen-decode", 12.348, 12.348),
        # Three steps of 16,212 us: 421.19 GFLOP executed, 101.73 of them for the second time.
        ("mi300-resnet-checkpoint", 0.5024, 0.6624),
    ],
)
def test_utilisation_of_public_traces(trace: str, mfu_pct: float, hfu_pct: float, shared: Path, captures: Any) -> None:
    [row] = section(captures.open(shared / f"traces/operators/{trace}.json.gz"), "mfu/utilisation")
    assert row["mfu_pct"] == pytest.approx(mfu_pct, rel=2e-3)
    assert row["hfu_pct"] == pytest.approx(hfu_pct, rel=2e-3)


@pytest.mark.slow
def test_what_is_computed_again_is_a_phase_of_its_own(shared: Path, captures: Any) -> None:
    connection = captures.open(shared / "traces/operators/mi300-resnet-checkpoint.json.gz")
    found = {row["phase"]: row for row in section(connection, "mfu/phases")}
    assert found["computed again"]["calls"] == 19 and found["computed again"]["model_flop"] == 0
    assert 3 * found["computed again"]["executed_flop"] == pytest.approx(101732843520)


@pytest.mark.slow
def test_beyond_the_peak_by_an_algorithm_with_fewer_products_no_count_is_called_wrong(tmp_path: Path) -> None:
    """FLOP of a convolution are those of the direct method; Winograd ran 1.45 times as fast as these could."""
    given = Given()
    given.device("NVIDIA GeForce GTX 1080 Ti")
    shape = (64, 256, 56, 56)
    us = 2 * 64 * 256 * 56 * 56 * 256 * 9 / 11.34e12 / 1.45 * 1e6
    for number in range(2):
        begin = (us + 200) * number
        given.span("step", f"ProfilerStep#{number}", begin, begin + us + 200)
        conv(given, begin + 20, shape, (256, 256, 3, 3), padding=1)
        name = "maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile148n_nt"
        given.kernel(name, begin + 100, begin + 100 + us, launched=begin + 25)
    [row] = section(given.open(tmp_path), "mfu/utilisation")
    assert row["mfu_pct"] is None
    assert row["verdict"] == (
        "cannot tell: 143 % of the peak, by the FLOP of direct convolutions: Winograd and FFT do with fewer"
    )
