"""Double precision: on both sides of a tenth of the busy time."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "double_precision"
MATRIX = [[64, 64], [64, 64]]


def steps(double_us: float, operator: str = "aten::mm", device: str | None = None, dtype: str = "double") -> Given:
    given = training(device=device)
    for start in (0, 1000, 2000):
        given.op(operator, start, start + double_us, MATRIX, ["", ""], dtype)
        given.op("aten::mm", start + 500, start + 900, MATRIX, ["", ""])
        if device:
            given.kernel("volta_dgemm", start + 10, start + double_us, launched=start + 1)
    return given


def test_above_the_threshold_half_of_it_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(100), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 50_000)
    assert found.problem == "Operators with float64 tensors take 0.100 ms, 20.0 % of the device's busy time."
    assert found.evidence == ("aten::mm: 3 times, 0.100 ms",)


def test_conversions_are_part_of_the_busy_time(tmp_path: Path) -> None:
    given = steps(100)
    for start in (200, 1200, 2200):
        given.op("aten::copy_", start, start + 300, MATRIX, ["", ""], "double")
    assert answer(RULE, given, tmp_path).problem.endswith("take 0.100 ms, 12.5 % of the device's busy time.")


def test_its_share_is_of_work_launched_before_the_step_too(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA GeForce RTX 3090")
    for start in (1000, 2000, 3000):
        given.span("step", f"step#{start}", start, start + 900)
        given.kernel("ampere_sgemm_128x64_nn", start + 200, start + 800, launched=start - 50)
        given.op("aten::mm", start, start + 90, MATRIX, ["", ""], "double")
        given.kernel("volta_dgemm", start + 20, start + 170, launched=start + 1)
    assert answer(RULE, given, tmp_path).problem.endswith("take 0.150 ms, 20.0 % of the device's busy time.")


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(4), tmp_path).status == "not found"


def test_a_gpu_may_need_much_longer_for_it(tmp_path: Path) -> None:
    found = answer(RULE, steps(100, device="NVIDIA GeForce RTX 3090"), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 90_000)


@pytest.mark.parametrize(("operator", "dtype"), [("aten::copy_", "double"), ("aten::mm", "float")])
def test_what_makes_single_precision_of_it_is_no_such_operator(tmp_path: Path, operator: str, dtype: str) -> None:
    assert answer(RULE, steps(400, operator, dtype=dtype), tmp_path).status == "not found"


@pytest.mark.parametrize(("shape", "status"), [("[1]", "not found"), ("[1, 1]", "not found"), ("[1, 2]", "found")])
def test_a_metric_of_one_number_is_not(shape: str, status: str, tmp_path: Path) -> None:
    given = steps(100, "aten::add_")
    for row in given.rows["ops"]:
        if row["name"] == "aten::add_":
            row["shapes"] = f"[{shape}, {shape}]"
    assert answer(RULE, given, tmp_path).status == status


def test_a_scalar_is_no_tensor(tmp_path: Path) -> None:
    """PyTorch 1.9 writes the types of momentum and epsilon of a batch norm as double."""
    given = steps(400, "aten::batch_norm", dtype="float")
    for row in given.rows["ops"]:
        row["shapes"], row["types"] = "[[64, 64], [64], [], []]", '["float", "float", "double", "double"]'
    assert answer(RULE, given, tmp_path).status != "found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
