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
from traceview.analysis import advice, certainty
from traceview.analysis.certainty import NOT_KNOWN, OFF
from traceview.analysis.model import Finding
from traceview.paths import content
from traceview.store import views

Bounded = Callable[[Sequence[tuple[Finding, sql.Query]], Mapping[str, str]], list[Finding]]
"""Findings, each with the query of what its change takes away, as what they can give on a path."""

UNCERTAIN = "which work the change removes is not certain"


def removal(rule: sql.Query) -> sql.Query | None:
    """The query of what the rule's change takes away, whose `gone` says what of it; None where that is not certain."""
    name = rule.extra.get("removes")
    return sql.load(content("queries") / "advice" / "removes" / f"{name}.sql") if name else None


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
            for f in bounded(certain, params or {}):
                lacking = _lacking(connection, removals[f.rule]) if f.path == OFF else ""
                unknown = replace(f, path=NOT_KNOWN, path_reason=lacking, path_saving_ns=None, path_slack_ns=None)
                found[f.rule] = unknown if lacking else _as_bounded(f, at_least_pct)
    return advice.ordered(found.get(finding.rule, finding) for finding in said)


def _lacking(connection: duckdb.DuckDBPyConnection, removed: sql.Query) -> str:
    """Say what would have to be recorded to know that this is not on the path; empty where it is."""
    needs = (advice.need(name) for name in removed.extra.get("needs", ()))
    return next((str(query.extra["missing"]) for query in needs if not query.run(connection)[0][0]), "")


def _as_bounded(finding: Finding, at_least_pct: float) -> Finding:
    """The finding with what the path leaves of its saving; what is too little is not found."""
    if finding.path_saving_ns is None:
        return finding
    share = 100.0 * finding.path_saving_ns / finding.step_ns if finding.step_ns else None
    finding = replace(finding, saving_ns=finding.path_saving_ns, saving_pct=share)
    # A guess does not lead anyway, and is what there is to say of a device that idles.
    is_guess = certainty.level(finding) == certainty.LOW
    if finding.path == OFF or is_guess or share is None or share >= at_least_pct:
        return finding
    reason = f"there is some, but without it {finding.of} is {share:.2f} % shorter at most"
    return replace(finding, status=advice.NOT_FOUND, reason=reason)


def _path(connection: duckdb.DuckDBPyConnection) -> Bounded:
    # It imports numpy, which takes as long as a small capture.
    from traceview.analysis import on_path

    return partial(on_path.bounded, connection, on_path.work_out(connection))


def reasons(findings: Iterable[Finding]) -> list[str]:
    """Why the path says nothing of findings, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for finding in findings:
        if finding.path == NOT_KNOWN:
            by_reason.setdefault(finding.path_reason, []).append(finding.rule)
    return [f"Critical path not known for {', '.join(rules)}: {reason}." for reason, rules in by_reason.items()]
