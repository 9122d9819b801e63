"""Values of a query as plain data: what JSON can hold, names that occur once, a result as a report."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from traceview.analysis.model import Column, Report, Section

_PLAIN = frozenset((type(None), bool, int, str))


def plain(value: Any) -> Any:
    """A value as JSON can hold it, exactly where it can: whole numbers stay whole, NaN and infinity become None.

    Decimals that a double cannot hold, dates, intervals, UUIDs and blobs (as `\\xAB`) become text.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, bytes | bytearray | memoryview):
        return "".join(f"\\x{byte:02X}" for byte in bytes(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def unique(names: Sequence[str]) -> list[str]:
    """Column names of which none occurs twice: a repeated `a` becomes `a_1`, so that no value is lost in JSON."""
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken or (number and candidate in names):
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        result.append(candidate)
    return result


def result(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> Report:
    """The result of one query as a report of one section without a title."""
    section = Section("", "", "", tuple(columns), tuple(rows), None, "")
    return Report("", "", "", (section,), ())


def as_object(report: Report) -> dict[str, Any]:
    """A report as plain JSON data."""
    return {
        "report": report.name,
        "title": report.title,
        "doc": report.doc,
        "sections": [_section(section) for section in report.sections],
        "footer": list(report.footer),
    }


def _section(section: Section) -> dict[str, Any]:
    names = unique([column.name for column in section.columns])
    columns = zip(names, section.columns, strict=True)
    return {
        "name": section.name,
        "title": section.title,
        "doc": section.doc,
        "note": section.note,
        "columns": [{"name": name, "type": column.type, "doc": column.doc} for name, column in columns],
        "rows": [row_object(names, row) for row in section.rows],
    }


def row_object(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """A row by the names of its columns."""
    return dict(zip(names, map(plain, row), strict=True))
