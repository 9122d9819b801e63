"""Reports of one capture, worked out once for all commands.

Invariant: a remembered report is what running it gives: one that JSON cannot hold exactly is run each time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from traceview.analysis import finding, reports
from traceview.analysis.model import TRACE, Column, Look, Report, Section
from traceview.store import answers, views

MOST_VALUES = 20_000
"""Maximum number of values of a remembered report: to read more again takes as long as to work it out."""


class Reports:
    """Reports, from an earlier command or by running them. `is_remembered`: not where a device or ranks were named."""

    def __init__(
        self,
        recipes: Sequence[reports.Recipe],
        params: Mapping[str, str],
        options: Iterable[str] = (),
        is_remembered: bool = True,
    ) -> None:
        self._recipes, self._params, self._options = recipes, params, tuple(options)
        self._best = finding.Remembered(is_remembered)
        self._is_remembered = is_remembered

    def run(self, connection: duckdb.DuckDBPyConnection, source: str = TRACE) -> list[Report]:
        """Every report; `source` is what the user calls the trace."""
        return [finding.named(self._report(connection, recipe), source) for recipe in self._recipes]

    def _report(self, connection: duckdb.DuckDBPyConnection, recipe: reports.Recipe) -> Report:
        folder = views.folder_of(connection) if self._is_remembered else None
        known = _recall(folder, self._called(recipe)) if folder else None
        report = known or reports.run(connection, recipe.name, self._params, self._options, best=self._best)
        if folder and not known:
            _remember(folder, self._called(recipe), report)
        return report

    def _called(self, recipe: reports.Recipe) -> str:
        params = {name: text for name, text in self._params.items() if name in recipe.params()}
        return f"report {recipe.name} {json.dumps([[part.name for part in recipe.sections], sorted(params.items())])}"


def _remember(folder: Path, name: str, report: Report) -> None:
    if sum(len(part.rows) * len(part.columns) for part in report.sections) > MOST_VALUES:
        return
    with contextlib.suppress(TypeError, ValueError):
        plain = asdict(report)
        if _told(json.loads(json.dumps(plain))) == report:
            answers.remember(folder, name, plain)


def _recall(folder: Path, name: str) -> Report | None:
    """Return the remembered report; None where there is none, or the file is not what `_remember` writes."""
    try:
        return _told(answers.recall(folder, name))
    except (TypeError, KeyError, AttributeError):
        return None


def _told(plain: Any) -> Report:
    """A report that was written as JSON."""
    sections = tuple(_section(part) for part in plain["sections"])
    return Report(**{**plain, "sections": sections, "footer": tuple(plain["footer"])})


def _section(plain: dict[str, Any]) -> Section:
    columns = tuple(Column(**column) for column in plain["columns"])
    look: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain["look"].items()
    }
    rows = tuple(tuple(row) for row in plain["rows"])
    return Section(
        **{**plain, "columns": columns, "look": Look(**look), "rows": rows, "unseen": tuple(plain["unseen"])}
    )
