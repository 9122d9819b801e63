"""Answers of reports and advice about the results of an experiment (tune, study, schedule): they are not recordings.

Invariant: a question that only a recording can answer is answered with what the folder is, and with what shows it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from traceview import sql
from traceview.analysis.model import Report
from traceview.lazy import duckdb


def sentences(connection: duckdb.DuckDBPyConnection, queries: Path, name: str = "") -> tuple[str, ...]:
    """One sentence where the capture holds results of an experiment and no recording; not for their own report."""
    return tuple(text for text, report in _rows(connection, queries) if report != name)


def names(connection: duckdb.DuckDBPyConnection, queries: Path) -> tuple[str, ...]:
    """The reports that show the results of an experiment; none for a recording."""
    return tuple(dict.fromkeys(report for _, report in _rows(connection, queries)))


def _rows(connection: duckdb.DuckDBPyConnection, queries: Path) -> list[tuple[str, str]]:
    return sql.load(queries / "experiment.sql").run(connection)


def explained(report: Report, lines: tuple[str, ...]) -> Report:
    """A report that found nothing to say of an experiment, with what that is; of a brief one only the rest is kept."""
    if not lines:
        return report
    if report.is_brief:
        first, *others = report.sections
        rest = tuple(section for section in others if section.rows)
        return replace(report, doc="", sections=(replace(first, note=" ".join(lines)), *rest))
    if any(section.rows for section in report.sections):
        return report
    return replace(report, footer=(*lines, *report.footer))
