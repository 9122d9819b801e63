"""Denormal parameters and gradients: more or less than one in a thousand, flushed or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "denormals"
REASON = (
    "traces do not hold values; traceview collect counts denormals for PyTorch on a CPU, "
    "elsewhere use perf stat -e assists.fp."
)


def steps(denormal: int, is_flushed: bool = False, threads: int = 1, **more: float) -> Given:
    given = training(device=None)
    counts = {"elements": 100_000, "denormal": denormal, **more}
    given.about = {"threads": threads, "model": {"denormal": counts}, "flags": {"cpu.flush_denormal": is_flushed}}
    given.op("aten::mm", 10, 810)
    return given


@pytest.mark.slow
def test_found_without_a_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(101), tmp_path)
    assert (found.status, found.saving_ns, found.evidence) == ("found", None, ("101 of 100,000",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("threads", "more", "saving_ns"),
    [
        (1, {"squares": 20_000, "sqrt_ns": 5.0, "multiply_ns": 0.1}, 100_000),
        (2, {"squares": 20_000, "sqrt_ns": 5.0, "multiply_ns": 0.1}, 50_000),
        (1, {"squares": 20_000, "sqrt_ns": 5.0, "multiply_ns": 40.0}, None),  # Nobody knows how many products.
    ],
)
def test_the_bound_is_what_the_roots_of_the_squares_take_longer(
    tmp_path: Path, threads: int, more: dict[str, float], saving_ns: int | None
) -> None:
    found = answer(RULE, steps(20_000, threads=threads, **more), tmp_path)
    assert (found.status, found.saving_ns) == ("found", saving_ns)
    assert "20,000 of them squares" in found.problem and "takes 5.0 ns longer" in found.evidence[1]


@pytest.mark.slow
def test_denormal_numbers_that_cost_nothing_here_are_no_problem(tmp_path: Path) -> None:
    found = answer(RULE, steps(20_000, squares=0, sqrt_ns=5.0, multiply_ns=0.0), tmp_path)
    assert found.status == "not found"


@pytest.mark.slow
def test_fewer_or_flushed_ones_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(99), tmp_path / "few").status == "not found"
    assert answer(RULE, steps(50_000, is_flushed=True), tmp_path / "flushed").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)
