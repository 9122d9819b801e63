"""Answers of reports and advice about the results of an experiment (tune, study, schedule): they are not recordings.

Invariant: a question that only a recording can answer is answered with what the folder is, and with what shows it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb

from traceview import sql
from traceview.analysis.model import Report


def sentences(connection: duckdb.DuckDBPyConnection, queries: Path, name: str = "") -> tuple[str, ...]:
    """One sentence where the capture holds results of an experiment and no recording; not for their own report."""
    path = queries / "experiment.sql"
    rows = sql.load(path).run(connection) if path.exists() else ()
    return tuple(str(text) for text, report in rows if report != name)


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
