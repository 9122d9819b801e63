"""A report or the rows of a query as CSV (RFC 4180, `\\n` line ends): one header line, then one line per row.

A report of one section is just that. With several, each starts with a line `# section: NAME` and an empty line stands
between them. No cell holds a line break, so every line is a whole row: split at `\\n\\n# section: `, then read CSV.

Invariant: values are exact and unscaled, and a spreadsheet that opens the file runs nothing: text that begins like a
formula gets a leading single quote.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from traceview.analysis.model import Column, Report
from traceview.analysis.values import unique
from traceview.render.characters import clean, flat

EXTENSION = ".csv"
FOR_PEOPLE = False

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def render(report: Report) -> str:
    """Every section of a report; notes, titles and the footer are for people and are left out."""
    return _sections([(section.name, section.columns, section.rows) for section in report.sections])


def render_all(reports: Sequence[Report], is_for_file: bool = False) -> str:
    """Every section of several reports, named `report.section`."""
    if len(reports) == 1:
        return render(reports[0])
    parts = [(f"{r.name}.{s.name}" if r.name else s.name, s.columns, s.rows) for r in reports for s in r.sections]
    return _sections(parts)


def stream(columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]]) -> Iterator[str]:
    """The header line, then the lines of each batch."""
    yield _lines([[_text(name) for name in unique([column.name for column in columns])]])
    for batch in batches:
        yield _lines([[_cell(value) for value in row] for row in batch])


def _sections(parts: Sequence[tuple[str, Sequence[Column], Sequence[tuple[Any, ...]]]]) -> str:
    texts = []
    for name, columns, rows in parts:
        head = f"# section: {clean(name)}\n" if len(parts) > 1 else ""
        texts.append(head + "".join(stream(columns, [rows])))
    return "\n".join(texts)


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Numbers digit for digit, truth as true or false, NULL, NaN and infinity empty, text made harmless."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    if value is None or isinstance(value, int | float | Decimal):
        return value
    return _text(value if isinstance(value, str) else flat(value))


def _text(text: str) -> str:
    return ("'" if text.startswith(FORMULA) else "") + clean(text)
