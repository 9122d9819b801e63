"""Runs that are kept to compare later ones with, and the history of what was kept under a name.

A baseline is a file of measured runs, as `compare --format json` writes them, with its history: an entry for each time
that it was saved, the last of which describes its runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from statistics import median
from typing import Any

from traceview.analysis import compare
from traceview.analysis.compare import Run
from traceview.analysis.model import Column, Look, Report, Section
from traceview.errors import InputError

MOST_ENTRIES = 1000
"""Entries of a history that are kept, the newest ones."""
COLUMNS = (
    Column("saved", "VARCHAR", "when, in UTC"),
    Column("note", "VARCHAR", "what was said of it (--note)"),
    Column("recordings", "BIGINT", "recordings"),
    Column("step_ns", "DOUBLE", "median of the mean steps of its recordings"),
    Column("low_ns", "DOUBLE", "of its fastest recording"),
    Column("high_ns", "DOUBLE", "of its slowest recording"),
    Column("change_pct", "DOUBLE", "step time beside that of the entry before, of which it is a share"),
)
_TYPES = {"VARCHAR": str, "BIGINT": int, "DOUBLE": int | float}


def content(name: str, run: Run, before: object, saved: str, note: str | None) -> dict[str, Any]:
    """Return the content of a baseline: one run with its recordings, after what was kept under this name before."""
    history = [] if before is None else _history(before, name)
    return {
        "report": "compare",
        "title": f"Baseline {name}",
        "history": [*history, _entry(run, saved, note)][-MOST_ENTRIES:],
        "runs": compare.saved([run]),
    }


def history(name: str, held: object) -> Report:
    """Return the history of a baseline as a report. Raises `InputError` where the file holds none."""
    rows: list[tuple[Any, ...]] = []
    before: float | None = None
    for entry in _history(held, name):
        step = entry["step_ns"]
        change = None if not before or step is None else 100 * (step / before - 1)
        rows.append((*(entry[column.name] for column in COLUMNS[:-1]), change))
        before = step
    look = Look(headings={"change_pct": "change of step"})
    section = Section("history", "", "", COLUMNS, tuple(rows), None if rows else "Nothing is kept.", "", look=look)
    return Report("baseline", f"Baseline {name}", "Step times of what was kept, oldest first.", (section,), ())


def _entry(run: Run, saved: str, note: str | None) -> dict[str, Any]:
    times = [time for recording in run.recordings if (time := recording.value("step_ns"))]
    low, middle, high = (min(times), float(median(times)), max(times)) if times else (None, None, None)
    values = saved, note, len(run.recordings), middle, low, high
    return {column.name: value for column, value in zip(COLUMNS[:-1], values, strict=True)}


def _history(content: object, name: str) -> list[dict[str, Any]]:
    entries = content.get("history") if isinstance(content, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) and _fits(entry) for entry in entries):
        raise InputError(f"{name} is not a baseline written by `traceview baseline save`, or it was changed.")
    return [{column.name: entry[column.name] for column in COLUMNS[:-1]} for entry in entries]


def _fits(entry: Mapping[str, Any]) -> bool:
    """Return whether every value of an entry has its type, or is missing."""
    return all(
        column.name in entry
        and ((value := entry[column.name]) is None or isinstance(value, _TYPES[column.type]))
        and (not isinstance(value, float) or isfinite(value))
        for column in COLUMNS[:-1]
    )
