"""The answers of all rules of advice about one capture, worked out once for all commands.

Invariant: only where the user set nothing that decides an answer; what is remembered is then what running every rule
gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb

from traceview import sql
from traceview.analysis import advice, findings
from traceview.analysis.model import Finding
from traceview.store import answers

_PLAIN = (str, int, float, type(None))


class Advice:
    """Answers of rules, from an earlier command or by running them."""

    def __init__(
        self, rules: Sequence[sql.Query], params: Mapping[str, str], at_least_pct: float, is_remembered: bool = True
    ) -> None:
        self._rules, self._params, self._at_least_pct = rules, params, at_least_pct
        self._is_remembered = is_remembered and not params and [rule.name for rule in rules] == advice.names()
        self._folder: Path | None = None
        self._known: tuple[list[Finding], tuple[str, ...]] | None = None

    def asked(self, folder: Path) -> str:
        """The text of the queries that `run` will run on this capture."""
        if self._is_remembered:
            self._folder = folder
            self._known = _recalled(answers.recall(folder, self._name()))
        return "" if self._known else findings.asked(self._rules)

    def run(self, connection: duckdb.DuckDBPyConnection) -> tuple[list[Finding], tuple[str, ...]]:
        """As `findings.run`."""
        if self._known is not None:
            return self._known
        found, footer = findings.run(connection, self._rules, self._params, self._at_least_pct)
        if self._folder:
            plain = [{name: _plain(value) for name, value in asdict(finding).items()} for finding in found]
            answers.remember(self._folder, self._name(), {"findings": plain, "footer": list(footer)})
        return found, footer

    def _name(self) -> str:
        return f"advice of at least {self._at_least_pct} %"


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(line) for line in value]
    return value if isinstance(value, _PLAIN) else float(value)


def _recalled(answer: Any) -> tuple[list[Finding], tuple[str, ...]] | None:
    """What was remembered; None where it is not what `run` writes."""
    try:
        found = [Finding(**{**entry, "evidence": tuple(entry["evidence"])}) for entry in answer["findings"]]
        return found, tuple(str(line) for line in answer["footer"])
    except (TypeError, KeyError):
        return None
