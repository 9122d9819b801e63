"""The answers of all rules of advice about one capture, worked out once for all commands.

Invariant: only where the user set nothing that decides an answer; what is remembered is then what running every rule
gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from traceview import sql
from traceview.analysis import advice, advice_path, finding, findings, ran_on
from traceview.analysis.model import Finding
from traceview.store import answers
from traceview.store.learned import Place

FOOTER = "footer of advice"


class Advice:
    """Answers of rules, from an earlier command or by running them."""

    def __init__(
        self, rules: Sequence[sql.Query], params: Mapping[str, str], at_least_pct: float, is_remembered: bool = True
    ) -> None:
        self._rules, self._params, self._at_least_pct = rules, params, at_least_pct
        self._is_remembered = is_remembered and not params and [rule.name for rule in rules] == advice.names()
        self._folder: Path | None = None
        self._found: list[Finding] | None = None
        self._footer: tuple[str, ...] | None = None
        self.place: Place | None = None
        """What the capture ran on, once `run` has been called."""

    def asked(self, folder: Path) -> str:
        """The text of the queries that `run` will run on this capture."""
        if self._is_remembered:
            self._folder = folder
            self._found = finding.recalled(folder, self._at_least_pct)
            lines = answers.recall(folder, FOOTER)
            self._footer = tuple(str(line) for line in lines) if isinstance(lines, list) else None
            self.place = ran_on.recalled(folder)
        asked = findings.asked(self._rules if self._found is None else ())
        return asked if None in (self._found, self._footer, self.place) else ""

    def run(self, connection: duckdb.DuckDBPyConnection) -> tuple[list[Finding], tuple[str, ...]]:
        """As `findings.run`."""
        found, footer = self._found, self._footer
        if found is None:
            found = advice_path.run(connection, self._rules, self._params, self._at_least_pct)
            if self._folder:
                finding.remember(self._folder, self._at_least_pct, found)
        if footer is None:
            footer = findings.footer(connection)
            if self._folder:
                answers.remember(self._folder, FOOTER, list(footer))
        if self.place is None:
            self.place = ran_on.remember(self._folder, connection) if self._folder else ran_on.of(connection)
        return found, footer
