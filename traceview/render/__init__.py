"""Turns reports, or the result of a query, into text: one module per format, which says all there is to know of it.

Invariant: a renderer returns text and prints nothing, and no text of a trace reaches the reader as anything but itself.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from traceview.analysis.model import Column, Report
from traceview.analysis.values import result


def _formats() -> tuple[str, ...]:
    """The modules that say their extension: found by their text, for some take time to load."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    found = [path.stem for path in paths if "\nEXTENSION = " in path.read_text(encoding="utf-8")]
    return (DEFAULT, *(name for name in found if name != DEFAULT))


DEFAULT = "table"
FORMATS = _formats()
"""The modules of this folder that write a format, the default first; imported when they are used."""

wants_color: bool | None = None
"""Whether tables are coloured; None: where they are read on a terminal."""
SHOWN = 1000
"""Rows of a query's result that people are shown; the rest is counted and said."""


class Renderer(Protocol):
    """Interface of the module of a format."""

    EXTENSION: str
    """File extension."""
    FOR_PEOPLE: bool
    """Whether it scales values and shows some rows only; the others hold every row, exactly."""

    def render(self, report: Report) -> str:
        """One report."""

    def render_all(self, reports: Sequence[Report], is_for_file: bool = False) -> str:
        """One text out of several reports."""

    def stream(
        self, columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]], is_for_file: bool = False
    ) -> Iterator[str]:
        """The result of a query in pieces, so that memory does not grow with it."""


def renderer(name: str) -> Renderer:
    """The module of a format."""
    return cast(Renderer, importlib.import_module(f"traceview.render.{name}"))


def footers_once(reports: Sequence[Report]) -> list[Report]:
    """The reports without those footers that the last one says too."""
    last = reports[-1]
    return [*(replace(report, footer=()) if report.footer == last.footer else report for report in reports[:-1]), last]


def for_people(report: Report) -> Report:
    """The report as people read it: of a brief one, what the trace holds nothing of is named in one line at the end."""
    if not report.is_brief:
        return report
    empty = [section.look.subject for section in report.sections if not section.rows and section.look.subject]
    sections = (
        replace(section, note=None) if section.rows else section
        for section in report.sections
        if len(section.rows) >= section.look.least_rows or not (section.look.subject or section.look.optional)
    )
    line = (f"Nothing in this trace about: {', '.join(empty)}.",) if empty else ()
    return replace(report, sections=tuple(sections), footer=(*line, *report.footer))


def first_rows(columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]]) -> Report:
    """As much of the result of a query as people are shown, with a note of how much that is."""
    rows = itertools.chain.from_iterable(batches)
    report = result(columns, list(itertools.islice(rows, SHOWN)))
    left_out = sum(1 for _ in rows)
    if not left_out:
        return report
    note = f"{SHOWN:,} of {SHOWN + left_out:,} rows; --format csv, json or parquet write all."
    return replace(report, sections=(replace(report.sections[0], note=note),))
