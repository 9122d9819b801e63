"""Effective and executed FLOP/s are two numbers; peaks are those of the device, or unknown."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, conv, pick, rows, section

IMAGE, FILTER = (16, 64, 56, 56), (64, 64, 3, 3)
DIRECT = 2 * 16 * 64 * 64 * 9 * 56 * 56
NAMES = ("winogradForwardData4x4", "winogradForwardFilter4x4", "volta_sgemm_128x64_nn", "winogradForwardOutput4x4")


def winograd(device: str, kernel_us: int = 100) -> Given:
    given = Given()
    given.device(device)
    conv(given, 0, IMAGE, FILTER, padding=1)
    for position, name in enumerate(NAMES):
        given.kernel(name, 10 + 100 * position, 10 + 100 * position + kernel_us, launched=1 + position)
    return given


@pytest.mark.slow
def test_a_winograd_convolution_executes_fewer_flop_than_it_is_worth(tmp_path: Path) -> None:
    (row,) = section(winograd("Tesla V100-SXM2-32GB").open(tmp_path), "algorithms/summary")
    tiles = 14 * 14
    products = 2 * 16 * tiles * 36 * 64 * 64
    transforms = 144 * 16 * tiles * 64 + 100 * 16 * tiles * 64 + 72 * 64 * 64
    assert (row["algorithm"], row["work_flop"]) == ("winograd_nonfused", DIRECT)
    assert row["executed_flop"] == products + transforms
    assert row["effective_flop_per_s"] == pytest.approx(DIRECT / 400e-6)
    assert row["executed_flop_per_s"] == pytest.approx((products + transforms) / 400e-6)
    assert row["peak_pct"] == pytest.approx(100 * (products + transforms) / 400e-6 / 15.7e12)
    assert row["overhead_pct"] == 75.0


@pytest.mark.slow
def test_an_unknown_device_has_no_peak(tmp_path: Path) -> None:
    connection = winograd("Imaginary 9000").open(tmp_path)
    assert pick(section(connection, "algorithms/summary"), "peak_pct") == [(None,)]
    assert pick(section(connection, "algorithms/roofline"), "attainable_flop_per_s", "peaks_from") == [
        (None, "unknown")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel_us", "peak_pct"), [(14, 110.8), (10, None)])
def test_a_share_of_the_peak_that_no_device_reaches_is_not_told(
    tmp_path: Path, kernel_us: int, peak_pct: float | None
) -> None:
    connection = winograd("Tesla V100-SXM2-32GB", kernel_us).open(tmp_path)
    for name in ("algorithms/summary", "conv/layers"):
        assert section(connection, name)[0]["peak_pct"] == (peak_pct and pytest.approx(peak_pct, abs=0.1))


@pytest.mark.long
def test_two_shapes_of_one_product_share_a_roofline_by_their_flop(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    weights = (128, 128, 3, 3)
    # A stride of 2 on twice the size gives the same matrix product, but more to read.
    conv(given, 0, (32, 128, 56, 56), weights, stride=2, padding=1)
    given.kernel("implicit_convolve_sgemm", 20, 1020, launched=2)
    conv(given, 2000, (32, 128, 28, 28), weights, padding=1)
    given.kernel("implicit_convolve_sgemm", 2020, 3020, launched=2002)
    (row,) = section(given.open(tmp_path), "algorithms/roofline")
    filters, small, large = 128 * 128 * 9, 32 * 128 * 28 * 28, 32 * 128 * 56 * 56
    flop = 2 * 32 * 28 * 28 * filters
    assert row["calls"] == 2
    assert row["intensity_flop_per_byte"] == pytest.approx(2 * flop / (4 * (3 * small + large + 2 * filters)))
    assert row["attainable_flop_per_s"] == pytest.approx(19.5e12)
    assert row["attainable_pct"] == pytest.approx(100 * 2 * flop / 2e-3 / 19.5e12)


@pytest.mark.slow
def test_methods_say_which_one_ran(tmp_path: Path) -> None:
    connection = winograd("Tesla V100-SXM2-32GB").open(tmp_path)
    found = section(connection, "algorithms/methods")
    assert [row["method"] for row in found if row["used"]] == ["Winograd F(4x4,3x3)"]
    assert {row["method"] for row in found} >= {"direct", "explicit GEMM", "FFT", "FFT in tiles", "Winograd F(2x2,3x3)"}
    assert section(connection, "algorithms/methods", way="wgrad") == []


def layer(moved: int, channels: int, kernel_us: float, gap_us: float) -> Given:
    """Four 1x1 convolutions of `moved` images, each launched when the one before has long ended, or ahead of time."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    at = 0.0
    for _ in range(4):
        conv(given, at, (moved, channels, 28, 28), (channels, channels, 1, 1))
        given.kernel("implicit_convolve_sgemm", at + 5 + gap_us, at + 5 + gap_us + kernel_us, launched=at + 4)
        at += 5 + gap_us + kernel_us
    return given


@pytest.mark.slow
@pytest.mark.parametrize(
    ("images", "channels", "kernel_us", "bound"),
    [(64, 16, 80, "memory-bound"), (64, 1024, 6000, "compute-bound"), (1, 16, 2, "launch-bound")],
)
def test_each_layer_is_bound_by_something_in_words(
    tmp_path: Path, images: int, channels: int, kernel_us: float, bound: str
) -> None:
    """Few channels move more than they compute; tiny kernels wait for their launch longer than they run."""
    (row,) = section(layer(images, channels, kernel_us, 0).open(tmp_path), "algorithms/roofline")
    assert row["bound"].partition(" (")[0] == bound


def transposed(output_padding: list[int] | str) -> Given:
    given = Given()
    values = ["", "", "", [2, 2], [1, 1], [1, 1], True, output_padding, 1]
    given.op("aten::convolution", 0, 10, [(8, 64, 28, 28), (64, 32, 4, 4), *[()] * 7], values)
    given.kernel("sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckcrs_nhwc_kernel_cudnn", 5, 9, launched=1)
    given.device("NVIDIA A100-SXM4-40GB")
    return given


@pytest.mark.slow
@pytest.mark.parametrize(
    ("output_padding", "side", "bound"),
    [
        ([0, 0], 56, "memory-bound"),
        ([1, 1], 57, "memory-bound"),
        ("", None, "cannot tell: sizes of the output not known"),
    ],
)
def test_the_output_of_a_transposed_convolution_counts(
    tmp_path: Path, output_padding: list[int] | str, side: int | None, bound: str
) -> None:
    connection = transposed(output_padding).open(tmp_path)
    (row,) = section(connection, "algorithms/roofline")
    assert row["bound"] == bound
    flop = 2 * 8 * 28 * 28 * 64 * 32 * 4 * 4
    bytes_moved = 4 * (8 * 64 * 28 * 28 + 64 * 32 * 4 * 4 + 8 * 32 * side * side) if side else None
    assert row["intensity_flop_per_byte"] == (pytest.approx(flop / bytes_moved) if bytes_moved else None)
    if bytes_moved:  # As the report of all operators has it.
        assert rows(connection, "SELECT bytes FROM op_costs") == [(bytes_moved,)]


@pytest.mark.slow
def test_without_bandwidth_nothing_is_said_of_the_bound(tmp_path: Path) -> None:
    given = winograd("Imaginary 9000")
    given.rows["devices"][0]["fp32_flop_per_s"] = 1e13
    (row,) = section(given.open(tmp_path), "algorithms/roofline")
    assert row["bound"] == "cannot tell: bandwidth of the memory not known"


def test_without_peaks_nothing_is_said_of_the_bound(tmp_path: Path) -> None:
    given = Given()
    given.device("A device of which nobody has heard")
    conv(given, 0, (64, 16, 28, 28), (16, 16, 1, 1))
    given.kernel("implicit_convolve_sgemm", 5, 90, launched=4)
    (row,) = section(given.open(tmp_path), "algorithms/roofline")
    assert row["bound"] == "cannot tell: peaks of the device not known"
