"""Convolutions that unroll their input: on both sides of the share that matters."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

from traceview.analysis import advice

RULE = "explicit_gemm"
UNROLL = "im2col4d_kernel"
PRODUCT = "explicit_convolve_sgemm"


def steps(explicit_us: float, channels: int = 8, w: tuple[int, ...] = (16, 8, 7, 7), stride: int = 2) -> Given:
    """In each step a call that unrolls for a fifth of its time, and 900 microseconds of another convolution."""
    given = training(length=2000)
    x = (4, channels, 32, 32)
    for start in (0, 2000, 4000):
        conv(given, start, x, w, stride, w[2] // 2)
        given.kernel(UNROLL, start + 100, start + 100 + explicit_us / 5, launched=start + 1)
        given.kernel(PRODUCT, start + 100 + explicit_us / 5, start + 100 + explicit_us, launched=start + 2)
        conv(given, start + 20, x, (32, channels, 7, 7), stride, 3)
        given.kernel("implicit_convolve_sgemm", start + 900, start + 1800, launched=start + 21)
    return given


@pytest.mark.slow
def test_the_unrolling_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(100), tmp_path)
    assert (found.status, found.saving_ns, found.saving_pct) == ("found", 20_000, 1.0)
    assert found.problem == "10.0 % of the time in convolution calls is in calls that unroll their input first."
    assert found.evidence == (
        "conv1 16x8x7x7 (guessed) fprop: 1.0 calls and 0.100 ms, of it 0.020 ms unrolling; implicit GEMM needs no "
        "workspace",
    )
    assert found.confidence == "high: the unrolling is named by its kernels"


@pytest.mark.slow
def test_unrolling_beside_other_work_is_in_the_share_and_saves_nothing(tmp_path: Path) -> None:
    given = steps(100)
    for start in (0, 2000, 4000):
        given.kernel("ampere_sgemm_128x64_nn", start + 90, start + 130, launched=start + 60, stream=8)
        conv(given, start + 40, (4, 8, 32, 32), (16, 8, 5, 5), 1, 2)
        given.kernel(UNROLL, start + 1800, start + 1820, launched=start + 41)
        given.kernel(PRODUCT, start + 1820, start + 1900, launched=start + 42)
    found = answer(RULE, given, tmp_path)
    assert (found.problem.split(" of ")[0], found.saving_ns) == ("18.2 %", 20_000)
    assert found.evidence[1] == (
        "conv1 16x8x7x7 (guessed) fprop: 1.0 calls and 0.100 ms, of it 0.020 ms unrolling; implicit GEMM needs no "
        "workspace"
    )


@pytest.mark.long
def test_a_little_is_not_found(tmp_path: Path) -> None:
    assert answer(RULE, steps(15), tmp_path / "default").status == "not found"
    assert answer(RULE, steps(15), tmp_path / "lower", explicit_conv_pct="1").status == "found"


@pytest.mark.long
def test_winograd_would_also_multiply_less(tmp_path: Path) -> None:
    """32x32 outputs lose no tile edges: F(2x2,3x3) with its transforms takes 64 channels' products at 1 / 2.2."""
    found = answer(RULE, steps(100, channels=64, w=(64, 64, 3, 3), stride=1), tmp_path)
    assert found.status == "found" and found.confidence.startswith("medium: ")
    assert found.saving_ns == pytest.approx(20_000 + 80_000 * (1 - 1 / 2.19), rel=0.002)
    assert "winograd needs 0.3 MB of workspace" in found.evidence[0]


@pytest.mark.slow
def test_a_product_without_unrolling_is_none(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start, (4, 8, 32, 32), (16, 8, 1, 1))
        given.kernel("ampere_sgemm_128x64_nn", start + 100, start + 200, launched=start + 1)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "operator", "status"),
    [
        ("Conv2D", "net/conv1/Conv2D:Conv2D", "cannot tell"),  # TensorFlow 1's timeline
        ("Convolution", "Convolution", "cannot tell"),  # MXNet on a GPU
        ("implicit_convolve_sgemm", "aten::convolution", "not found"),
    ],
)
def test_rules_that_read_names_of_kernels_cannot_tell_where_these_are_those_of_operators(
    tmp_path: Path, name: str, operator: str, status: str
) -> None:
    given = Given()
    for start in (0, 1000):
        conv(given, start, (4, 8, 32, 32), (16, 8, 3, 3))
        given.kernel(name, start + 50, start + 950, launched=start + 1, recorded_op=operator)
    with given.open(tmp_path) as connection:
        found = advice.run(connection, advice.load([RULE, "layout_in_convolutions", "unaligned_kernels"]))
    reason = "the trace names kernels after their operators, and their own names are not recorded."
    assert {(each.status, each.reason) for each in found} == {(status, reason if status == "cannot tell" else "")}


def test_rules_on_algorithms_cannot_tell_where_no_kernel_names_one(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start, (4, 64, 32, 32), (64, 64, 3, 3), padding=1)
        given.kernel("gen_conv", start + 50, start + 950, launched=start + 1)
    with given.open(tmp_path) as connection:
        found = advice.run(connection, advice.load([RULE, "one_algorithm_everywhere", "slow_algorithm"]))
    reason = "nothing that ran below the convolutions tells by which algorithm they were computed."
    assert [(each.status, each.reason) for each in found] == [("cannot tell", reason)] * 3


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")


@pytest.mark.long
@pytest.mark.shared
def test_resnet_50_on_a_v100_unrolls_in_two_calls_of_a_step(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """Real, and little: 0.28 of 155 ms a step, below what is told unless --at-least says so."""
    connection = captures.open(shared / "traces/kineto/v100-resnet50-train-old.json.gz")
    (found,) = advice.run(connection, advice.load([RULE]))
    assert (found.saving_ns, found.place) == (
        283_167,
        "Mostly in conv44 512x1024x1x1 (guessed), conv45 512x512x3x3 (guessed)",
    )
    (slow,) = advice.run(connection, advice.load(["slow_algorithm"]))
    assert slow.status == "found" and slow.saving_ns == pytest.approx(2_221_000, abs=1000)
    assert "5 of the convolutions run an algorithm that is slow for their shape" in slow.problem


@pytest.mark.long
@pytest.mark.parametrize(("layers", "place"), [((), "Mostly in conv1 (guessed)"), (("conv1",), "Mostly in conv1")])
def test_the_place_is_a_layer_guessed_where_none_is_recorded(
    tmp_path: Path, layers: tuple[str, ...], place: str
) -> None:
    given = training(length=2000)
    for start in (0, 2000, 4000):
        for number, layer in enumerate((None, *layers)):
            at = start + 500 * number
            if layer:
                given.span("module", layer, at, at + 400)
            given.op("aten::convolution", at + 1, at + 11)
            given.kernel(UNROLL, at + 100, at + 200 - 20 * number, launched=at + 2)
            given.kernel(PRODUCT, at + 200, at + 300, launched=at + 3)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.place) == ("found", place)
