"""A report as Markdown (GitHub's tables), for issues, wikis and change descriptions.

Invariant: text of a trace is shown and never obeyed: no markup, HTML, link, mention or table border comes out of it.
Cells are code spans, in which a backtick and a table border are written as `\\x60` and `\\x7c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from traceview.analysis.model import Column, Report, Section
from traceview.analysis.values import unique
from traceview.render import cells, first_rows, footers_once, for_people
from traceview.render.cells import lines
from traceview.render.characters import clean, flat
from traceview.render.units import NULL, Style, is_number

EXTENSION = ".md"
FOR_PEOPLE = True

_PLAIN = re.compile(r"[0-9A-Za-z]+(?:[ _][0-9A-Za-z]+)*")
_ACTIVE = re.compile(
    r"[\\`*\[\]~$<>&|]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])"
    r"|:(?=//)|(?<=www)\.|^[-+#=]" + "".join(rf"|(?<=^\d{{{n}}})[.)]" for n in range(1, 10))
)
# GitHub looks for these in what it has rendered, so that no escape of Markdown's own helps.
_MENTION = re.compile(r"@|#(?=\d)|(?<=GH)-(?=\d)", re.IGNORECASE)
_COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])")


def render(report: Report) -> str:
    """The report under a second-level heading, one table per section, the footer as a list."""
    report = for_people(report)
    parts = [f"## {escape(report.title)}"] if report.title else []
    parts += [escape(report.doc)] if report.doc else []
    parts += [part for section in report.sections for part in _section(section)]
    if report.footer:
        parts.append("\n".join(f"- {escape(line)}" for line in report.footer))
    return "\n\n".join(parts) + "\n"


def render_all(reports: Sequence[Report], is_for_file: bool = False) -> str:
    """One report after the other; what they all rest on is said once, at the end."""
    return "\n".join(map(render, footers_once(reports)))


def stream(
    columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]], is_for_file: bool = False
) -> Iterator[str]:
    """The first rows of a query's result: names and values as they are, digit for digit."""
    (section,) = first_rows(columns, batches).sections
    parts = [_table(section, exact=True)] if section.columns else []
    yield "\n\n".join([*parts, *([f"*{escape(section.note)}*"] if section.note else [])]) + "\n"


def escape(text: str) -> str:
    """Running text as Markdown that shows it literally."""
    text = _ACTIVE.sub(lambda match: f"\\{match[0]}", clean(text).strip())
    return _MENTION.sub(lambda match: f"\\\\x{ord(match[0]):02x}", text)


def cell(text: str) -> str:
    """Text as a table cell that shows it literally: simple words bare, all else as a code span."""
    text = clean(text)
    if text in ("", NULL) or (_PLAIN.fullmatch(text) and not _COMMIT.search(text)):
        return text
    return f"`{text.replace('`', chr(92) + 'x60').replace('|', chr(92) + 'x7c')}`"


def _section(section: Section) -> list[str]:
    look = section.look
    parts = [f"### {escape(section.title)}"] if section.title and (look.titled or not look.lines) else []
    brief = section.doc if look.brief is None else look.brief
    parts += [escape(brief)] if brief else []
    if look.lines and section.rows:
        parts.append("\n".join(f"- {escape(line)}" for line in lines(section)))
    elif section.rows:
        parts.append(_table(section))
    if section.note:
        parts.append(f"*{escape(section.note)}*")
    return parts


def _table(section: Section, exact: bool = False) -> str:
    names = unique([column.name for column in section.columns])
    styles = cells.styles(section)
    values = [cells.values(section, at) for at in range(len(styles))]
    numeric = [all(value is None or is_number(value) for value in column) for column in values]
    rows = [list(row) for row in zip(*values, strict=True)]
    table = [
        [escape(name if exact else how.header) for name, how in zip(names, styles, strict=True)],
        ["---:" if right else "---" for right in numeric],
        *([_value(value, how, exact) for value, how in zip(row, styles, strict=True)] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def _value(value: object, how: Style, exact: bool) -> str:
    shown = flat(value)
    if isinstance(shown, str):
        return cell(shown)
    return str(shown) if exact and is_number(shown) else how.text(shown)
