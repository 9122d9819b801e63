"""What each row under a convolution operator is as part of that call.

The one law: the unit is the call. Kernels are judged by the rules of `context.toml`; primitives of a CPU library name
their own pass and algorithm, and what does not (a reorder) goes with the convolution it prepares, else with the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traceview.classify import Verdict, classify_call


@dataclass(frozen=True)
class Item:
    """One kernel, fill or primitive under a call, in order, with the verdict on its name alone."""

    name: str
    is_primitive: bool
    verdict: Verdict


@dataclass(frozen=True)
class Part:
    """What it is as part of the call."""

    category: str
    algorithm: str | None
    direction: str | None
    role: str | None


def classify_parts(op: str, items: Sequence[Item]) -> list[Part]:
    """One part per item. `op` is the call's outermost operator, for example aten::convolution_backward."""
    if any(item.is_primitive for item in items):
        return _of_primitives([item.verdict for item in items])
    verdicts = classify_call(op, tuple(item.name for item in items))
    return [_part(verdict, verdict.direction) for verdict in verdicts]


def _of_primitives(verdicts: list[Verdict]) -> list[Part]:
    known = [verdict.direction for verdict in verdicts]
    after, found = None, list(known)
    for index in range(len(known) - 1, -1, -1):
        after = known[index] or after
        found[index] = after
    before = None
    for index, direction in enumerate(known):
        before = direction or before
        found[index] = found[index] or before
    return [_part(verdict, direction) for verdict, direction in zip(verdicts, found, strict=True)]


def _part(verdict: Verdict, direction: str | None) -> Part:
    return Part(verdict.category, verdict.algorithm, direction, verdict.role)
