"""How a column's values are printed for people: the suffix of its name says the unit, its values pick the scale.

Invariant: a column has one unit and one number of decimals, so numbers align and can be compared down the column;
a value that is not zero is never printed as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

NULL = "-"
"""Printed for "not recorded"."""

IDENTIFIERS = frozenset(
    [
        "id",
        "rank",
        "device",
        "stream",
        "context",
        "pid",
        "tid",
        "step",
        "correlation",
        "graph",
        "graph_node",
        "flow",
        "sequence",
        "external_id",
        "src_device",
        "dst_device",
        "forward_thread",
        "process",
        "thread",
    ]
)
"""Numbers that name something: printed without thousands separators."""


@dataclass(frozen=True)
class Scale:
    """One unit of a family: its symbol, and how many of the recorded unit it holds."""

    symbol: str
    factor: int


def _scales(symbols: str) -> tuple[Scale, ...]:
    return tuple(Scale(symbol, 1000**power) for power, symbol in enumerate(symbols.split()))


TIME = (Scale("ns", 1), Scale("us", 10**3), Scale("ms", 10**6), Scale("s", 10**9))

FAMILIES: dict[str, tuple[tuple[Scale, ...], int]] = {
    "_flop_per_s": (_scales("FLOP/s kFLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s"), 2),
    "_bytes_per_s": (_scales("B/s kB/s MB/s GB/s TB/s"), 2),
    "_per_s": (_scales("1/s"), 1),
    "_ns": (TIME, 3),
    "_bytes": (_scales("B kB MB GB TB"), 2),
    "_hz": (_scales("Hz kHz MHz GHz"), 2),
    "_flop": (_scales("FLOP kFLOP MFLOP GFLOP TFLOP PFLOP"), 2),
    "_pct": ((Scale("%", 1),), 1),
}
"""Suffix -> its units, smallest first, and the decimals of a scaled value; longer suffixes stand first."""


@dataclass(frozen=True)
class Style:
    """How the values of one column are printed."""

    stem: str
    """The column's name without its suffix."""
    scale: Scale | None
    decimals: int
    grouped: bool = True

    @property
    def header(self) -> str:
        """The column's name for people, with the unit of its values."""
        words = self.stem.replace("_", " ")
        return f"{words} [{self.scale.symbol}]" if self.scale else words

    def text(self, value: Any) -> str:
        """One value. NULL is a dash, truth is yes or no, text stays as it is."""
        if value is None:
            return NULL
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not is_number(value):
            return str(value)
        scaled = value / self.scale.factor if self.scale and self.scale.factor != 1 else value
        if isinstance(scaled, int) and not self.decimals:
            return f"{scaled:,}" if self.grouped else str(scaled)
        return _rounded(scaled, self.decimals)


def is_number(value: Any) -> bool:
    """Whether a value is printed as a number; truth is not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def style(name: str, values: Iterable[Any]) -> Style:
    """How to print the values of the column `name`."""
    numbers = [value for value in values if is_number(value) and _is_finite(value)]
    for suffix, (scales, decimals) in FAMILIES.items():
        if name.endswith(suffix) and len(name) > len(suffix):
            scale = _fitting(scales, numbers)
            whole = scale.factor == 1 and len(scales) > 1
            return Style(name.removesuffix(suffix), scale, _decimals(numbers, 1) if whole else decimals)
    grouped = name not in IDENTIFIERS and not name.endswith("_id")
    return Style(name, None, _decimals(numbers, 2), grouped)


def _is_finite(value: Any) -> bool:
    return bool(value == value and abs(value) != float("inf"))


def _fitting(scales: Sequence[Scale], numbers: Sequence[Any]) -> Scale:
    """The unit in which the largest value is at least 1; smaller where a quarter of the values would vanish in it."""
    sizes = sorted(abs(number) for number in numbers if number != 0)
    if not sizes:
        return scales[min(2, len(scales) - 1)] if scales is TIME else scales[0]
    best = max((index for index, scale in enumerate(scales) if sizes[-1] >= scale.factor), default=0)
    small = sizes[len(sizes) // 4]
    while best and small * 1000 < scales[best].factor:
        best -= 1
    return scales[best]


def _decimals(numbers: Sequence[Any], most: int) -> int:
    """No decimals where all numbers are whole, else `most`."""
    return 0 if all(number == int(number) for number in numbers) else most


def _rounded(value: Any, decimals: int) -> str:
    """A fixed number of decimals; what would look like zero is printed as below the last digit."""
    if not _is_finite(value):
        return str(value)
    text = f"{value:,.{decimals}f}"
    if value != 0 and float(text.replace(",", "")) == 0:
        least = f"{10**-decimals:.{decimals}f}"
        return f"<{least}" if value > 0 else f">-{least}"
    return text
