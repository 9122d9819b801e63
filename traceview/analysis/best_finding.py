"""Which finding of advice could save most, worked out by running every rule, as the row of a section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from traceview.analysis import advice, advice_path, certainty
from traceview.analysis.model import AT_LEAST_PCT, TRACE, Finding


def run(connection: duckdb.DuckDBPyConnection) -> list[Finding]:
    """The answer of every rule."""
    return advice_path.run(connection, advice.load(), at_least_pct=AT_LEAST_PCT)


def row(connection: duckdb.DuckDBPyConnection, findings: Sequence[Finding]) -> tuple[Any, ...]:
    """The best of these answers, or that there is none, in the columns of the section."""
    found = [finding for finding in findings if finding.status == advice.FOUND]
    has_steps = bool(connection.execute("FROM scope WHERE has_steps LIMIT 1").fetchall())
    return _best(found, has_steps) if found else _none(findings)


def _best(found: Sequence[Finding], has_steps: bool) -> tuple[Any, ...]:
    best, rest = found[0], [finding.rule for finding in found[1:]]
    if certainty.level(best) == certainty.LOW:
        rules = ", ".join(finding.rule for finding in found)
        told = f"No finding is more than a guess. Of low confidence: {rules}"
        return (told, None, None, None, None, None, None, f"traceview advise {TRACE} --evidence", None)
    others = f"{len(rest)} more finding{'' if len(rest) == 1 else 's'}: {', '.join(rest)}" if rest else None
    is_off = best.path == certainty.OFF
    return (
        f"Best finding: {best.title}" + (f" ({certainty.OFF})" if is_off else ""),
        best.rule,
        None if is_off else best.saving_ns,
        _per(best, has_steps),
        None if is_off else best.saving_pct,
        certainty.level(best),
        f"Change: {best.fix}",
        f"traceview advise {TRACE} {best.rule}",
        others,
    )


def _per(best: Finding, has_steps: bool) -> str:
    """Say what the saving is per; of several ranks it is that of the one that loses most."""
    if best.run_ns is not None:
        return "once per run"
    of = f" of rank {best.rank}" if best.n_ranks > 1 else ""
    return f"per step{of}" if has_steps else f"in the recording{of}"


def _none(findings: Sequence[Finding]) -> tuple[Any, ...]:
    unknown = sum(finding.status == advice.CANNOT_TELL for finding in findings)
    checked = len(findings) - unknown
    told = f"No problem found by {checked} rule{'' if checked == 1 else 's'} of advice"
    if unknown:
        told += f"; {unknown} need data that this trace does not hold"
    if not checked:
        told = f"No advice: all {unknown} rules need data that this trace does not hold"
    return (
        f"{told}.",
        None,
        None,
        None,
        None,
        None,
        None,
        f"traceview advise {TRACE} --all" if unknown else None,
        None,
    )
