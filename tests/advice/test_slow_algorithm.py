"""Algorithms that are slow for their shape: on both sides of one and a half times, and DeepBench's two odd choices."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapes
from advised import answer, training
from given import Given, conv

from traceview.analysis import advice

RULE = "slow_algorithm"
UNRANKED = (
    "for no convolution is the usual order of algorithms known "
    "(only for cuDNN in single precision, two dimensions, without groups)."
)
WINOGRAD = shapes.KERNELS["WINOGRAD"][0]
PRECOMP = shapes.KERNELS["IMPLICIT_PRECOMP_GEMM"][0]
X, W = (8, 64, 28, 28), (64, 64, 3, 3)


def steps(slow_us: float, with_winograd: bool = True, kernel: str = PRECOMP, w: tuple[int, ...] = W) -> Given:
    """In each step one call by Winograd of 100 microseconds, and one of the same shape by another algorithm."""
    given = training()
    for start in (0, 1000, 2000):
        if with_winograd:
            given.span("module", "conv1", start, start + 12)
            conv(given, start + 1, X, w, padding=1)
            given.kernel(WINOGRAD, start + 100, start + 200, launched=start + 3)
        given.span("module", "conv2", start + 20, start + 40)
        conv(given, start + 22, X, w, padding=1)
        given.kernel(kernel, start + 300, start + 300 + slow_us, launched=start + 24)
    return given


@pytest.mark.slow
def test_above_one_and_a_half_times_the_rate_of_the_better_one_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(160), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 60_000, "Mostly in conv2")
    assert found.problem == (
        "1 of the convolutions run an algorithm that is slow for their shape; "
        "for 1 of them the faster one needs more workspace, up to 0.3 MB."
    )
    assert found.evidence == (
        "conv2 fprop 8x64x28x28 through 64x64x3x3: implicit_precomp_gemm 0.160 ms, winograd 0.100 ms "
        "(at its rate in this trace; workspace 0.3 MB)",
    )
    assert found.confidence.startswith("high: ")


@pytest.mark.slow
def test_a_bias_is_no_algorithm_and_no_call_is_faster_than_memory(tmp_path: Path) -> None:
    """At Winograd's rate the image would take 60 of its 100 microseconds, but moving its tensors takes 69."""
    given, image, first = training(), (8, 3, 224, 224), (64, 3, 3, 3)
    for start in (0, 1000, 2000):
        for at, x, w, kernel, length in (
            (start, X, W, WINOGRAD, 20),
            (start + 200, X, W, PRECOMP, 40),
            (start + 400, image, first, shapes.KERNELS["IMPLICIT_GEMM"][0], 100),
        ):
            conv(given, at, x, w, padding=1)
            given.kernel(kernel, at + 20, at + 20 + length, launched=at + 2)
            given.kernel("void elementwise_kernel<CUDAFunctor_add<float>>", at + 130, at + 190, launched=at + 4)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns, len(found.evidence)) == ("found", 20_000, 1)
    assert "implicit_precomp_gemm 0.040 ms, winograd 0.020 ms" in found.evidence[0]


@pytest.mark.long
def test_another_number_of_channels_is_a_weaker_measure(tmp_path: Path) -> None:
    """With 128 filters the second call has twice the arithmetic: 200 microseconds at Winograd's rate."""
    given = steps(350)
    for row in given.rows["ops"][1::2]:
        row["shapes"] = row["shapes"].replace("[64, 64, 3, 3]", "[128, 64, 3, 3]")
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.confidence.split(":")[0]) == (150_000, "medium")


@pytest.mark.long
def test_the_better_one_may_run_beside_what_began_earlier(tmp_path: Path) -> None:
    given = steps(160)
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel<4>", start + 250, start + 360, launched=start + 45, stream=8)
    # From 300 to 400 instead of 460; the other ends at 360.
    assert answer(RULE, given, tmp_path).saving_ns == 60_000


@pytest.mark.slow
def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(140), tmp_path / "default").status == "not found"
    assert answer(RULE, steps(140), tmp_path / "lower", slower_ratio="1.3").status == "found"


@pytest.mark.long
def test_without_the_better_one_in_the_trace_its_operations_are_counted(tmp_path: Path) -> None:
    """F(2x2,3x3) multiplies 2.25 times less, of which its transforms take a little back."""
    found = answer(RULE, steps(160, with_winograd=False), tmp_path)
    assert found.status == "found" and found.confidence.startswith("low: ")
    assert found.saving_ns == pytest.approx(160_000 * (1 - 1 / 2.1889), rel=1e-4)
    assert "by operations" in found.evidence[0]


@pytest.mark.long
def test_the_usual_algorithm_is_never_slow(tmp_path: Path) -> None:
    """Precomputed implicit GEMM of 1x1, however long it takes."""
    given = training()
    for number, length in enumerate((100, 100, 900)):
        conv(given, 1000 * number, X, (64, 64, 1, 1))
        given.kernel(PRECOMP, 1000 * number + 20, 1000 * number + 20 + length, launched=1000 * number + 2)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.long
def test_tensor_cores_are_not_judged(tmp_path: Path) -> None:
    given = steps(
        400, False, kernel="sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16"
    )
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", UNRANKED)


@pytest.mark.long
def test_another_library_is_not_judged(tmp_path: Path) -> None:
    given = steps(400)
    given.device("AMD Instinct MI300X")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", UNRANKED)


@pytest.mark.long
@pytest.mark.shared
def test_deepbenchs_two_odd_choices_of_fft_and_no_other_3x3(shared: Path, tmp_path: Path) -> None:
    """FFT on 56x56 with 128 to 256 channels: 6.85 and 10.6 ms where Winograd's rates on other 3x3 layers say 2 to 5.

    Outside 3x3 it is the one shape that ran plain implicit GEMM: twice its neighbour's batch in thrice the time.
    """
    given, _ = shapes.deepbench(shared / "studies")
    with given.open(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
    assert found.status == "found"
    three = [line for line in found.evidence if "x3x3: " in line]
    assert [line.partition("(")[0] for line in three] == [
        "filter 256x128x3x3 fprop 16x128x56x56 through 256x128x3x3: fft 10.635 ms, winograd 4.657 ms ",
        "filter 256x128x3x3 fprop 8x128x56x56 through 256x128x3x3: fft 6.850 ms, winograd 2.329 ms ",
    ]
    (other,) = set(found.evidence) - set(three)
    assert other.startswith(
        "filter 512x128x1x1 fprop 16x128x28x28 through 512x128x1x1: implicit_gemm 0.283 ms, implicit_precomp"
    )
    assert found.saving_ns == pytest.approx(11_850_000 + 150_000, rel=0.01)


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
