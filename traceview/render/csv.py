"""A report or the rows of a query as CSV (RFC 4180, `\\n` line ends): one header line, then one line per row.

A report of one section is just that. With several, each starts with a line `# section: NAME` and an empty line stands
between them. No cell holds a line break, so every line is a whole row: split at `\\n\\n# section: `, then read CSV.

Invariant: values are exact and unscaled, and a spreadsheet that opens the file runs nothing: text that begins like a
formula gets a leading single quote, also behind what a spreadsheet skips, and behind a separator that may split cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from traceview.analysis.model import Column, Report
from traceview.analysis.values import unique
from traceview.render.characters import clean, flat

EXTENSION = ".csv"
FOR_PEOPLE = False

SIGNS = (
    "-=+@\u02d6\u02d7\u2010-\u2015\u2052\u207a-\u207c\u208a-\u208c\u2212\u2795\u2796\u2a75\u2a76\ua78a"
    "\ufb29\ufe31\ufe32\ufe58\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20\U0001f7f0"
)
"""Characters that begin a formula: spreadsheets of some languages and input methods take look-alikes for the sign."""
# Some locales split cells at other characters than the comma. An escape of `clean` is skipped as what it stands for.
_SIGN = re.compile(f"[{SIGNS}]")
_BEGINNING = re.compile(
    rf"""(?:^|[;|])(?:[\s'",;|]|\\[tnr]|\\x[0-9a-f]{{2}}|\\u[0-9a-f]{{4}}|\\U[0-9a-f]{{8}})*+([{SIGNS}])?"""
)


def render(report: Report) -> str:
    """Every section of a report; notes, titles and the footer are for people and are left out."""
    return _sections([(section.name, section.columns, section.rows) for section in report.sections])


def render_all(reports: Sequence[Report], is_for_file: bool = False) -> str:
    """Every section of several reports, named `report.section`."""
    if len(reports) == 1:
        return render(reports[0])
    parts = [(f"{r.name}.{s.name}" if r.name else s.name, s.columns, s.rows) for r in reports for s in r.sections]
    return _sections(parts)


def stream(
    columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]], is_for_file: bool = False
) -> Iterator[str]:
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
    text = clean(text)
    return _BEGINNING.sub(_disarmed, text) if _SIGN.search(text) else text


def _disarmed(match: re.Match[str]) -> str:
    """Return the text before a sign, with a quote at the beginning of every cell that it may be the beginning of."""
    found = match[0]
    if not match[1]:
        return found
    end = max(found.rfind(";"), found.rfind("|")) + 1
    quote = "'" if end and not match.start() else ""
    return f"{quote}{found[:end]}'{found[end:]}"
