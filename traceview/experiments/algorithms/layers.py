"""Layers of networks: what is measured, and where it may come from.

Invariant: shapes are logical, channels first; a layer knows no batch. FLOP are those of the direct method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from traceview.errors import InputError, UsageError

Say = Callable[[str], None]
DIRECTIONS = ("fprop", "dgrad", "wgrad")
MOST = 1 << 20
"""No size of a layer is larger."""
MOST_BATCH = 65536
_TEXT = re.compile(
    r"(?:(?P<batch>\d{1,18})x)?(?P<in_channels>\d{1,18})x(?P<height>\d{1,18})x(?P<width>\d{1,18})\s+k(?P<out_channels>\d{1,18})"
    r"\s+(?P<filter_height>\d{1,18})x(?P<filter_width>\d{1,18})(?P<rest>(?:\s+[spdg]\d{1,18}(?:x\d{1,18})?)*)\s*"
)
HOW = (
    'write a layer as "64x3x227x227 k96 11x11 s4 p0": batch, channels, height, width, filters, filter size, '
    "stride, padding"
)


@dataclass(frozen=True)
class Layer:
    """One convolution."""

    name: str
    in_channels: int
    height: int
    width: int
    out_channels: int
    filter_height: int
    filter_width: int
    stride_h: int = 1
    stride_w: int = 1
    pad_h: int = 0
    pad_w: int = 0
    dilation_h: int = 1
    dilation_w: int = 1
    groups: int = 1
    model: str | None = None
    dtype: str = "float32"

    def __post_init__(self) -> None:
        """Raises `UsageError` for what is not a convolution."""
        sizes = [self.in_channels, self.height, self.width, self.out_channels, self.filter_height, self.filter_width]
        steps = [self.stride_h, self.stride_w, self.dilation_h, self.dilation_w, self.groups]
        if not all(0 < size <= MOST for size in [*sizes, *steps]) or not 0 <= min(self.pad_h, self.pad_w) <= MOST:
            raise UsageError(f"layer {self.name}: every size must be between 1 and {MOST:,}.")
        if self.in_channels % self.groups or self.out_channels % self.groups:
            raise UsageError(f"layer {self.name}: {self.groups} groups do not divide its channels and filters.")
        if min(self.out_height, self.out_width) < 1:
            raise UsageError(f"layer {self.name}: the filter is larger than the padded image.")

    @property
    def out_height(self) -> int:
        """Height of the result."""
        reach = self.dilation_h * (self.filter_height - 1) + 1
        return (self.height + 2 * self.pad_h - reach) // self.stride_h + 1

    @property
    def out_width(self) -> int:
        """Width of the result."""
        reach = self.dilation_w * (self.filter_width - 1) + 1
        return (self.width + 2 * self.pad_w - reach) // self.stride_w + 1

    @property
    def weights(self) -> int:
        """Elements of the filter."""
        return self.out_channels * self.in_channels // self.groups * self.filter_height * self.filter_width

    @property
    def is_product(self) -> bool:
        """Whether its input is the matrix of its product as it is: filters of 1x1, no stride, no padding."""
        sizes = (self.filter_height, self.filter_width, self.stride_h, self.stride_w)
        return sizes == (1, 1, 1, 1) and not (self.pad_h or self.pad_w)

    def flop(self, batch: int) -> int:
        """Count the direct method's operations, for any pass: a multiplication and an addition count two."""
        return 2 * batch * self.weights * self.out_height * self.out_width

    def facts(self) -> dict[str, Any]:
        """The columns of a row that are the layer's."""
        names = asdict(self)
        return {"layer": names.pop("name"), **names}


def parse(text: str) -> tuple[Layer, int | None]:
    """A layer out of a text such as "64x3x227x227 k96 11x11 s4", and its batch if it has one."""
    match = _TEXT.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a layer; {HOW}.")
    found: dict[str, Any] = {name: int(value) for name, value in match.groupdict().items() if name != "rest" and value}
    batch = found.pop("batch", None)
    if batch is not None and not 0 < batch <= MOST_BATCH:
        raise UsageError(f"layer {text!r}: the batch must be between 1 and {MOST_BATCH:,}.")
    for word in match["rest"].split():
        high, _, wide = word[1:].partition("x")
        found |= _pair(word[0], int(high), int(wide or high))
    return Layer(" ".join(text.split()), **found), batch


def _pair(letter: str, high: int, wide: int) -> dict[str, int]:
    if letter == "g":
        return {"groups": high}
    name = {"s": "stride", "p": "pad", "d": "dilation"}[letter]
    return {f"{name}_h": high, f"{name}_w": wide}


def found_in(rows: Iterable[dict[str, Any]], model: str, say: Say) -> list[Layer]:
    """Layers out of what was read of a model; raises `InputError` where there are none."""
    made = [layer_of(row, model) for row in rows]
    found = [layer for layer in made if layer]
    say_left(len(made) - len(found), "convolution{}", say)
    if not found:
        raise InputError(f"{model} has no convolution that can be measured.")
    return found


def layer_of(row: dict[str, Any], model: str) -> Layer | None:
    """A layer out of what a framework says of one; None for what cannot be measured."""
    image, filters = row.get("input"), row.get("filter")
    pairs = [_both(row.get("stride")), _both(row.get("padding")), _both(row.get("dilation") or [1, 1])]
    if row.get("transposed") or not image or not filters or len(image) != 4 or len(filters) != 4 or None in pairs:
        return None
    (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w) = [pair for pair in pairs if pair]
    channels, height, width = image[1:]
    name = row.get("layer") or f"{channels}x{height}x{width} k{filters[0]} {filters[2]}x{filters[3]}"
    sizes = (channels, height, width, filters[0], filters[2], filters[3])
    steps = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w)
    try:
        return Layer(name, *sizes, *steps, row.get("groups") or 1, model, row.get("dtype") or "float32")
    except UsageError:
        return None


def _both(values: Sequence[Any] | None) -> tuple[int, int] | None:
    """Return the values for both directions; None where there are none or more."""
    if not values or len(values) > 2:
        return None
    return int(values[0]), int(values[-1])


def say_left(n: int, what: str, say: Say) -> None:
    """Say how many of these cannot be measured, where there are some."""
    if n:
        what = what.format("" if n == 1 else "s")
        say(f"{n} {what} left out: transposed, not of two dimensions, or of unknown shape.")
