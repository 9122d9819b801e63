"""Rows of training steps that allocate memory."""

from __future__ import annotations

from typing import Any

from given import US, Given

BACKWARD = "autograd::engine::evaluate_function: MmBackward0"


def trained() -> Given:
    """Two training steps of 100 us: data, forward, backward, optimizer."""
    given = Given()
    for step in range(2):
        at = 100 * step
        given.span("step", str(step), at, at + 100)
        given.span("phase", "data", at, at + 10)
        given.span("module", "net.fc (Linear)", at + 20, at + 40)
        given.span("phase", "optimizer", at + 80, at + 99)
        given.op("aten::stack", at + 1, at + 9)
        given.op("aten::mm", at + 20, at + 30)
        given.op("aten::empty", at + 21, at + 22)
        given.op("aten::empty", at + 42, at + 43)
        given.op(BACKWARD, at + 50, at + 70)
        given.op("aten::mm", at + 55, at + 65)
        given.op("aten::add_", at + 82, at + 90)
    return given


def allocated(given: Given, at: float | None, freed: float | None, **facts: Any) -> None:
    """A piece of memory from one time to another, in microseconds."""
    start, end = (None if time is None else round(time * US) for time in (at, freed))
    row = {"pid": 1, "tid": 1, "freed_tid": 1, "address": 64, "size_bytes": 512, "how": "recorded", **facts}
    given.add("allocations", **row, allocated_ns=start, freed_ns=end)
