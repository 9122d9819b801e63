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

from traceview.analysis.model import Column, Finding, Look, Report, Section
from traceview.store import answers

TRACE = "TRACE"
"""What commands call the trace whose name is too long for a table, or would have to be quoted."""
AT_LEAST_PCT = 0.5
"""Of the step: what could save less is no finding, as for `traceview advise`."""

_SHORT = re.compile(r"[\w./-]{1,24}")
_LOOK = Look(
    lines=(
        "{told}",
        "up to {saving_ns} {per} ({saving_pct} of it)",
        "\n{change}",
        "\n{command}",
        "{others}",
    ),
    brief="",
)
_COLUMNS = (
    Column("told", "VARCHAR", "the best finding, or that there is none"),
    Column("rule", "VARCHAR", "name of its rule"),
    Column("saving_ns", "BIGINT", "potential saving (upper bound)"),
    Column("per", "VARCHAR", "what the saving is per: step or run"),
    Column("saving_pct", "DOUBLE", "of the step, or of the run"),
    Column("change", "VARCHAR", "what to change, in the framework of the trace"),
    Column("command", "VARCHAR", "what shows it"),
    Column("others", "VARCHAR", "other findings, the largest saving first"),
)


class Remembered:
    """The section of one capture, worked out once for all commands; not where a device was named by hand."""

    def __init__(self, is_remembered: bool) -> None:
        self._is_remembered = is_remembered
        self._folder: Path | None = None
        self._row: list[Any] | None = None

    def is_known(self, folder: Path) -> bool:
        """Whether it has been worked out before, so that no rule has to be run."""
        if self._is_remembered:
            self._folder = folder
            found = answers.recall(folder, "finding")
            fits = isinstance(found, list) and len(found) == len(_COLUMNS)
            self._row = found if fits and all(isinstance(value, _PLAIN) for value in found) else None
        return self._row is not None

    def section(self, connection: duckdb.DuckDBPyConnection) -> Section:
        """The section, from an earlier command or by running every rule."""
        if self._row is not None:
            return _section(tuple(self._row))
        # A known one needs no rules, and they take a while to import.
        from traceview.analysis import best_finding, ran_on

        findings = best_finding.run(connection)
        row = best_finding.row(connection, findings)
        if self._folder:
            answers.remember(self._folder, "finding", [_plain(value) for value in row])
            remember(self._folder, AT_LEAST_PCT, findings)
            ran_on.remember(self._folder, connection)
        return _section(row)


_PLAIN = (str, int, float, type(None))


def remember(folder: Path, at_least_pct: float, findings: Sequence[Finding]) -> None:
    """Keep the answers of all rules about a capture, for whoever asks next."""
    plain = [{name: _plain(value) for name, value in asdict(finding).items()} for finding in findings]
    answers.remember(folder, _name(at_least_pct), plain)


def recalled(folder: Path, at_least_pct: float) -> list[Finding] | None:
    """What was remembered; None where that is nothing, or not what `remember` writes."""
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
