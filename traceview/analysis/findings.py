"""Findings of the advice rules as a report: every answer for a program, or what matters in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace

import duckdb

from traceview import sql
from traceview.analysis import advice, advice_path, certainty, experiment, reports
from traceview.analysis.model import Column, Finding, Report, Section
from traceview.paths import content
from traceview.store import learned

MEANINGS = {
    "rule": "name of the rule",
    "title": "the problem",
    "status": "found, not found or cannot tell",
    "reason": "which data is missing, or that the saving is too small to matter",
    "problem": "what was found",
    "place": "where",
    "rank": "process that loses most time to it",
    "n_ranks": "number of processes that have it",
    "saving_ns": "potential saving (upper bound), by the critical path where it is known; per step, or once per run "
    "where run_ns is given",
    "work_ns": "bound of the rule itself, before the critical path was asked: at least saving_ns",
    "step_ns": "step time of that process; the whole recording if there are no steps",
    "saving_pct": "percentage of step_ns, or of run_ns",
    "confidence": "how certain this is, and why",
    "evidence": "kernels, copies, operators or settings that show it",
    "fix": "what to change, in the framework of the trace",
    "why": "what is lost and how the change avoids it",
    "cost": "trade-offs: memory, accuracy, determinism",
    "unless": "do not apply the change if this holds",
    "run_ns": "time of the whole recording, for what occurs once per run and in no step that counts",
    "record": "what one would have to record, where there is not enough data",
    "of": "what saving_pct is a share of: the step, the recording (where there are no steps), or the run, once",
    "path": "on the critical path, not on the critical path or not known; empty where nothing recurring was found",
    "path_saving_ns": "potential saving by the critical path: saving_ns, where the path is known",
    "path_slack_ns": "of what is not on the path, how much longer it could take before the step does",
    "path_reason": "why the critical path is not known",
}
MEASURED = {
    "measured_runs": (
        "BIGINT",
        "runs of tune at hand, of this framework on this kind of device, that measured an option of this rule; null "
        "where the rule found no saving, or no run measured any",
    ),
    "measured_reached": ("BIGINT", "in how many of measured_runs the saving was reached within measured_factor"),
    "measured_factor": ("DOUBLE", "reached is a saving that is at most so many times as small as the upper bound"),
    "measured_saving_pct": (
        "DOUBLE",
        "percentage of the upper bound that the best option saved, median of measured_runs; negative: it was slower",
    ),
    "measured_screened": ("BIGINT", "how many of measured_runs rest on screening alone, without final pairs"),
    "measured_elsewhere": (
        "BIGINT",
        "runs of tune at hand that measured an option of this rule with another framework or kind of device: left out",
    ),
}
"""Columns of what `tune` measured: type and meaning."""

NO_ANSWER = "No answer: the rules need data that this trace does not hold."


def run(
    connection: duckdb.DuckDBPyConnection, rules: Sequence[sql.Query], params: Mapping[str, str], at_least_pct: float
) -> tuple[list[Finding], tuple[str, ...]]:
    """The answer of every rule, and the lines under all of them: how much of the idle time is explained, the input."""
    return advice_path.run(connection, rules, params, at_least_pct), footer(connection)


def footer(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """The lines under all answers."""
    return (
        *experiment.said(connection, content("queries")),
        *advice.explained(connection),
        *reports.footer(connection),
    )


def exact(findings: Sequence[Finding], footer: tuple[str, ...], place: learned.Place | None = None) -> Report:
    """Every answer of every rule, for a program, with what tune measured on what the trace ran on."""
    rows = tuple(
        (
            *(list(value) if isinstance(value, tuple) else value for value in astuple(finding)),
            *_measured(finding, place),
        )
        for finding in findings
    )
    return _report((_section("answers", "Answers", "One row per rule.", (*MEANINGS, *MEASURED), rows),), footer)


def _measured(finding: Finding, place: learned.Place | None) -> tuple[float | None, ...]:
    """The values of MEASURED."""
    is_bound = finding.status == advice.FOUND and finding.saving_ns
    found = learned.measured(finding.rule, place) if place and is_bound else None
    if found is None:
        return (None,) * len(MEASURED)
    if not found.trials:
        return (0, None, None, None, None, len(found.others))
    runs = (len(found.trials), found.reached, learned.WITHIN, 100 * found.share, found.screened)
    return (*runs, len(found.others))


def for_people(
    findings: Sequence[Finding],
    footer: tuple[str, ...],
    with_evidence: bool = False,
    with_all: bool = False,
    place: learned.Place | None = None,
) -> Report:
    """Report the findings in words, then what lacks data (in one line, or all), then what is not a problem.

    `place`: what the trace ran on, so that what tune measured on such is told with each finding."""
    found = [finding for finding in findings if finding.status == "found"]
    rows: tuple[tuple[object, ...], ...] = tuple(
        (f.rule, f.title, f.saving_ns, f.saving_pct, f.of, certainty.level(f)) for f in found
    )
    columns = ("rule", "title", "saving_ns", "saving_pct", "of", "confidence")
    none = "No problem found." if any(f.status == "not found" for f in findings) else NO_ANSWER
    summary = _section("found", "What to change", _denominator(found), columns, rows, none)
    details = [_detail(finding, with_evidence, place) for finding in found]
    unknown = [f for f in findings if f.status == "cannot tell"]
    lacking = tuple((f.rule, f.reason) for f in unknown)
    tail = [_section("unknown", "Not enough data", "", ("rule", "reason"), lacking)] if unknown and with_all else []
    absent = [f.rule + (f" ({f.reason})" if f.reason else "") for f in findings if f.status == "not found"]
    lines = [] if with_all or not unknown else [_not_enough(unknown)]
    lines += [f"Checked, no problem: {', '.join(absent)}."] if absent else []
    return _report((summary, *details, *tail), (*lines, *advice_path.reasons(found), *footer))


def _not_enough(unknown: Sequence[Finding]) -> str:
    """One line on the rules that cannot tell, by what one would have to record, what most of them lack first."""
    groups = Counter(finding.record for finding in unknown).most_common()
    told = "; ".join(f"{record} ({count})" for record, count in groups)
    return f"Not enough data for {len(unknown)} rules; they need {told}. --all lists them."


def _denominator(found: Sequence[Finding]) -> str:
    times = sorted({f.step_ns for f in found if f.step_ns})
    has_steps = any(f.of == "the step" for f in found)
    once = (
        "What occurs once per run is a share of the recording and of no step. " if any(f.run_ns for f in found) else ""
    )
    if not times:
        return once.rstrip()
    text = " to ".join(f"{time / 1e6:,.3f} ms" for time in dict.fromkeys((times[0], times[-1])))
    what = (
        f"per step and in percent of the step time ({text})"
        if has_steps
        else f"in the whole recording, which has no steps, and in percent of it ({text}, start-up included)"
    )
    return f"Potential saving (upper bound) in device time, {what}. {once}Findings can overlap: do not add them up."


def _detail(finding: Finding, with_evidence: bool, place: learned.Place | None) -> Section:
    where = f" {finding.place}." if finding.place else ""
    ranks = f" {finding.n_ranks} ranks have this; rank {finding.rank} loses most." if finding.n_ranks > 1 else ""
    doc = (
        f"{finding.problem}{where}{ranks} {finding.why} Trade-offs: {finding.cost} Do not apply if: {finding.unless} "
        f"Confidence: {finding.confidence}."
    )
    told = certainty.told(finding)
    doc += f" {told}" if told else ""
    measured = learned.measured(finding.rule, place) if place and finding.saving_ns else None
    doc += f" {measured}" if measured else ""
    rows = tuple((line,) for line in finding.evidence) if with_evidence else ()
    section = _section(finding.rule, finding.title, doc, ("evidence",), rows)
    return _noted(section, f"Change: {finding.fix}")


def _noted(section: Section, note: str) -> Section:
    return replace(section, note=note)


def _report(sections: tuple[Section, ...], footer: tuple[str, ...]) -> Report:
    return Report("advice", "Advice", "", sections, footer)


def _section(
    name: str, title: str, doc: str, columns: Sequence[str], rows: tuple[tuple[object, ...], ...], if_none: str = ""
) -> Section:
    types = {"evidence": "VARCHAR[]", "saving_pct": "DOUBLE"} | dict.fromkeys(
        ("rank", "n_ranks", "saving_ns", "work_ns", "step_ns", "run_ns", "path_saving_ns", "path_slack_ns"), "BIGINT"
    )
    known = {name: (types.get(name, "VARCHAR"), meaning) for name, meaning in MEANINGS.items()} | MEASURED
    shape = tuple(Column(column, *known[column]) for column in columns)
    return Section(name, title, doc, shape, rows, None if rows else if_none or None, "")
