"""Advice in the order of what it can give on the critical path of a step: the rules' answers, with that bound.

Invariant: a finding whose work is not on the path stays, after those that are; where no path can be had the order is
that of the rules' own bounds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import duckdb

from traceview import sql
from traceview.analysis import advice, graph_queries
from traceview.analysis.model import Finding
from traceview.paths import content
from traceview.store import views

Bounded = Callable[[Sequence[tuple[Finding, sql.Query]], Mapping[str, str]], list[Finding]]
"""Findings, each with the query of what its change takes away, as what they can give on a path."""

ON, OFF, NOT_KNOWN = "on the critical path", "not on the critical path", "not known"
UNCERTAIN = "which work the change removes is not certain"


def removal(rule: sql.Query) -> sql.Query | None:
    """The query of what the rule's change takes away, whose `gone` says what of it; None where that is not certain."""
    name = rule.extra.get("removes")
    return sql.load(content("queries") / "advice" / "removes" / f"{name}.sql") if name else None


def asked(rules: Iterable[sql.Query]) -> str:
    """The text of every query that `run` asks for these rules."""
    rules = list(rules)
    found = [query.body for rule in rules if (query := removal(rule))]
    return "\n".join([advice.asked(rules), *(found and [graph_queries.asked(), *dict.fromkeys(found)])])


def run(
    connection: duckdb.DuckDBPyConnection,
    rules: Sequence[sql.Query],
    params: Mapping[str, str] | None = None,
    at_least_pct: float = 0.0,
) -> list[Finding]:
    """As `advice.run`, each finding bounded by the path of the step, and in the order of that bound."""
    removals = {rule.name: query for rule in rules if (query := removal(rule))}
    with contextlib.closing(views.beside(connection)) as second, ThreadPoolExecutor(1) as pool:
        # Rules are many short queries, the path is few: side by side, where neither needs the memory of the other.
        early = pool.submit(_path, second) if removals and views.has_room(connection) else None
        said = advice.run(connection, rules, params, at_least_pct)
        steady = [f for f in said if f.status == advice.FOUND and f.saving_ns and f.run_ns is None]
        certain = [(f, removals[f.rule]) for f in steady if f.rule in removals]
        found = {f.rule: replace(f, path=NOT_KNOWN, path_reason=UNCERTAIN) for f in steady}
        if certain:
            bounded = (early or pool.submit(_path, second)).result()
            found |= {f.rule: f for f in bounded(certain, params or {})}
    return sorted((found.get(finding.rule, finding) for finding in said), key=advice.order)


def _path(connection: duckdb.DuckDBPyConnection) -> Bounded:
    # It imports numpy, which takes as long as a small capture.
    from traceview.analysis import on_path

    return partial(on_path.bounded, connection, on_path.work_out(connection))


def bound(finding: Finding) -> tuple[int | None, float | None]:
    """What the finding can give at most, and that in percent of the step: by the path where it is known."""
    if finding.path_saving_ns is None:
        return finding.saving_ns, finding.saving_pct
    return finding.path_saving_ns, 100.0 * finding.path_saving_ns / finding.step_ns if finding.step_ns else None


def told(finding: Finding) -> str:
    """What the path says of a finding, as a sentence; nothing where it was not asked."""
    if finding.path == ON:
        return f"On the critical path: at most {(finding.path_saving_ns or 0) / 1e6:,.3f} ms of it."
    if finding.path == OFF:
        slack = (finding.path_slack_ns or 0) / 1e6
        return (
            f"Not on the critical path: {slack:,.3f} ms of slack before it costs anything."
            if slack
            else ("Not on the critical path alone: what runs beside it takes as long.")
        )
    return "Critical path: not known." if finding.path else ""


def reasons(findings: Iterable[Finding]) -> list[str]:
    """Why the path says nothing of findings, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for finding in findings:
        if finding.path == NOT_KNOWN:
            by_reason.setdefault(finding.path_reason, []).append(finding.rule)
    return [f"Critical path not known for {', '.join(rules)}: {reason}." for reason, rules in by_reason.items()]
