"""The columns of a section as people see them: headers, cells, and which of them fit a terminal in what width.

Invariant: a line is never cut at its end. Prose wraps, names of kernels give way in the middle and stay different, and
where even that is not enough, the least valuable columns are left out and named. Rows that are read as sentences
lack the parts whose values are not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size

from traceview.analysis.model import Look, Section
from traceview.analysis.values import unique
from traceview.render import names
from traceview.render.characters import clean, flat
from traceview.render.units import NULL, Scale, Style, is_number, is_time, quantity, style, time_unit

READABLE = 40
"""To keep this much of a text, headers are folded."""
NARROW = 24
"""To keep this much of it, columns are left out."""
TALLEST = 3
"""Lines of a folded header."""
NARROWEST = 12
"""A text column is not made narrower than this."""
LONGEST = 2000
"""Length from which the middle of a text is left out."""
BETWEEN = "; "
"""Stands between the names of a cell that holds several."""
GAP = 1
ELLIPSIS = "..."
PATHS = ("layer", "module")
"""Columns that hold paths of modules."""
_NAMES = re.compile(r"[^./]*[./]|[^./]+")
_ZERO = re.compile(r"0(\.0+)?( [\w/]+)?")
SAME = ("rank", "device", "kind")
"""Columns that say little where all rows have the same."""


@dataclass(frozen=True)
class Field:
    """One column, ready to be printed; its header is a list of words, of which none is ever broken."""

    name: str
    words: tuple[str, ...]
    cells: tuple[str, ...]
    is_numeric: bool
    wraps: bool = False
    """Whether a text too long for the column goes on in the next line; else its middle is left out."""
    is_path: bool = False
    """Whether it holds paths of modules, which are cut between names."""

    @property
    def header(self) -> str:
        """The header on one line."""
        return " ".join(self.words)

    def width(self, is_folded: bool) -> int:
        """Character cells of the widest value, with the header on one line or folded."""
        header = cell_len(self.header)
        if is_folded:
            least = max(map(cell_len, self.words))
            header = next((width for width in range(least, header) if len(self.folded(width)) <= TALLEST), header)
        texts = (text for cell in self.cells for text in (cell.split(BETWEEN) if not self.wraps else (cell,)))
        return max(header, max(map(cell_len, texts), default=0))

    def folded(self, width: int) -> list[str]:
        """The header in lines of at most `width`."""
        lines = [""]
        for word in self.words:
            if lines[-1] and cell_len(f"{lines[-1]} {word}") > width:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        return [shorten(line, width) for line in lines]

    def fitted(self, width: int) -> list[str]:
        """The cells in a column of this width; what differs still does."""
        if self.wraps:
            return list(self.cells)
        if any(BETWEEN in cell for cell in self.cells):
            return ["\n".join(shorten(name, width) for name in cell.split(BETWEEN)) for cell in self.cells]
        cut = shorten_path if self.is_path else shorten
        short = {cell: cut(cell, width) for cell in dict.fromkeys(self.cells)}
        taken = Counter(short.values())
        counts: Counter[str] = Counter()
        for cell, text in short.items():
            if taken[text] > 1:
                counts[text] += 1
                mark = f" #{counts[text]}"
                short[cell] = cut(cell, width - len(mark)) + mark
        return [short[cell] for cell in self.cells]


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` character cells, its middle left out: both ends tell kernels apart."""
    if cell_len(text) <= width:
        return text
    room = width - len(ELLIPSIS)
    head = set_cell_size(text, (room + 1) // 2).rstrip(" ")
    tail = set_cell_size(text[::-1], room // 2).rstrip(" ")[::-1]
    return f"{head}{ELLIPSIS}{tail}"


def shorten_path(text: str, width: int) -> str:
    """A path of modules in at most `width` cells, names in its middle left out whole where its last name fits."""
    if cell_len(text) <= width:
        return text
    *names, tail = _NAMES.findall(text)
    head, room, is_longer = "", width - len(ELLIPSIS), True
    while names and is_longer:
        is_longer = False
        if cell_len(head + names[0] + tail) <= room:
            head, is_longer = head + names.pop(0), True
        if names and cell_len(head + names[-1] + tail) <= room:
            tail, is_longer = names.pop() + tail, True
    return f"{head}{ELLIPSIS}{tail}" if cell_len(head + tail) <= room else shorten(text, width)


def styles(section: Section) -> list[Style]:
    """How each column of a report's section is printed; what a limit left out counts, so that it changes no unit."""
    labels = unique([column.name for column in section.columns])
    every = [[row[at] for row in (*section.rows, *section.unseen)] for at in range(len(labels))]
    unit = time_unit(value for label, column in zip(labels, every, strict=True) if is_time(label) for value in column)
    return [_style(section, label, column, unit) for label, column in zip(labels, every, strict=True)]


def _style(section: Section, label: str, column: Sequence[Any], unit: Scale) -> Style:
    how = style(label, column, unit)
    heading = section.look.headings.get(label)
    if how.decimals and label in section.look.fractions:
        return Style(section.look.fractions[label], how.scale, 1, how.grouped)
    return how if heading is None else Style(heading, how.scale, how.decimals, how.grouped, how.scales)


def values(section: Section, at: int) -> list[Any]:
    """The values of a column, names of kernels short."""
    found = [row[at] for row in section.rows]
    if section.columns[at].name not in section.look.kernels:
        return found
    labels = names.short(name for value in found if isinstance(value, str) for name in value.split(BETWEEN))
    return [
        BETWEEN.join(labels[name] for name in value.split(BETWEEN)) if isinstance(value, str) else value
        for value in found
    ]


def fields(section: Section) -> list[Field]:
    """The columns of a report's section, scaled for people."""
    return [_field(section, at, how) for at, how in enumerate(styles(section))]


def _field(section: Section, at: int, how: Style) -> Field:
    label, column = section.columns[at].name, values(section, at)
    present = [value for value in column if value is not None]
    is_numeric = all(map(is_number, present)) and (bool(present) or how.scale is not None)
    texts = tuple(shorten(how.text(value if value is None else flat(value)), LONGEST) for value in column)
    is_path = label in PATHS
    wraps = not is_numeric and not is_path and label not in section.look.kernels
    return Field(clean(label), tuple(clean(how.header).split()) or ("",), texts, is_numeric, wraps, is_path)


def exact_fields(section: Section) -> list[Field]:
    """The columns of a query's result: names and values as they are."""
    found = []
    for at, label in enumerate(unique([column.name for column in section.columns])):
        column = [row[at] for row in section.rows]
        how, present = style(label, column), [value for value in column if value is not None]
        is_numeric = all(map(is_number, present)) and (bool(present) or how.scale is not None)
        found.append(Field(clean(label), (clean(label),), tuple(_exact(value, how) for value in column), is_numeric))
    return found


def _exact(value: Any, how: Style) -> str:
    """A value as the query returned it; whole numbers with thousands separators unless they are names."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}" if how.grouped else str(value)
    return str(flat(value))


def fit(found: Sequence[Field], room: int, look: Look) -> tuple[list[Field], list[int], list[Field]]:
    """The columns that are shown, their widths, and those that are left out. Tables of a first screen are low."""
    shown = list(found)
    widths = widths_of(shown, room, False, NARROW if look.first else READABLE) or widths_of(shown, room, True, READABLE)
    for field in by_value(found, look.leave_out):
        # Texts give way before what says something does.
        widths = widths or (None if _says_nothing(field) else widths_of(shown, room, True, NARROW))
        if widths:
            break
        shown.remove(field)
        widths = widths_of(shown, room, True, READABLE if _says_nothing(field) else NARROW)
    # One column is narrower than any terminal.
    widths = widths or widths_of(shown, room, True, NARROWEST) or [room - GAP - 1]
    return shown, widths, [field for field in found if field not in shown]


def by_value(found: Sequence[Field], leave_out: Sequence[str]) -> list[Field]:
    """The columns in the order in which they are left out: what says nothing, what the section names, then those on the
    right."""
    least = sorted(filter(_says_nothing, found), key=lambda field: (set(field.cells) != {NULL}, not is_zero(field)))
    named = {field.name: field for field in found}
    least += [named[name] for name in leave_out if name in named and named[name] not in least]
    least += [field for field in found[:0:-1] if field not in least]
    # Something has to be shown.
    return least[: len(found) - 1]


def _says_nothing(field: Field) -> bool:
    """Whether nothing is recorded in it, or it is one of those that say little where all rows have the same."""
    return is_zero(field) or (field.name in SAME and len({*field.cells} - {NULL}) == 1)


def is_zero(field: Field) -> bool:
    return all(cell == NULL or _ZERO.fullmatch(cell) for cell in field.cells)


def widths_of(found: Sequence[Field], room: int, is_folded: bool, floor: int) -> list[int] | None:
    """A width for each column so that all fit, taken from the widest text columns; None when they cannot fit."""
    widths = [field.width(is_folded) for field in found]
    least = [width if field.is_numeric else min(floor, width) for field, width in zip(found, widths, strict=True)]
    # Every column, the last one too, has GAP of padding, and rich puts one cell between columns.
    excess = sum(widths) + (GAP + 1) * len(found) - room
    while excess > 0:
        spare = [index for index, width in enumerate(widths) if width > least[index]]
        if not spare:
            return None
        widest = max(spare, key=lambda index: (widths[index], -index))
        next_widest = max((widths[index] for index in spare if index != widest), default=0)
        target = max(least[widest], min(widths[widest] - 1, next_widest), widths[widest] - excess)
        excess -= widths[widest] - target
        widths[widest] = target
    return widths


SEPARATOR = " | "
"""Stands between two parts of a line; one that begins with a line break begins a line."""
_PLACE = re.compile(r"\{(\w+)\}")


def lines(section: Section, width: int | None = None) -> list[str]:
    """The rows of a section as lines of clean text; where they are wider than `width`, they break between two parts."""
    names = [column.name for column in section.columns]
    rows = [{name: value for name, value in zip(names, row, strict=True) if value is not None} for row in section.rows]
    if section.look.lines == (section.look.line,):
        return [f"{clean(section.title)}: {', '.join(filter(None, (_filled(section.look.line, row) for row in rows)))}"]
    found = []
    for row in rows:
        parts = [_filled(part, row) for part in section.look.lines]
        if parts[0] is not None:
            found += _joined([part for part in parts if part is not None], width)
    return found


def _joined(parts: list[str], width: int | None) -> list[str]:
    found = [parts[0].removeprefix("\n")]
    for part in parts[1:]:
        longer = f"{found[-1]}{SEPARATOR}{part}"
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
