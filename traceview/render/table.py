"""A report as tables for a terminal: numbers to the right in one unit per column, long names shortened in the middle.

Invariant: a line is never cut at its end. Text columns give way, keeping both ends of a name; where even that is not
enough, rows are printed one value per line.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from traceview.analysis.model import Column, Report, Section
from traceview.analysis.values import unique
from traceview.render import first_rows, footers_once
from traceview.render.characters import clean, flat
from traceview.render.units import NULL, Style, is_number, style

EXTENSION = ".txt"
FOR_PEOPLE = True

PIPE_WIDTH = 200
"""Columns of text that goes to a file or a pipe."""
READABLE = 40
"""To keep this much of a name, headers are folded."""
NARROWEST = 16
"""A text column is not shortened further than this."""
GAP = 1
ELLIPSIS = "..."
BAR = 10
"""Character cells of the longest bar."""


@dataclass(frozen=True)
class Field:
    """One column, ready to be printed; its header is a list of words, of which none is ever broken."""

    words: tuple[str, ...]
    cells: tuple[str, ...]
    is_numeric: bool

    @property
    def header(self) -> str:
        """The header on one line."""
        return " ".join(self.words)

    def width(self, is_folded: bool) -> int:
        """Character cells of the widest value, with the header on one line or folded."""
        header = max(map(cell_len, self.words)) if is_folded else cell_len(self.header)
        return max(header, max(map(cell_len, self.cells), default=0))

    def folded(self, width: int) -> str:
        """The header in lines of at most `width`."""
        lines = [""]
        for word in self.words:
            if lines[-1] and cell_len(f"{lines[-1]} {word}") > width:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        return "\n".join(shorten(line, width) for line in lines)


def render(report: Report, width: int | None = None, color: bool | None = None) -> str:
    """The whole report. Width and colour are those of stdout unless given."""
    console = _console(width, color)
    if report.title:
        console.print(Text(clean(report.title), style="bold"))
    if report.doc:
        console.print(Text(clean(report.doc), style="dim"))
    for section in report.sections:
        _section(console, section, exact=False)
    if report.footer:
        console.print()
    for line in report.footer:
        console.print(Text(clean(line), style="dim"))
    return _text(console)


def render_all(reports: Sequence[Report], is_for_file: bool = False) -> str:
    """One report after the other; what they all rest on is said once, at the end."""
    return "\n".join(render(report, *_form(is_for_file)) for report in footers_once(reports))


def stream(
    columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]], is_for_file: bool = False
) -> Iterator[str]:
    """The first rows of a query's result."""
    yield render_rows(first_rows(columns, batches), *_form(is_for_file))


def _form(is_for_file: bool) -> tuple[int | None, bool | None]:
    return (PIPE_WIDTH, False) if is_for_file else (None, None)


def render_rows(report: Report, width: int | None = None, color: bool | None = None) -> str:
    """The result of a query: names and values as they are, digit for digit, and how many rows there are."""
    console = _console(width, color)
    for section in report.sections:
        _section(console, section, exact=True)
        if not section.note:
            n_rows = len(section.rows)
            console.print(Text(f"{n_rows:,} row{'' if n_rows == 1 else 's'}", style="dim"))
    return _text(console)


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` character cells, its middle left out: both ends tell kernels apart."""
    if cell_len(text) <= width:
        return text
    room = width - len(ELLIPSIS)
    head = set_cell_size(text, (room + 1) // 2).rstrip(" ")
    tail = set_cell_size(text[::-1], room // 2).rstrip(" ")[::-1]
    return f"{head}{ELLIPSIS}{tail}"


def bars(values: Sequence[Any]) -> tuple[str, ...]:
    """A bar per number on one scale; where some are below zero, theirs grow to the left of a common line."""
    numbers = [float(value) if is_number(value) and value == value else 0.0 for value in values]
    longest = max(map(abs, numbers), default=0.0)
    if not 0 < longest < float("inf"):
        return tuple("" for _ in numbers)
    lengths = [round(BAR * abs(number) / longest) for number in numbers]
    drawn = ["\u2588" * length or ("\u258f" if number else "") for number, length in zip(numbers, lengths, strict=True)]
    if min(numbers) >= 0:
        return tuple(bar.ljust(BAR) for bar in drawn)
    sides = (("", bar) if number > 0 else (bar, "") for number, bar in zip(numbers, drawn, strict=True))
    return tuple(f"{left:>{BAR}}\u2502{right:<{BAR}}" for left, right in sides)


def _console(width: int | None, color: bool | None) -> Console:
    is_terminal = sys.stdout.isatty()
    if color is None:
        color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if width is None:
        width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH
    return Console(
        file=StringIO(),
        width=max(width, NARROWEST * 2),
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def _section(console: Console, section: Section, exact: bool) -> None:
    if section.title:
        console.print()
        console.print(Text(clean(section.title), style="bold cyan"))
    if section.doc:
        console.print(Text(clean(section.doc), style="dim"))
    if section.rows or (exact and section.columns):
        _table(console, _fields(section, exact), None if exact else _bar(section))
    if section.note:
        console.print(Text(clean(section.note), style="yellow"))


def _fields(section: Section, exact: bool) -> list[Field]:
    names = unique([column.name for column in section.columns])
    return [_field(name, [row[index] for row in section.rows], exact) for index, name in enumerate(names)]


def _bar(section: Section) -> Field | None:
    """The column that draws another one."""
    names = [column.name for column in section.columns]
    if section.bar not in names:
        return None
    return Field(("",), bars([row[names.index(section.bar)] for row in section.rows]), True)


def _field(name: str, values: Sequence[Any], exact: bool) -> Field:
    how = style(name, values)
    present = [value for value in values if value is not None]
    is_numeric = all(map(is_number, present)) and (bool(present) or how.scale is not None)
    if exact:
        return Field((clean(name),), tuple(_exact(value, how) for value in values), is_numeric)
    cells = tuple(how.text(value if value is None else flat(value)) for value in values)
    return Field(tuple(clean(how.header).split()) or ("",), cells, is_numeric)


def _exact(value: Any, how: Style) -> str:
    """A value as the query returned it; whole numbers with thousands separators unless they are names."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}" if how.grouped else str(value)
    return str(flat(value))


def _table(console: Console, fields: Sequence[Field], bar: Field | None) -> None:
    """The table, with the bar where there is room for it."""
    drawn = [*fields, bar] if bar else fields
    widths = _widths(drawn, console.width, False) or _widths(drawn, console.width, True)
    if widths is not None:
        fields = drawn
    else:
        widths = _widths(fields, console.width, True)
    if widths is None:
        _records(console, fields)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP, 0, 0), show_edge=False, header_style="bold")
    for field, width in zip(fields, widths, strict=True):
        justify: Literal["left", "right"] = "right" if field.is_numeric else "left"
        table.add_column(Text(field.folded(width)), justify=justify, vertical="bottom", no_wrap=True, width=width)
    for row in zip(*(field.cells for field in fields), strict=True):
        table.add_row(*(Text(shorten(cell, width)) for cell, width in zip(row, widths, strict=True)))
    console.print(table)


def _widths(fields: Sequence[Field], room: int, is_folded: bool) -> list[int] | None:
    """A width for each column so that all fit, taken from the widest text columns; None when they cannot fit.

    With headers on one line, names keep a readable length; folded headers come before shorter names.
    """
    widths = [field.width(is_folded) for field in fields]
    floor = NARROWEST if is_folded else READABLE
    least = [width if field.is_numeric else min(floor, width) for field, width in zip(fields, widths, strict=True)]
    # Every column, the last one too, has GAP of padding, and rich puts one cell between columns.
    excess = sum(widths) + (GAP + 1) * len(fields) - room
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


def _records(console: Console, fields: Sequence[Field]) -> None:
    """One value per line, for rows that are wider than the terminal."""
    margin = max(cell_len(field.header) for field in fields)
    for number, row in enumerate(zip(*(field.cells for field in fields), strict=True), start=1):
        console.print(Text(f"row {number}", style="bold"))
        for field, cell in zip(fields, row, strict=True):
            if cell != NULL:
                room = max(NARROWEST, console.width - margin - 3)
                console.print(Text(f" {set_cell_size(field.header, margin)}  {shorten(cell, room)}"), soft_wrap=True)
