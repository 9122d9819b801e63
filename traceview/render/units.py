"""How a column's values are printed for people: the suffix of its name says the unit, its values pick the scale.

Invariant: all times of a table have one unit, and those of a column one number of decimals; sizes and rates, which
span more, have the unit that fits each. A value that is not zero is never printed as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

NULL = "-"
"""Printed for "not recorded"."""

IDENTIFIERS = frozenset((
    *("id", "rank", "device", "stream", "context", "pid", "tid", "step", "correlation", "graph", "graph_node", "flow"),
    *("sequence", "external_id", "src_device", "dst_device", "forward_thread", "process", "thread"),
))  # fmt: skip
"""Numbers that name something: printed without thousands separators."""


@dataclass(frozen=True)
class Scale:
    """One unit of a family: its symbol, and how many of the recorded unit it holds."""

    symbol: str
    factor: int


def _scales(symbols: str) -> tuple[Scale, ...]:
    return tuple(Scale(symbol, 1000**power) for power, symbol in enumerate(symbols.split()))


TINY = 0.005
TIME = (Scale("ns", 1), Scale("us", 10**3), Scale("ms", 10**6), Scale("s", 10**9))

FAMILIES: dict[str, tuple[Scale, ...]] = {
    "_flop_per_s": _scales("FLOP/s kFLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s"),
    "_flop_per_byte": _scales("FLOP/B"),
    "_bytes_per_s": _scales("B/s kB/s MB/s GB/s TB/s"),
    "_per_s": _scales("1/s"),
    "_ns": TIME,
    "_bytes": _scales("B kB MB GB TB"),
    "_hz": _scales("Hz kHz MHz GHz"),
    "_flop": _scales("FLOP kFLOP MFLOP GFLOP TFLOP PFLOP"),
    "_pct": (Scale("%", 1),),
}
"""Suffix -> its units, smallest first; longer suffixes stand first."""


@dataclass(frozen=True)
class Style:
    """How the values of one column are printed."""

    stem: str
    """The column's name without its suffix."""
    scale: Scale | None
    """The unit of the column; None where there is none or each value has its own."""
    decimals: int
    grouped: bool = True
    scales: tuple[Scale, ...] = ()
    """Units of which each value gets the one that fits."""
    is_tiny: bool = False
    """Numbers without a unit that decimals do not show, such as relative errors."""

    @property
    def header(self) -> str:
        """The column's name for people, with the unit of its values."""
        return self.titled(self.stem.replace("_", " "))

    def titled(self, words: str) -> str:
        """The header with these words as the name."""
        return f"{words} [{self.scale.symbol}]" if self.scale else words

    def text(self, value: Any) -> str:
        """One value. NULL is a dash, truth is yes or no, text stays as it is."""
        if value is None:
            return NULL
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not is_number(value):
            return str(value)
        if self.scales:
            return _measured(value, self.scales)
        scaled = value / self.scale.factor if self.scale and self.scale.factor != 1 else value
        if isinstance(scaled, int) and not self.decimals:
            return f"{scaled:,}" if self.grouped else str(scaled)
        if self.is_tiny and scaled:
            return f"{scaled:.1e}"
        return _rounded(scaled, self.decimals)


def quantity(name: str, value: Any) -> str:
    """One value with its unit, for a sentence: three digits, as far as its unit goes on."""
    family = _family(name)
    if value is None or family is None or not is_number(value):
        return Style(name, None, 0 if is_number(value) and value == int(value) else 2).text(value)
    if family == "_pct":
        return f"{_rounded(value, 1)} %"
    return _measured(value, FAMILIES[family])


def is_number(value: Any) -> bool:
    """Whether a value is printed as a number; truth is not."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def time_unit(values: Iterable[Any]) -> Scale:
    """The unit of all times of a table: that in which the largest is at least 1.

    Smaller where it would leave a quarter of the values fewer than two digits.
    """
    sizes = sorted(abs(value) for value in values if is_number(value) and _is_finite(value) and value != 0)
    if not sizes:
        return TIME[2]
    best = max((index for index, scale in enumerate(TIME) if sizes[-1] >= scale.factor), default=0)
    while best and sizes[len(sizes) // 4] * 100 < TIME[best].factor:
        best -= 1
    return TIME[best]


def is_time(name: str) -> bool:
    """Whether a column holds times."""
    return _family(name) == "_ns"


def style(name: str, values: Iterable[Any], time: Scale | None = None) -> Style:
    """How to print the values of the column `name`; `time` is the unit of the table's times."""
    numbers = [value for value in values if is_number(value) and _is_finite(value)]
    family = _family(name)
    if family is None:
        grouped = name not in IDENTIFIERS and not name.endswith("_id")
        sizes = sorted(abs(number) for number in numbers if number)
        is_tiny = bool(sizes) and sizes[len(sizes) // 2] < TINY
        return Style(name, None, 0 if _are_whole(numbers) else 2, grouped, is_tiny=is_tiny)
    stem, scales = name.removesuffix(family), FAMILIES[family]
    if family == "_ns":
        scale = time or time_unit(numbers)
        return Style(stem, scale, _decimals(numbers, scale))
    if len(scales) == 1:
        return Style(stem, scales[0], 1)
    return Style(stem, None, 0, scales=scales)


def _family(name: str) -> str | None:
    return next((suffix for suffix in FAMILIES if name.endswith(suffix) and len(name) > len(suffix)), None)


def _decimals(numbers: Sequence[Any], scale: Scale) -> int:
    """As many as leave a quarter of the times four digits, and no more than three."""
    if scale.factor == 1:
        return 0 if _are_whole(numbers) else 1
    sizes = sorted(abs(number) / scale.factor for number in numbers if number != 0)
    small = sizes[len(sizes) // 4] if sizes else 1
    return next((decimals for decimals in (3, 2, 1) if small < 10 ** (4 - decimals)), 0)


def _are_whole(numbers: Sequence[Any]) -> bool:
    return all(number == int(number) for number in numbers)


def _measured(value: Any, scales: Sequence[Scale]) -> str:
    """Three digits in the largest unit in which the value is at least 1."""
    if not _is_finite(value):
        return str(value)
    size = abs(value)
    # What three digits round up to 1000 of a unit is 1 of the next.
    best = max((index for index, scale in enumerate(scales) if size >= 0.9995 * scale.factor), default=0)
    scaled = value / scales[best].factor if best else value
    if scaled == int(scaled) and not best:
        return f"{int(scaled):,} {scales[best].symbol}"
    decimals = next((n for n, below in ((2, 9.995), (1, 99.95)) if abs(scaled) < below), 0)
    return f"{_rounded(scaled, decimals)} {scales[best].symbol}"


def _is_finite(value: Any) -> bool:
    return bool(value == value and abs(value) != float("inf"))


def _rounded(value: Any, decimals: int) -> str:
    """A fixed number of decimals; what would look like zero is printed as below the last digit."""
    if not _is_finite(value):
        return str(value)
    text = f"{value:,.{decimals}f}"
    if value != 0 and float(text.replace(",", "")) == 0:
        least = f"{10**-decimals:.{decimals}f}"
        return f"<{least}" if value > 0 else f">-{least}"
    return text
