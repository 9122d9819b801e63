"""Parts of the call of a convolution operator: the role of each row under it.

The unit is the call. Kernels are judged by the rules of `context.toml`; primitives of a CPU library name
their own pass and algorithm, and what does not (a reorder) goes with the convolution it prepares, else with the last.
Where a library tells of products alone, the operator tells the pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from traceview.classify import classify_call, classify_kernel, classify_op, signature
from traceview.classify.rules import Verdict

_STAGED = ("fft", "fft_tiling", "winograd_nonfused")
"""Algorithms of which the product is a kernel of its own between transforms."""
_ANY_CONVOLUTION = "aten::cudnn_convolution"
"""Stands for the operator that is not known: only that it is a convolution counts."""
_OF_TENSORFLOW = re.compile(r":_?(?:Fused)?Conv[23]D(Backprop(?:Input|Filter)(?:V2)?)?$")
"""TensorFlow's own convolutions; those of oneDNN have Mkl in their type."""


@dataclass(frozen=True)
class Item:
    """One kernel, fill or primitive under a call, in order, with the verdict on its name alone."""

    name: str
    is_primitive: bool
    verdict: Verdict
    op: str | None = None
    """The operator inside the call that computes one gradient alone, as aten::cudnn_convolution_backward_weight, or
    that only casts, pads or adds up (`queries/attribution/ran.sql`)."""


@dataclass(frozen=True)
class Part:
    """Role of a row as part of its call."""

    category: str
    algorithm: str | None
    direction: str | None
    role: str | None


def classify_parts(op: str, items: Sequence[Item]) -> list[Part]:
    """One part per item. `op` is the call's outermost operator, for example aten::convolution_backward."""
    if any(item.is_primitive for item in items):
        return _of_primitives(op, [item.verdict for item in items])
    found: dict[int, Part] = {}
    for inner in dict.fromkeys(item.op for item in items):
        places = [place for place, item in enumerate(items) if item.op == inner]
        verdicts = classify_call(inner or op, tuple(items[place].name for place in places))
        found |= {place: _part(verdict, verdict.direction) for place, verdict in zip(places, verdicts, strict=True)}
    return [found[place] for place in range(len(items))]


def stage_mark(name: str) -> str:
    """Name a kernel in the order of a stream: `open`, `unroll` (im2col), `product`, `close`, `inner` or `none`."""
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


def _of_primitives(op: str, told: list[Verdict]) -> list[Part]:
    verdicts = told if any(verdict.category == "conv" for verdict in told) else _as_products(op, told)
    # TensorFlow's transposed convolution runs the input gradient of another.
    known = [verdict.direction and (classify_op(op).direction or verdict.direction) for verdict in verdicts]
    after, found = None, list(known)
    for index in range(len(known) - 1, -1, -1):
        after = known[index] or after
        found[index] = after
    before = None
    for index, direction in enumerate(known):
        before = direction or before
        found[index] = found[index] or before
    return [_part(verdict, direction) for verdict, direction in zip(verdicts, found, strict=True)]


def _as_products(op: str, verdicts: list[Verdict]) -> list[Verdict]:
    """Read products, where a library knows of nothing else, as the arithmetic of the convolution that calls them.

    TensorFlow without oneDNN's operators (core/kernels): `Conv2D` is a tensor contraction whose blocks are gathered as
    they are multiplied (eigen_spatial_convolutions.h), or for 1x1 filters the product alone; its gradients unroll the
    image in memory around a product (im2col and col2im of conv_grad_filter_ops.h and conv_grad_input_ops.h).
    """
    direction = classify_op(op).direction
    algorithm = None
    if own_type := _OF_TENSORFLOW.search(op):
        algorithm = "explicit_gemm" if own_type[1] else "implicit_gemm"
    return [
        replace(own, category="conv", algorithm=algorithm, direction=direction)
        if own.category == "gemm" and own.role == "main"
        else own
        for own in verdicts
    ]


def _part(verdict: Verdict, direction: str | None) -> Part:
    return Part(verdict.category, verdict.algorithm, direction, verdict.role)
