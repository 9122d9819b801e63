"""Rows that are read as sentences: each a line of parts, in which `{column}` stands for a value with its unit.

Invariant: a part of which a value is not known is left out, a row without its first part altogether.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

from traceview.analysis.model import Section
from traceview.render.characters import clean, flat
from traceview.render.units import quantity

BETWEEN = " | "
"""Between two parts; one that begins with a line break begins a line."""
_PLACE = re.compile(r"\{(\w+)\}")


def lines(section: Section, width: int | None = None) -> list[str]:
    """The rows of a section as lines of clean text; where they are wider than `width`, they break between two parts."""
    names = [column.name for column in section.columns]
    found = []
    for row in section.rows:
        values = {name: value for name, value in zip(names, row, strict=True) if value is not None}
        parts = [_filled(part, values) for part in section.look.lines]
        if parts[0] is not None:
            found += _joined([part for part in parts if part is not None], width)
    return found


def _joined(parts: list[str], width: int | None) -> list[str]:
    found = [parts[0]]
    for part in parts[1:]:
        longer = f"{found[-1]}{BETWEEN}{part}"
        if part.startswith("\n") or (width and cell_len(longer) > width):
            found.append(part.removeprefix("\n"))
        else:
            found[-1] = longer
    return found


def _filled(part: str, values: dict[str, object]) -> str | None:
    """A part with its values; None where one is not known."""
    if any(name not in values for name in _PLACE.findall(part)):
        return None
    return _PLACE.sub(lambda place: clean(quantity(place[1], flat(values[place[1]]))), part)
