"""The answers of all rules of advice about one capture, worked out once for all commands.

Invariant: only where the user set nothing that decides an answer; what is remembered is then what running every rule
gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from traceview import sql
from traceview.analysis import advice, advice_path, finding, findings, ran_on
from traceview.analysis.model import Finding
from traceview.store import answers, views
from traceview.store.learned import Place

FOOTER = "footer of advice"


class Advice:
    """Answers of rules, from an earlier command or by running them."""

    def __init__(
        self, rules: Sequence[sql.Query], params: Mapping[str, str], at_least_pct: float, is_remembered: bool = True
    ) -> None:
        self._rules, self._params, self._at_least_pct = rules, params, at_least_pct
        self._is_remembered = is_remembered and not params and [rule.name for rule in rules] == advice.names()
        self.place: Place | None = None
        """Framework and device the capture ran on, once `run` has been called."""

    def run(self, connection: duckdb.DuckDBPyConnection) -> tuple[list[Finding], tuple[str, ...]]:
        """As `findings.run`."""
        folder = views.folder_of(connection) if self._is_remembered else None
        found = finding.recalled(folder, self._at_least_pct) if folder else None
        lines = answers.recall(folder, FOOTER) if folder else None
        self.place = ran_on.recalled(folder) if folder else None
        if found is None:
            found = advice_path.run(connection, self._rules, self._params, self._at_least_pct)
            if folder:
                finding.remember(folder, self._at_least_pct, found)
        footer = tuple(str(line) for line in lines) if isinstance(lines, list) else None
        if footer is None:
            footer = findings.footer(connection)
            if folder:
                answers.remember(folder, FOOTER, list(footer))
        if self.place is None:
            self.place = ran_on.remember(folder, connection) if folder else ran_on.of(connection)
        return found, footer
