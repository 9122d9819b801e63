"""Operators run one by one from Python: on both sides of 30 calls a step and of a twentieth of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "eager_execution"


def steps(calls: int, works_us: float = 4) -> Given:
    """Calls of 10 us each from the start of a step of 1 ms, in which an operator computes."""
    given = training(device=None)
    for start in (0, 1000, 2000):
        for at in range(start, start + 10 * calls, 10):
            given.span("user", "EagerExecute", at, at + 9)
            given.op("Mul:Mul", at + 1, at + 1 + works_us)
    return given


def test_what_lies_between_the_operators_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(60), tmp_path)
    # From the first call to the end of the last one but for what is computed.
    assert (found.status, found.saving_ns) == ("found", 599_000 - 60 * 4_000)
    assert found.problem == (
        "60 operators per step are run one by one from Python; meanwhile the device does nothing for 0.359 ms."
    )
    assert found.evidence == ("Mul:Mul: 60.0 times, 0.240 ms",)


@pytest.mark.slow
def test_a_graph_is_a_handful_of_calls(tmp_path: Path) -> None:
    assert answer(RULE, steps(31), tmp_path / "above").status == "found"
    assert answer(RULE, steps(30), tmp_path / "below").status == "not found"


def test_what_a_graph_leaves_idle_is_not_between_operators(tmp_path: Path) -> None:
    """A call of 600 us that is a graph, in which nothing runs for 500 us, and 31 operators of 5 us before it."""
    given = steps(31)
    for start in (0, 1000, 2000):
        given.span("user", "EagerExecute", start + 310, start + 910)
        given.span("user", "EagerLocalExecute: __inference_step_253", start + 320, start + 905)
        given.op("__inference_step_253/dense/MatMul:MatMul", start + 410, start + 510)
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.problem.split(" per step ")[0]) == (310_000 - 31 * 4_000, "31 operators")


@pytest.mark.slow
def test_operators_that_leave_no_time_between_them_are_not_found(tmp_path: Path) -> None:
    assert answer(RULE, steps(100, works_us=9.6), tmp_path).status == "not found"


def test_without_calls_of_the_runtime_it_cannot_tell(tmp_path: Path) -> None:
    given = training(device=None)
    given.op("Mul:Mul", 10, 20)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "the trace records no calls of TensorFlow's eager runtime.",
    )
