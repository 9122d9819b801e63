"""A report as tables for a terminal: numbers to the right in one unit per column, as many columns as there is room for.

Invariant: a line is never cut at its end. The rows of a query, of which no column may be missing, are printed one value
per line where they do not fit.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any, Literal

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from traceview import render as here
from traceview.analysis.model import Column, Look, Report, Section
from traceview.render import cells, first_rows, footers_once, for_people
from traceview.render.cells import GAP, READABLE, Field, lines, shorten, widths_of
from traceview.render.characters import clean
from traceview.render.units import NULL, is_number

EXTENSION = ".txt"
FOR_PEOPLE = True

PIPE_WIDTH = 200
"""Columns of text that goes to a file or a pipe."""
NARROWEST = 16
"""A column of a query's result is not made narrower than this."""
BAR = 10
"""Character cells of the longest bar."""


def render(report: Report, width: int | None = None, color: bool | None = None, is_whole: bool = True) -> str:
    """The whole report, or (not `is_whole`) the beginning of one. Width and colour are those of stdout unless given."""
    console, report = _console(width, color), for_people(report)
    if report.title:
        console.print(Text(clean(report.title), style="bold"))
    if report.doc:
        console.print(Text(clean(report.doc), style="dim"))
    said = [text for section in report.sections if (text := _section(console, section))]
    if not is_whole:
        return _text(console)
    if said:
        text = f"columns left out at this width: {'; '.join(said)}; use a wider terminal or --format csv"
        console.print()
        console.print(Text(text, style="magenta"))
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
        _result(console, section)
        n_rows = len(section.rows)
        text = section.note or f"{n_rows:,} row{'' if n_rows == 1 else 's'}"
        console.print(Text(clean(text), style="magenta" if section.note else "dim"))
    return _text(console)


def _result(console: Console, section: Section) -> None:
    fields = cells.exact_fields(section)
    if not fields:
        return
    if widths := _room(fields, console.width, ((READABLE, False), (NARROWEST, True))):
        _draw(console, fields, widths)
    else:
        _records(console, fields)


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
        color = here.wants_color
    if color and not is_terminal and width is None and sys.stderr.isatty() and "COLUMNS" not in os.environ:
        # A pager reads it, on the terminal to which errors go.
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    if color is None:
        color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if width is None:
        # COLUMNS is exported by nobody but who means it: it holds for a pipe too.
        width = (
            shutil.get_terminal_size((PIPE_WIDTH, 0)).columns if is_terminal or "COLUMNS" in os.environ else PIPE_WIDTH
        )
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
        # In a notebook rich would write into the cell itself.
        force_jupyter=False,
    )


def _text(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def _section(console: Console, section: Section) -> str:
    """Prints a section; returns what was left out of it because there was no room."""
    look = section.look
    brief = section.doc if look.brief is None else look.brief
    if section.title and (look.titled or not look.lines):
        console.print()
        console.print(Text(clean(section.title), style="bold magenta"))
    if brief:
        console.print(Text(clean(brief), style="dim"))
    left_out: Sequence[Field] = ()
    if look.lines:
        for line in lines(section, console.width):
            console.print(Text(line))
    elif section.rows:
        left_out = _table(console, cells.fields(section), _bar(section), look)
    if section.note:
        console.print(Text(clean(section.note), style="magenta"))
    named = ", ".join(field.header for field in left_out)
    return f"{clean(section.title).lower()}: {named}" if named and section.title else named


def _bar(section: Section) -> Field | None:
    """The column that draws another one."""
    names = [column.name for column in section.columns]
    if section.bar not in names:
        return None
    return Field("", ("",), bars([row[names.index(section.bar)] for row in section.rows]), True)


def _table(console: Console, fields: Sequence[Field], bar: Field | None, look: Look) -> Sequence[Field]:
    """The table, with the bar where there is room for it; returns the columns that there is no room for."""
    drawn = [*fields, bar] if bar else fields
    if bar and (widths := _room(drawn, console.width, ((READABLE, False), (READABLE, True)))):
        _draw(console, drawn, widths)
        return ()
    shown, widths, left_out = cells.fit(fields, console.width, look)
    _draw(console, shown, widths)
    return left_out


def _room(fields: Sequence[Field], width: int, ways: Sequence[tuple[int, bool]]) -> list[int] | None:
    """Widths in the first of these ways, floor and folding, in which all columns fit."""
    return next((found for floor, folded in ways if (found := widths_of(fields, width, folded, floor))), None)


def _draw(console: Console, fields: Sequence[Field], widths: Sequence[int]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, GAP, 0, 0), show_edge=False, header_style="bold")
    headers = [field.folded(width) for field, width in zip(fields, widths, strict=True)]
    tallest = max(map(len, headers))
    for field, width, words in zip(fields, widths, headers, strict=True):
        header = [*[""] * (tallest - len(words)), *words]
        justify: Literal["left", "right"] = "right" if field.is_numeric else "left"
        table.add_column(
            Text("\n".join(header)), justify=justify, no_wrap=not field.wraps, overflow="fold", width=width
        )
    for row in zip(*(field.fitted(width) for field, width in zip(fields, widths, strict=True)), strict=True):
        table.add_row(*map(Text, row))
    console.print(table)


def _records(console: Console, fields: Sequence[Field]) -> None:
    """One value per line, for rows of a query that are wider than the terminal."""
    margin = max(cell_len(field.header) for field in fields)
    for number, row in enumerate(zip(*(field.cells for field in fields), strict=True), start=1):
        console.print(Text(f"row {number}", style="bold"))
        for field, cell in zip(fields, row, strict=True):
            if cell != NULL:
                room = max(NARROWEST, console.width - margin - 3)
                console.print(Text(f" {set_cell_size(field.header, margin)}  {shorten(cell, room)}"), soft_wrap=True)
