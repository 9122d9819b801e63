"""Layers beside the best one of their kind, by the roofline of their best method."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

from traceview.analysis import advice

RULE = "slow_convolutions"
IMAGES = (32, 256, 28, 28)
POINTWISE, SQUARE = (256, 256, 1, 1), (256, 256, 3, 3)
PRODUCT_US = 1e6 * 2 * 32 * 28 * 28 * 256 * 256 / 312e12
"""A 1x1 filter in bf16: 3.3 GFLOP at 312 TFLOP/s take 10.5 us, and 25.8 MB at 1,555 GB/s 16.6 us."""
MOVED_US = 1e6 * 2 * (2 * 32 * 256 * 28 * 28 + 256 * 256) / 1555e9
KERNEL = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"


def steps(
    best: float, slow: float, filters: tuple[int, ...] = POINTWISE, length: float = 1000, groups: int = 1
) -> Given:
    """Two layers of one size in each step, which take so many times the least."""
    given = training(length=length)
    least = max(9 * PRODUCT_US if filters[2] == 3 else PRODUCT_US, MOVED_US)
    for step in range(3):
        for number, times in enumerate((best, slow)):
            at = step * length + 10 + number * 400
            w = (filters[0], filters[1] // groups, *filters[2:])
            given.span("module", f"nn.Module: Conv2d_{number}", at - 2, at + 8)
            conv(given, at, IMAGES, w, padding=filters[2] // 2, groups=groups, dtype="c10::BFloat16")
            given.kernel(KERNEL, at + 20, at + 20 + times * least, at + 1)
    return given


@pytest.mark.slow
def test_time_beyond_the_share_that_the_best_layer_reaches(tmp_path: Path) -> None:
    """The best takes 1.25 times its least, 80 % of the roofline; the other 5 times, and at that share it takes 1.25."""
    found = answer(RULE, steps(1.25, 5), tmp_path)
    assert (found.status, found.saving_ns) == ("found", pytest.approx(1000 * 3.75 * MOVED_US, rel=1e-3))
    assert found.problem.startswith("1 of the passes of layers take")
    assert "a product takes" in found.evidence[0] and "at the 80 % of the roofline that" in found.evidence[0]


@pytest.mark.slow
def test_in_half_precision_a_filter_of_3x3_is_held_against_the_direct_method(tmp_path: Path) -> None:
    found = answer(RULE, steps(2, 6, SQUARE, length=2000), tmp_path)
    assert found.saving_ns == pytest.approx(1000 * 4 * 9 * PRODUCT_US, rel=1e-3)
    assert "the direct method takes" in found.evidence[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        steps(1.25, 2.4),
        steps(5, 5),
        steps(4.5, 20),
        steps(1.25, 5, length=20_000),
        steps(1.25, 5, groups=2),
    ],
    ids=["near the best", "all alike", "none reaches a quarter", "little of the step", "groups"],
)
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_kernels_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("trace", "counted_ms"),
    [
        ("kineto/mi300-resnet18-train.json.gz", None),
        pytest.param("operators/mi300-resnet-checkpoint.json.gz", None, marks=pytest.mark.long),
        pytest.param("kineto/v100-resnet50-train-old.json.gz", 3.9, marks=pytest.mark.long),
    ],
)
def test_public_traces(trace: str, counted_ms: float | None, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    """Three 3x3 filters of 64 channels take 0.88 ms in the gradient of the filter where Winograd needs 0.12, and two of
    1x1 0.75 ms where the product needs 0.21."""
    (found,) = advice.run(captures.open(shared / "traces" / trace), advice.load([RULE]), {}, 0)
    assert (found.status == "found") == bool(counted_ms)
    if counted_ms:
        assert found.work_ns == pytest.approx(1e6 * counted_ms, abs=1e5)
