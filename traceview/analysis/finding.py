"""The best finding of advice as a section of a report, with the command that shows it.

Invariant: nothing found and nothing to be told are different sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import duckdb

from traceview.analysis.model import AT_LEAST_PCT, TRACE, Column, Finding, Look, Report, Section
from traceview.store import answers, views

_SHORT = re.compile(r"[\w./-]{1,24}")
_LOOK = Look(
    lines=(
        "{told}",
        "up to {saving_ns} {per} ({saving_pct} of it)",
        "{confidence} confidence",
        "\n{change}",
        "\n{command}",
        "{others}",
    ),
    brief="",
)
_COLUMNS = (
    Column("told", "VARCHAR", "the best finding whose confidence is not low, or that there is none"),
    Column("rule", "VARCHAR", "name of its rule"),
    Column("saving_ns", "BIGINT", "potential saving (upper bound)"),
    Column("per", "VARCHAR", "what the saving is per: step or run"),
    Column("saving_pct", "DOUBLE", "of the step, or of the run"),
    Column("confidence", "VARCHAR", "high or medium; one of low confidence is never the best"),
    Column("change", "VARCHAR", "what to change, in the framework of the trace"),
    Column("command", "VARCHAR", "what shows it"),
    Column("others", "VARCHAR", "other findings, the largest saving first"),
)


class Remembered:
    """The section of one capture, worked out once for all commands; not where a device was named by hand."""

    def __init__(self, is_remembered: bool) -> None:
        self._is_remembered = is_remembered

    def section(self, connection: duckdb.DuckDBPyConnection) -> Section:
        """The section, from an earlier command or by running every rule."""
        folder = views.folder_of(connection) if self._is_remembered else None
        found = answers.recall(folder, "finding") if folder else None
        if isinstance(found, list) and len(found) == len(_COLUMNS) and all(isinstance(one, _PLAIN) for one in found):
            return _section(tuple(found))
        # A known one needs no rules, and they take a while to import.
        from traceview.analysis import best_finding, ran_on

        findings = best_finding.run(connection)
        row = best_finding.row(connection, findings)
        if folder:
            answers.remember(folder, "finding", [_plain(value) for value in row])
            remember(folder, AT_LEAST_PCT, findings)
            ran_on.remember(folder, connection)
        return _section(row)


_PLAIN = (str, int, float, type(None))


def remember(folder: Path, at_least_pct: float, findings: Sequence[Finding]) -> None:
    """Keep the answers of all rules about a capture, for whoever asks next."""
    plain = [{name: _plain(value) for name, value in asdict(finding).items()} for finding in findings]
    answers.remember(folder, _name(at_least_pct), plain)


def recalled(folder: Path, at_least_pct: float) -> list[Finding] | None:
    """Return the remembered findings; None where there are none, or the file is not what `remember` writes."""
    try:
        found = answers.recall(folder, _name(at_least_pct))
        return [Finding(**{**entry, "evidence": tuple(entry["evidence"])}) for entry in found]
    except (TypeError, KeyError):
        return None


def _name(at_least_pct: float) -> str:
    return f"answers of all rules, at least {at_least_pct} %"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(line) for line in value]
    return value if isinstance(value, _PLAIN) else float(value)


def _section(row: tuple[Any, ...]) -> Section:
    doc = "The finding of advice that could save most."
    return Section("finding", "Advice", doc, _COLUMNS, (row,), None, "", look=_LOOK)


def named(report: Report, source: str) -> Report:
    """The report with its commands for this trace, where its name is short and plain."""
    if not _SHORT.fullmatch(source) or source.startswith("-"):
        return report

    def of(text: Any) -> Any:
        return text.replace(f" {TRACE} ", f" {source} ") if isinstance(text, str) else text

    sections = []
    for part in report.sections:
        at = [index for index, column in enumerate(part.columns) if column.name == "command"]
        rows = tuple(tuple(of(value) if index in at else value for index, value in enumerate(row)) for row in part.rows)
        sections.append(replace(part, note=of(part.note), rows=rows if at else part.rows))
    return replace(report, sections=tuple(sections), footer=tuple(of(line) for line in report.footer))
