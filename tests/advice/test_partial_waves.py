"""Grids of more than one wave, of which the last leaves cores without a block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from advised import answer, training
from cases import first
from given import Given

from traceview.analysis import advice

pytestmark = pytest.mark.slow

RULE = "partial_waves"
GEMM = "ampere_sgemm_128x64_nn"
A100 = {"architecture": "8.0", "n_cores": 108, "max_threads_per_core": 2048}


def steps(blocks: int, name: str = GEMM, us: float = 600, **facts: Any) -> Given:
    """A product in each step, of which a core holds two blocks: 128 x 32 x 8 = 32,768 registers each."""
    given = training(device=None)
    given.device("NVIDIA A100-SXM4-40GB", **A100)
    launch = {"grid_x": blocks, "grid_y": 1, "grid_z": 1, "block_x": 256, "block_y": 1, "block_z": 1}
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 15, [(4096, 64), (64, 4096)], ["", ""])
        given.kernel(
            name, start + 20, start + 20 + us, start + 11, **{**launch, "registers": 128, "shared_bytes": 0, **facts}
        )
    return given


def test_empty_places_of_the_last_wave_are_the_bound(tmp_path: Path) -> None:
    """216 places: 224 blocks are two waves, of 432 places 208 empty; one block at a time, a core takes up to 3."""
    found = answer(RULE, steps(224), tmp_path)
    assert found.status == "found" and found.saving_ns == pytest.approx(600_000 * 208 / 432, abs=1)
    assert found.problem == "1.0 products and convolutions take 0.600 ms and leave cores idle in their last wave."
    # 600 us x (1 - 224 / 324): the sum of what cores wait for if one block is as fast alone.
    assert found.confidence == (
        "low: if a core is as fast with one block as with all that it holds, 0.185 ms; which is so is not recorded"
    )
    assert found.evidence == (
        "ampere_sgemm_128x64_nn under aten::mm: 1.0 calls of 224 blocks, 0.600 ms; 108 cores hold 2 each, "
        "the last of 2 waves has 8",
    )


def test_no_more_than_the_time_beyond_the_least_of_the_device(tmp_path: Path) -> None:
    """4,096 x 64 by 64 x 4,096 in fp32 are 2.1 GFLOP, 110.1 us at 19.5 TFLOP/s: of 120 us 9.9 are left."""
    least_us = 1e6 * 2 * 4096 * 4096 * 64 / 19.5e12
    found = answer(RULE, steps(224, us=120), tmp_path, waves_step_pct="0.5")
    assert found.saving_ns == pytest.approx(1000 * (120 - least_us), abs=5)


@pytest.mark.parametrize(
    "given",
    first(
        4,
        [
            steps(432),
            steps(216),
            steps(108),
            steps(12),
            steps(216 + 108),
            steps(224, us=10),
            steps(224, "vectorized_elementwise_kernel"),
            steps(20 * 216 + 215),
        ],
    ),
    ids=["two full waves", "one", "half", "few", "a block for each core", "short", "elementwise", "all but one"],
)
def test_not_found(given: Given, tmp_path: Path) -> None:
    made = answer(RULE, given, tmp_path)
    assert made.status in ("not found", "cannot tell") and not made.saving_ns


def test_what_other_streams_fill_is_not_lost(tmp_path: Path) -> None:
    given = steps(224)
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel", start + 18, start + 700, start + 12, stream=8)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_products_of_attention_are_left_to_its_own_rule(tmp_path: Path) -> None:
    """Whoever fuses it has none of these kernels."""
    given, launch = training(length=4000, device=None), {"grid_x": 224, "grid_y": 1, "grid_z": 1}
    given.device("NVIDIA A100-SXM4-40GB", **A100)
    launch |= {"block_x": 256, "block_y": 1, "block_z": 1, "registers": 128, "shared_bytes": 0}
    scores, parts = (8, 1024, 1024), ((8, 1024, 64), (8, 64, 1024))
    for start in (0, 4000, 8000):
        for at, name, shapes in (
            (10, "aten::bmm", parts),
            (700, "aten::_softmax", (scores, (), ())),
            (900, "aten::bmm", (scores, (8, 1024, 64))),
        ):
            given.op(name, start + at, start + at + 5, shapes, [""] * len(shapes))
            kernel = GEMM if name == "aten::bmm" else "softmax_warp_forward"
            given.kernel(kernel, start + at + 6, start + at + 606, start + at + 1, **launch)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize("facts", [{"registers": None}, {"name": "sm90_xmma_gemm_f32f32_tn_n_tilesize64x64x64"}])
def test_persistent_or_nothing_recorded_cannot_tell(facts: dict[str, Any], tmp_path: Path) -> None:
    assert answer(RULE, steps(224, **facts), tmp_path).status == "cannot tell"
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("trace", "status", "ms"),
    [
        ("kineto/v100-convnet-train-ns.json.gz", "found", 1.357),
        ("operators/h100-timesformer-forward.json.gz", "not found", None),
        pytest.param("operators/h100-vit-forward.json.gz", "not found", None, marks=pytest.mark.long),
        pytest.param("kineto/a100-convnet-train-nccl.json.gz", "not found", None, marks=pytest.mark.long),
        ("kineto/mi300-resnet18-train.json.gz", "cannot tell", None),
    ],
)
def test_public_traces(trace: str, status: str, ms: float | None, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    (found,) = advice.run(captures.open(shared / "traces" / trace), advice.load([RULE]), {}, 0.5)
    assert found.status == status
    assert found.saving_ns == (None if ms is None else pytest.approx(1e6 * ms, abs=2000))
