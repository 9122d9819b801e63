"""A pass of a convolution in double precision, with which every result is compared.

It runs in the Python of the user, where traceview may be absent.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from .backends.runners import RESULT, shapes
from .passes import own, steps_of


class Exact:
    """Some of the result of a pass in double precision.

    Double precision is slow: of results and of gradients of images it computes the first and the last image, of
    gradients of filters the first, a middle and the last one, or those of the first and the last group.
    """

    def __init__(self, spec: Any, direction: str, operands: tuple[torch.Tensor, ...]) -> None:
        """`spec`: sizes of the layer, by name. `operands`: of fprop input and filter, of dgrad gradient and filter, of
        wgrad input and gradient."""
        first, second = (operand.detach() for operand in operands)
        self.picked, channels, groups = _picked(spec, direction)
        if direction == "wgrad":
            first, second = first if channels is None else first[:, channels], second[:, self.picked]
        else:
            first = first[self.picked]
        one, other = first.double(), second.double()
        like = one.new_empty((len(self.picked), *shapes(spec)[RESULT[direction]][1:]))
        with torch.no_grad():
            self.result = own(direction, one, other, (*steps_of(spec)[:-1], groups), like=like)
        self.largest = float(self.result.abs().max()) or 1.0

    def error(self, result: torch.Tensor) -> float:
        """Return the largest error of a result over the largest value; infinite or NaN if it has no meaning."""
        found = result[self.picked].double()
        if found.shape != self.result.shape:
            return math.inf
        return float((found - self.result).abs().max()) / self.largest


def _picked(spec: Any, direction: str) -> tuple[list[int], list[int] | None, int]:
    """Return places along the first axis of a result, channels that they need (None: all), and groups of these."""
    if direction != "wgrad":
        return sorted({0, spec.batch - 1}), None, spec.groups
    if spec.groups == 1:
        return sorted({0, spec.out_channels // 2, spec.out_channels - 1}), None, 1
    groups = (0, spec.groups - 1)
    filters, channels = (
        [place for group in groups for place in range(group * size, (group + 1) * size)]
        for size in (spec.out_channels // spec.groups, spec.in_channels // spec.groups)
    )
    return filters, channels, len(groups)
