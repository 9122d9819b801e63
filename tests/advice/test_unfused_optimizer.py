"""An optimizer of many small operators on a CPU: on both sides of a fiftieth of the step, and fused."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from cases import first
from given import Given

RULE = "unfused_optimizer"
MOMENTUM = (("aten::mul_", 0, 20), ("aten::add_", 30, 50), ("aten::add_", 60, 80))
"""SGD: eight tensors are read or written, of which a fused kernel needs five."""
ADAM = (("aten::lerp_", 0, 20), ("aten::addcmul_", 30, 50), ("aten::sqrt", 55, 65), ("aten::addcdiv_", 60 + 10, 80))


def steps(operators: tuple[tuple[str, int, int], ...], lasts: int = 100, length: float = 1000) -> Given:
    given = training(device=None, length=length)
    for step in range(3):
        start = step * length
        given.span("phase", "optimizer", start + 500, start + 500 + lasts)
        for name, begin, end in operators:
            given.op(name, start + 500 + begin, start + 500 + end)
    return given


@pytest.mark.long
def test_what_is_between_the_operators_and_what_a_single_pass_would_not_move_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(MOMENTUM), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 40_000 + 60_000 * 3 // 8)
    assert (
        found.problem == "The optimizer takes 0.100 ms, of which its operators compute 0.060 ms, one after the other."
    )
    assert found.evidence == ("aten::add_: 2.0 calls, 0.040 ms", "aten::mul_: 1.0 calls, 0.020 ms")


def test_an_operator_with_others_inside_it_is_one_call(tmp_path: Path) -> None:
    """As on a CPU, where aten::mul_ first makes a tensor of its factor: still eight reads and writes, not ten."""
    given = steps(MOMENTUM)
    for start in (500, 1500, 2500):
        given.op("aten::to", start + 5, start + 10)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 40_000 + 60_000 * 3 // 8)
    assert found.evidence[1:] == ("aten::mul_: 1.0 calls, 0.015 ms", "aten::to: 1.0 calls, 0.005 ms")


@pytest.mark.long
def test_adams_update_reads_and_writes_seven_tensors_of_twelve(tmp_path: Path) -> None:
    found = answer(RULE, steps(ADAM), tmp_path)
    assert (found.status, found.saving_ns) == ("found", pytest.approx(40_000 + 60_000 * 5 / 12, abs=1))


@pytest.mark.slow
def test_above_and_below_the_threshold(tmp_path: Path) -> None:
    assert answer(RULE, steps(MOMENTUM, length=3_100), tmp_path / "above").status == "found"
    assert answer(RULE, steps(MOMENTUM, length=3_150), tmp_path / "below").status == "not found"


@pytest.mark.long
@pytest.mark.parametrize("operators", [(("aten::_fused_adamw_", 0, 80), *MOMENTUM), (("aten::add_", 0, 80),)])
def test_a_fused_optimizer_and_one_that_is_a_single_pass_are_not_found(operators, tmp_path: Path) -> None:
    assert answer(RULE, steps(operators), tmp_path).status == "not found"


@pytest.mark.long
def test_on_a_device_the_optimizer_is_a_matter_of_launches(tmp_path: Path) -> None:
    given = steps(MOMENTUM)
    given.kernel("ampere_sgemm_128x64_nn", 10, 30, launched=1)
    assert answer(RULE, given, tmp_path).status != "found"


def test_the_closure_of_an_optimizer_is_not_the_optimizer(tmp_path: Path) -> None:
    """The closure takes 700 of the 800 us in `optimizer.step(closure)`: forward and backward."""
    given = training(device=None, length=1000)
    for start in (0, 1000, 2000):
        given.span("phase", "optimizer", start + 100, start + 900)
        given.op("aten::add_", start + 110, start + 400)
        given.op("autograd::engine::evaluate_function: AddmmBackward0", start + 400, start + 800)
        for name, begin, end in MOMENTUM:
            given.op(name, start + 800 + begin, start + 800 + end)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 40_000 + 60_000 * 3 // 8)
    assert found.problem.startswith("The optimizer takes 0.100 ms, of which its operators compute 0.060 ms")


@pytest.mark.parametrize(("optimizer", "status"), [("LBFGS", "not found"), ("AdamW", "found")])
def test_an_optimizer_without_a_fused_form_is_not_told_to_use_it(optimizer: str, status: str, tmp_path: Path) -> None:
    given = steps(MOMENTUM)
    for row in given.rows["ranges"]:
        if row["kind"] == "phase":
            row["domain"] = f"Optimizer.step#{optimizer}.step"
    assert answer(RULE, given, tmp_path).status == status


@pytest.mark.slow
def test_of_a_class_that_is_not_of_pytorch_it_cannot_tell(tmp_path: Path) -> None:
    """Unless so few tensors, or so little time, would not be found of any."""
    mark = "Optimizer.step#LAMB.step"
    said = answer(RULE, on_device(mark=mark), tmp_path / "device")
    assert (said.status, said.reason) == (
        "cannot tell",
        "whether LAMB has a form for lists of tensors (fused, foreach) is not known; the operators of its step take "
        "0.120 ms.",
    )
    assert answer(RULE, on_device(parameters=7, mark=mark), tmp_path / "few").status == "not found"
    given = steps(MOMENTUM)
    for row in given.rows["ranges"]:
        row["domain"] = mark if row["kind"] == "phase" else None
    said = answer(RULE, given, tmp_path / "cpu")
    assert said.status == "cannot tell" and said.reason.endswith("the operators of its step take 0.060 ms.")


def test_of_two_optimizers_the_one_without_a_fused_form_counts_nothing(tmp_path: Path) -> None:
    """As `collect` marks them: its own mark around PyTorch's, which names the class; SparseAdam goes after AdamW."""
    given = steps(ADAM)
    for start in (0, 1000, 2000):
        given.span("phase", "optimizer", start + 700, start + 900)
        for name, begin, end in ADAM:
            given.op(name, start + 700 + 2 * begin, start + 700 + 2 * end)
        for optimizer, begin, end in (("AdamW", 501, 599), ("SparseAdam", 701, 899)):
            times = {"start_ns": 1000 * (start + begin), "dur_ns": 1000 * (end - begin)}
            domain = f"Optimizer.step#{optimizer}.step"
            given.add("ranges", kind="phase", name="optimizer", domain=domain, pid=1, tid=1, **times)
    given.add("captures", rank=0, framework="PyTorch")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.place) == ("found", "torch.optim.AdamW")
    assert found.problem.startswith("The optimizer takes 0.100 ms, of which its operators compute 0.060 ms")
    assert found.saving_ns == pytest.approx(40_000 + 60_000 * 5 / 12, abs=1)


def test_without_marks_of_the_optimizer_it_cannot_tell(tmp_path: Path) -> None:
    given = training(device=None)
    given.op("aten::mul_", 10, 20)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace does not mark the optimizer's step.")


@pytest.mark.slow
def test_the_change_names_the_optimizer_where_it_is_recorded(tmp_path: Path) -> None:
    given = steps(ADAM)
    given.add("captures", rank=0, framework="PyTorch")
    assert answer(RULE, given, tmp_path / "some").fix.startswith("the optimizer(..., fused=True); SGD, ")
    for row in given.rows["ranges"]:
        row["domain"] = "Optimizer.step#AdamW.step" if row["kind"] == "phase" else None
    found = answer(RULE, given, tmp_path / "named")
    assert (found.place, found.fix.split(";")[0]) == ("torch.optim.AdamW", "torch.optim.AdamW(..., fused=True)")


def on_device(
    names: tuple[str, ...] = ("aten::mul_", "aten::add_", "aten::add_"),
    parameters: int = 20,
    mark: str = "Optimizer.step#SGD.step",
    kernel: str = "vectorized_elementwise_kernel",
) -> Given:
    """Per step and parameter kernels of 2 us every 4 us, which the host launches in time."""
    given = training(length=10_000)
    for start in (0, 10_000, 20_000):
        given.span("phase", "optimizer", start + 500, start + 2_000)
        given.rows["ranges"][-1]["domain"] = mark
        for number in range(parameters * len(names)):
            at = start + 510 + 4 * number
            given.op(names[number % len(names)], at, at + 3)
            given.kernel(kernel, at + 1_000, at + 1_002, launched=at + 1)
    return given


@pytest.mark.slow
def test_on_a_device_kernels_for_each_parameter_are_found(tmp_path: Path) -> None:
    """Between 60 kernels of 2 us lie 59 gaps of as much; of the eight tensors a fused kernel needs five."""
    found = answer(RULE, on_device(), tmp_path)
    assert (found.status, found.place) == ("found", "torch.optim.SGD")
    assert found.saving_ns == pytest.approx(59 * 2_000 + 120_000 * 3 / 8, abs=1)
    assert found.problem == (
        "The optimizer launches 60.0 kernels, one for each parameter and operator: 0.120 ms, between which the device "
        "has nothing to do for 0.118 ms."
    )


@pytest.mark.parametrize(
    "given",
    first(
        4,
        [
            on_device(("aten::_foreach_mul_", "aten::_foreach_add_")),
            on_device(("aten::mul_", "aten::_foreach_add_")),
            on_device(("aten::_fused_sgd_",)),
            on_device(kernel="multi_tensor_apply_kernel"),
            on_device(kernel="triton_for_fused_0"),
            on_device(parameters=7),
            on_device(mark="Optimizer.step#LBFGS.step"),
        ],
    ),
    ids=["foreach", "foreach beside others", "fused", "apex", "compiled", "few tensors", "another class"],
)
def test_lists_of_tensors_few_tensors_and_other_classes_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"
