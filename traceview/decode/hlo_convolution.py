"""Which pass of which convolution an XLA convolution is: XLA writes all three passes as one instruction.

The filter gradient is a convolution of the image, batch and channels exchanged, with the output's gradient as filter;
the input gradient one of the output's gradient with the filter turned round. A backward instruction has a
pass only where its shapes are those of a forward convolution of the same program in one way and in no other, or where
it has the name of one and a result of that one's filter's size, and not of its image's, or the other way round.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Sizes = tuple[int, ...]
FPROP, DGRAD, WGRAD = "fprop", "dgrad", "wgrad"
_BACKWARD = re.compile(r"transpose\(|gradient|Backprop")
_AGAIN = re.compile(r"rematted_computation")
"""The forward pass, repeated within the backward one to save memory."""
_AROUND = re.compile(r"(transpose|jvp|vmap|remat|checkpoint)\(|[()]")


@dataclass(frozen=True)
class Window:
    """One entry per spatial dimension; `image_dilation` is that of the left operand."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    image_dilation: Sizes


@dataclass(frozen=True)
class Operand:
    """A tensor as the instruction calls its dimensions; a filter's batch is its inputs, its channels its outputs."""

    batch: int
    channels: int
    spatial: Sizes

    @property
    def size(self) -> int:
        """Elements."""
        return self.batch * self.channels * math.prod(self.spatial)


@dataclass(frozen=True)
class Problem:
    """A convolution as the forward pass sees it: batch and channels first, the filter as outputs, inputs, sizes."""

    input: Sizes
    filter: Sizes
    output: Sizes
    stride: Sizes
    padding: Sizes = field(compare=False)
    """Not compared: XLA may write the same padding in several ways."""
    dilation: Sizes
    groups: int


@dataclass
class Convolution:
    """One instruction: its operands as XLA names their dimensions, and what is found out about it."""

    op_name: str
    image: Operand
    filter: Operand
    output: Operand
    window: Window
    groups: int = 1
    batch_groups: int = 1
    told: str | None = None
    """The pass, where the instruction says it: cuDNN's custom calls, which name dimensions as the forward pass does."""
    direction: str | None = None
    problem: Problem | None = None
    works_for: str | None = None
    """The forward operator it belongs to."""

    @property
    def is_forward(self) -> bool:
        """Whether its name says so: a nameless one may be anything."""
        return bool(self.op_name) and (not _BACKWARD.search(self.op_name) or bool(_AGAIN.search(self.op_name)))


def understand(found: Sequence[Convolution]) -> None:
    """Set direction, problem and forward operator of all convolutions of one program, where they can be told."""
    for one in found:
        if one.told or one.is_forward:
            one.direction = one.told or FPROP
            one.problem = _problem(one)
            one.works_for = one.op_name or None
    forward = [one for one in found if one.direction == FPROP]
    backward = [one for one in found if one.direction is None]
    for one in backward:
        # A name means more than a shape.
        same = [first for first in forward if one.op_name and _scope(first.op_name) == _scope(one.op_name)]
        _match(one, same or forward, by_size=bool(same))
    # What a nameless gradient is the gradient of: the one convolution of its shapes that has no such gradient yet.
    for one in backward:
        if one.direction and not one.op_name:
            taken = {_scope(other.op_name) for other in found if other.direction == one.direction and other.op_name}
            alike = {_scope(first.op_name): first.op_name for first in forward if first.problem == one.problem}
            left = [name for scope, name in alike.items() if scope not in taken]
            one.works_for = left[0] if len(left) == 1 else None


def _match(one: Convolution, forward: Sequence[Convolution], by_size: bool) -> None:
    known = {first.problem for first in forward if first.problem}
    ways = {(way, problem) for way, problem in _readings(one) if problem in known}
    if not ways and len(known) == 1 and by_size:
        # XLA writes the filter gradient of grouped channels with one more spatial dimension, or in other ways.
        (problem,) = known
        size = one.output.size
        sizes = {DGRAD: math.prod(problem.input), WGRAD: math.prod(problem.filter)}
        ways = {(way, problem) for way, count in sizes.items() if count == size}
    if len({way for way, _ in ways}) == 1:
        one.direction, one.problem = ways.pop()
        one.works_for = one.op_name or None


def _scope(op_name: str) -> str:
    return _AROUND.sub("", op_name)


def _problem(one: Convolution) -> Problem | None:
    """The problem of an instruction that is a pass by name; None for a transposed one, which has gaps in its image."""
    if max(one.window.image_dilation, default=1) > 1:
        return None
    sizes = one.filter.channels, one.filter.batch
    return Problem(
        (one.image.batch, one.image.channels, *one.image.spatial),
        (*sizes, *one.filter.spatial),
        (one.output.batch, one.output.channels, *one.output.spatial),
        one.window.stride, one.window.padding, one.window.dilation, one.groups,
    )  # fmt: skip


def _readings(one: Convolution) -> Iterator[tuple[str, Problem]]:
    """The problems that this instruction would be a gradient of."""
    image, kernel, output, window = one.image, one.filter, one.output, one.window
    reach = [step * (size - 1) for step, size in zip(window.dilation, kernel.spatial, strict=True)]
    yield DGRAD, Problem(
        (output.batch, output.channels, *output.spatial),
        (kernel.batch * one.groups, kernel.channels // one.groups, *kernel.spatial),
        (image.batch, image.channels, *image.spatial),
        window.image_dilation,
        tuple(far - pad for far, pad in zip(reach, window.padding, strict=True)),
        window.dilation, one.groups,
    )  # fmt: skip
    yield WGRAD, Problem(
        (image.channels, image.batch, *image.spatial),
        (output.channels, output.batch, *output.spatial),
        (kernel.batch, kernel.channels, *kernel.spatial),
        window.dilation, window.padding, window.stride, one.batch_groups,
    )  # fmt: skip
    # The same with its operands exchanged: the smaller one is the window.
    yield WGRAD, Problem(
        (kernel.batch, kernel.channels, *kernel.spatial),
        (output.batch, output.channels, *output.spatial),
        (image.channels, image.batch, *image.spatial),
        window.image_dilation, window.padding, window.stride, one.batch_groups,
    )  # fmt: skip
