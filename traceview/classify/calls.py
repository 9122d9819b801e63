"""What each row under a convolution operator is as part of that call.

The unit is the call. Kernels are judged by the rules of `context.toml`; primitives of a CPU library name
their own pass and algorithm, and what does not (a reorder) goes with the convolution it prepares, else with the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traceview.classify import Verdict, classify_call, classify_kernel, signature

_STAGED = ("fft", "fft_tiling", "winograd_nonfused")
"""Algorithms of which the product is a kernel of its own between transforms."""
_ANY_CONVOLUTION = "aten::cudnn_convolution"
"""Stands for the operator that is not known: only that it is a convolution counts."""


@dataclass(frozen=True)
class Item:
    """One kernel, fill or primitive under a call, in order, with the verdict on its name alone."""

    name: str
    is_primitive: bool
    verdict: Verdict
    op: str | None = None
    """The operator inside the call that computes one gradient alone, as aten::cudnn_convolution_backward_weight."""


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
    found: dict[int, Part] = {}
    for inner in dict.fromkeys(item.op for item in items):
        places = [place for place, item in enumerate(items) if item.op == inner]
        verdicts = classify_call(inner or op, tuple(items[place].name for place in places))
        found |= {place: _part(verdict, verdict.direction) for place, verdict in zip(places, verdicts, strict=True)}
    return [found[place] for place in range(len(items))]


def stage_mark(name: str) -> str:
    """What a kernel is in the order of a stream: `open`, `unroll` (im2col), `product`, `close`, `inner` or `none`."""
    verdict, tokens = classify_kernel(name), {token.partition(":")[0] for token in signature(name)}
    if "flip_filter" in tokens:  # The first kernel of cuDNN's FFT where it flips the filter.
        return "open"
    if verdict.category == "conv" and verdict.role == "transform":
        if "transform_out" in tokens:
            return "close"
        return "unroll" if "im2col" in tokens else "open"
    if verdict.category == "gemm" or (verdict.role == "main" and verdict.algorithm in _STAGED):
        return "product"
    is_inner = verdict.category in ("memset", "layout_transpose") or (
        verdict.category == "conv" and verdict.role == "helper"
    )
    return "inner" if is_inner else "none"


def classify_stage(names: tuple[str, ...]) -> list[Part]:
    """One part per kernel of a stage (see `stage_mark`) that no operator is known for; the pass is what names tell."""
    verdicts = classify_call(_ANY_CONVOLUTION, names)
    told = {way for name in names if (way := classify_kernel(name).direction)}
    direction = told.pop() if len(told) == 1 else None
    return [_part(verdict, direction) for verdict in verdicts]


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
