"""A report as JSON, and the rows of a query as an array of objects.

Invariant: numbers are exact. Integers are written digit for digit, floats in their shortest form that reads back the
same, and NULL, NaN and infinity are null. Text is ASCII with `\\u` escapes, so it is both exact and harmless to print.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from traceview.analysis.model import Column, Report
from traceview.analysis.values import as_object, row_object, unique

EXTENSION = ".json"
FOR_PEOPLE = False

_encode = json.JSONEncoder(allow_nan=False).encode


def render(report: Report) -> str:
    """One object: report, title, doc, sections (name, title, doc, note, columns, rows as objects) and footer."""
    return json.dumps(as_object(report), indent=1, allow_nan=False) + "\n"


def render_all(reports: Sequence[Report], is_for_file: bool = False) -> str:
    """The object of one report, an array of the objects of several."""
    if len(reports) == 1:
        return render(reports[0])
    return json.dumps([as_object(report) for report in reports], indent=1, allow_nan=False) + "\n"


def stream(
    columns: Sequence[Column], batches: Iterable[Sequence[tuple[Any, ...]]], is_for_file: bool = False
) -> Iterator[str]:
    """The pieces of a JSON array with one object per row and line, made batch by batch."""
    names = unique([column.name for column in columns])
    separator = "[\n"
    for batch in batches:
        text = ",\n".join([_encode(row_object(names, row)) for row in batch])
        if text:
            yield separator + text
            separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"
