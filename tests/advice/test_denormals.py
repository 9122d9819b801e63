"""Denormal parameters and gradients: more or less than one in a thousand, flushed or not."""

from __future__ import annotations

from pathlib import Path

from advised import answer, training
from given import Given

RULE = "denormals"
REASON = (
    "traces do not hold values; traceview collect counts denormals for PyTorch on a CPU, "
    "elsewhere use perf stat -e assists.fp."
)


def steps(denormal: int, is_flushed: bool = False) -> Given:
    given = training(device=None)
    counts = {"elements": 100_000, "denormal": denormal}
    given.about = {"model": {"denormal": counts}, "flags": {"cpu.flush_denormal": is_flushed}}
    given.op("aten::mm", 10, 810)
    return given


def test_found_without_a_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(101), tmp_path)
    assert (found.status, found.saving_ns, found.evidence) == ("found", None, ("101 of 100,000",))


def test_fewer_or_flushed_ones_are_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(99), tmp_path / "few").status == "not found"
    assert answer(RULE, steps(50_000, is_flushed=True), tmp_path / "flushed").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)
