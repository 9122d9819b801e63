"""Products of one size that a module runs one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "small_products"
FLOP = 2 * 64**3
BYTES = 3 * 4 * 64 * 64


def steps(n: int, us: float = 5, side: int = 64) -> Given:
    given = training(device="NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        for number in range(n):
            at = start + 10 + 20 * number
            given.op("aten::mm", at, at + 5, [(side, side), (side, side)], ["", ""])
            given.kernel("ampere_sgemm_32x32_nn", at + 6, at + 6 + us, launched=at + 1)
    return given


def test_eight_are_found_and_one_batch_of_them_is_left(tmp_path: Path) -> None:
    found = answer(RULE, steps(8), tmp_path)
    least_ns = 8 * 1e9 * max(FLOP / 19.5e12, BYTES / 1555e9)
    assert found.status == "found" and found.saving_ns == pytest.approx(40_000 - least_ns, abs=1)
    assert found.evidence == (
        "(no module): aten::mm 64 x 64 by 64 x 64, fp32: 8.0 times, 0.040 ms, together at least 0.000 ms",
    )


@pytest.mark.parametrize("given", [steps(7), steps(8, us=0.06)], ids=["too few", "as fast as the device allows"])
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_sizes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(), tmp_path).status == "cannot tell"


@pytest.mark.slow
def test_long_ones_and_those_with_others_between_are_not(tmp_path: Path) -> None:
    """Layers of one size with other products between them need each other's results."""
    assert answer(RULE, steps(8, us=21, side=256), tmp_path / "long").status == "not found"
    given = training()
    for start in (0, 1000, 2000):
        for number in range(24):
            at, side = start + 10 + 20 * number, 64 + 8 * (number % 3)
            given.op("aten::mm", at, at + 5, [(side, side), (side, side)], ["", ""])
            given.kernel("ampere_sgemm_32x32_nn", at + 6, at + 11, launched=at + 1)
    assert answer(RULE, given, tmp_path / "others").status == "not found"


def test_a_recurrent_network_needs_the_result_before(tmp_path: Path) -> None:
    """Cells of an LSTM in a loop: products of one size in turns, of which none can be batched with the next."""
    given = steps(20)
    for start in (0, 1000, 2000):
        for number in range(20):
            given.op("aten::lstm_cell", start + 9 + 20 * number, start + 27 + 20 * number)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize(
    ("names", "status", "place"),
    [
        ("layers.0.mlp.experts.{}.w{}", "found", "Mostly in layers.*.mlp.experts"),
        ("layers.{}.w{}", "not found", ""),
        ("transformer_moe.layers.{}.w{}", "not found", ""),
        ("moe.experts.0.layers.{}.w{}", "not found", ""),
    ],
    ids=["a list of experts", "layers", "layers of a model of experts", "layers of one expert"],
)
def test_experts_are_one_module_and_layers_are_not(names: str, status: str, place: str, tmp_path: Path) -> None:
    """No expert needs the result of another; each has two products of one size and one of another."""
    given = training(device="NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        for number in range(24):
            at, sides = start + 10 + 20 * number, (96, 64) if number % 3 == 2 else (64, 96)
            given.span("module", f"{names.format(number // 3, number % 3)} (Linear)", at - 1, at + 8)
            given.op("aten::mm", at, at + 5, [(64, sides[0]), sides], ["", ""])
            given.kernel("ampere_sgemm_32x32_nn", at + 6, at + 11, launched=at + 1)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.place) == (status, place)
    assert status == "not found" or found.problem.startswith("24.0 products of few sizes take 0.120 ms")
