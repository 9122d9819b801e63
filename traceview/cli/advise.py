"""What to change in your framework, with the potential saving per step.

Every rule answers found, not found or cannot tell. A saving is an upper bound on the device time that the change would
free per step; overlapping work counts once within a rule. Two findings can be about the same time, so savings are never
added up. JSON and CSV hold the answer of every rule, found or not, in the same columns (see `status`).

With --what-if, prints the projected step time with some costs removed: what several of them share counts once, and
communication is modelled as a parameter server, a tree and a ring.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli.options import (
    INPUT_HELP,
    add_device_option,
    add_machine_options,
    add_output_options,
    form_of,
    opened,
    params_of,
    percent,
)
from traceview.cli.output import emit, say, sql_text
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.model import Finding, Report, Section

HELP = "what to change in your framework, with the potential saving"

EXAMPLES = """examples:
  traceview advise trace.json.gz                          every problem found, the largest saving first
  traceview advise run1 --evidence                        with the kernels, copies and operators behind each
  traceview advise run1 pageable_copies --show-sql        the query behind a rule, ready for `traceview sql`
  traceview advise run1 --set layout_conv_pct=5           with another threshold
  traceview advise run1 --all                             and the rules that the trace has not enough data for
  traceview advise run1 --what-if layout,firstlayer       projected step time with these costs removed
  traceview advise run1 --fail-over 5%                    exit code 1 if a finding could save more than 5 % of a step

`traceview list advice` names every rule.
"""

AT_LEAST_PCT = 0.5
MEANINGS = {
    "rule": "name of the rule",
    "title": "the problem",
    "status": "found, not found or cannot tell",
    "reason": "which data is missing, or that the saving is too small to matter",
    "problem": "what was found",
    "place": "where",
    "rank": "process that loses most time to it",
    "n_ranks": "number of processes that have it",
    "saving_ns": "potential saving (upper bound), per step, or once per run where run_ns is given",
    "step_ns": "step time of that process; the whole recording if there are no steps",
    "saving_pct": "percentage of step_ns, or of run_ns",
    "confidence": "how certain this is, and why",
    "evidence": "kernels, copies, operators or settings that show it",
    "fix": "what to change, in the framework of the trace",
    "why": "what is lost and how the change avoids it",
    "cost": "trade-offs: memory, accuracy, determinism",
    "unless": "do not apply the change if this holds",
    "run_ns": "time of the whole recording, for what occurs once per run and in no step that counts",
    "record": "what one would have to record, where it cannot be told",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview advise`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("names", nargs="*", metavar="RULE", help="rules (default: all)")
    add_output_options(parser)
    parser.add_argument(
        "--all", action="store_true", help="also list every rule that the trace has not enough data for"
    )
    parser.add_argument(
        "--evidence", action="store_true", help="show the kernels, copies and operators behind each finding"
    )
    parser.add_argument(
        "--set", dest="params", action="append", default=[], metavar="NAME=VALUE", help="a threshold (see --show-sql)"
    )
    parser.add_argument(
        "--at-least",
        type=percent,
        default=AT_LEAST_PCT,
        metavar="PCT",
        help=f"leave out findings that could save less of the step (default: {AT_LEAST_PCT}%%)",
    )
    parser.add_argument(
        "--fail-over",
        type=percent,
        metavar="PCT",
        help="exit code 1 if a finding could save more than PCT of the step (once per run: of the recording)",
    )
    parser.add_argument(
        "--what-if", metavar="COSTS", help="projected step time with these costs removed (comma-separated)"
    )
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the rules instead of running them")
    add_device_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the rules and print the answers; returns 1 where `--fail-over` says so, else 0."""
    from traceview.analysis import advice, reports

    if args.what_if is not None:
        return _what_if(args)
    rules = advice.load(list(dict.fromkeys(args.names)))
    recipe = reports.Recipe("advice", "", "", tuple(rules))
    params = params_of(args.params, [recipe])
    if args.show_sql:
        emit([sql_text(recipe, params)], args.output)
        return 0
    with opened(args, advice.asked(rules) + reports.asked([])) as connection:
        findings = advice.run(connection, rules, params, args.at_least)
        footer = (*advice.explained(connection), *reports.footer(connection))
    renderer = render.renderer(form_of(args))
    report = for_people(findings, footer, args.evidence, args.all) if renderer.FOR_PEOPLE else exact(findings, footer)
    emit([renderer.render_all([report], bool(args.output))], args.output)
    return _exit_code(findings, args.fail_over)


def _what_if(args: argparse.Namespace) -> int:
    """The step with some costs removed; returns 0. Raises `UsageError` for an unknown cost."""
    from traceview.analysis import advice, reports

    if args.names or args.evidence or args.fail_over is not None:
        raise UsageError("--what-if cannot be combined with rules, --evidence or --fail-over.")
    costs = advice.costs(args.what_if)
    options = [cost for cost in costs if cost == "communication"]
    recipe = reports.load("whatif", options)
    params = params_of(args.params, [recipe]) | {"costs": ",".join(costs)}
    if args.show_sql:
        emit([sql_text(recipe, params)], args.output)
        return 0
    with opened(args, reports.asked([recipe])) as connection:
        done = reports.run(connection, recipe.name, params, options)
    emit([render.renderer(form_of(args)).render_all([done], bool(args.output))], args.output)
    return 0


def exact(findings: Sequence[Finding], footer: tuple[str, ...]) -> Report:
    """Every answer of every rule, for a program."""
    rows = tuple(
        tuple(list(value) if isinstance(value, tuple) else value for value in astuple(finding)) for finding in findings
    )
    return _report((_section("answers", "Answers", "One row per rule.", tuple(MEANINGS), rows),), footer)


def for_people(
    findings: Sequence[Finding], footer: tuple[str, ...], with_evidence: bool, with_all: bool = False
) -> Report:
    """What was found, then each finding in words, then what cannot be told (in one line, or all) or was not found."""
    found = [finding for finding in findings if finding.status == "found"]
    rows = tuple(
        (f.rule, f.title, f.saving_ns, f.saving_pct, _of(f), re.split(r"\W", f.confidence, maxsplit=1)[0])
        for f in found
    )
    columns = ("rule", "title", "saving_ns", "saving_pct", "of", "confidence")
    summary = _section("found", "What to change", _denominator(found), columns, rows, "No problem found.")
    details = [_detail(finding, with_evidence) for finding in found]
    unknown = [f for f in findings if f.status == "cannot tell"]
    lacking = tuple((f.rule, f.reason) for f in unknown)
    tail = [_section("unknown", "Not enough data", "", ("rule", "reason"), lacking)] if unknown and with_all else []
    absent = [f.rule + (f" ({f.reason})" if f.reason else "") for f in findings if f.status == "not found"]
    lines = [] if with_all or not unknown else [_not_enough(unknown)]
    lines += [f"Checked, no problem: {', '.join(absent)}."] if absent else []
    return _report((summary, *details, *tail), (*lines, *footer))


def _of(finding: Finding) -> str:
    """What the saving is a share of."""
    return "the run, once" if finding.run_ns is not None else "the step"


def _not_enough(unknown: Sequence[Finding]) -> str:
    """One line on the rules that cannot tell, by what one would have to record, what most of them lack first."""
    groups = Counter(finding.record for finding in unknown).most_common()
    told = "; ".join(f"{record} ({count})" for record, count in groups)
    return f"Not enough data for {len(unknown)} rules; they need {told}. --all lists them."


def _denominator(found: Sequence[Finding]) -> str:
    times = sorted({f.step_ns for f in found if f.step_ns})
    once = (
        "What occurs once per run is a share of the recording and of no step. " if any(f.run_ns for f in found) else ""
    )
    if not times:
        return once.rstrip()
    text = " to ".join(f"{time / 1e6:,.3f} ms" for time in dict.fromkeys((times[0], times[-1])))
    return (
        f"Potential saving (upper bound) in device time, per step and in percent of the step time ({text}); "
        f"without steps the whole recording counts as one. {once}Findings can overlap: do not add them up."
    )


def _detail(finding: Finding, with_evidence: bool) -> Section:
    where = f" {finding.place}." if finding.place else ""
    ranks = f" {finding.n_ranks} ranks have this; rank {finding.rank} loses most." if finding.n_ranks > 1 else ""
    doc = (
        f"{finding.problem}{where}{ranks} {finding.why} Trade-offs: {finding.cost} Do not apply if: {finding.unless} "
        f"Confidence: {finding.confidence}."
    )
    rows = tuple((line,) for line in finding.evidence) if with_evidence else ()
    section = _section(finding.rule, finding.title, doc, ("evidence",), rows)
    return _noted(section, f"Change: {finding.fix}")


def _noted(section: Section, note: str) -> Section:
    from dataclasses import replace

    return replace(section, note=note)


def _report(sections: tuple[Section, ...], footer: tuple[str, ...]) -> Report:
    from traceview.analysis.model import Report

    return Report("advice", "Advice", "", sections, footer)


def _section(
    name: str, title: str, doc: str, columns: Sequence[str], rows: tuple[tuple[object, ...], ...], if_none: str = ""
) -> Section:
    from traceview.analysis.model import Column, Section

    types = {"evidence": "VARCHAR[]", "saving_pct": "DOUBLE"} | dict.fromkeys(
        ("rank", "n_ranks", "saving_ns", "step_ns", "run_ns"), "BIGINT"
    )
    meanings = {**MEANINGS, "of": "what saving_pct is a share of"}
    shape = tuple(Column(column, types.get(column, "VARCHAR"), meanings[column]) for column in columns)
    return Section(name, title, doc, shape, rows, None if rows else if_none or None, "")


def _exit_code(findings: Sequence[Finding], limit: float | None) -> int:
    if limit is None:
        return 0
    over = [f for f in findings if f.status == "found" and f.saving_pct is not None and f.saving_pct > limit]
    for finding in over:
        of = "the step" if finding.run_ns is None else "the recording, once per run"
        say(f"{finding.rule} could save {finding.saving_pct:.1f} % of {of}")
    return 1 if over else 0
