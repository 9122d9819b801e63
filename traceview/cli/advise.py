"""Finds changes worth making in your framework, with the potential saving per step.

Every rule answers found, not found or cannot tell. A saving is an upper bound on the device time that the change would
free per step; overlapping work counts once within a rule. Two findings can cover the same time, so savings are never
added up. JSON and CSV hold the answer of every rule, found or not, in the same columns (see `status`).

With --what-if, prints the projected step time with some costs removed: time that several of them share counts once,
and communication is modelled as a parameter server, a tree and a ring.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traceview import render
from traceview.analysis.model import AT_LEAST_PCT
from traceview.cli import names as known
from traceview.cli import values
from traceview.cli.options import (
    INPUT_HELP,
    add_capture_option,
    add_gpu_option,
    add_machine_options,
    add_output_options,
    add_rank_option,
    add_set_option,
    converted,
    form_of,
    opened,
)
from traceview.cli.output import emit, say, sql_text
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.model import Finding

HELP = "say what to change in your framework, with the potential saving"

EXAMPLES = """examples:
  traceview advise trace.json.gz                          every problem found, the largest saving first
  traceview advise run1 --evidence                        with the kernels, copies and operators behind each
  traceview advise run1 pageable_copies --show-sql        the query behind a rule, ready for `traceview sql`
  traceview advise run1 --set layout_conv_pct=5           with another threshold
  traceview advise run1 --all                             also the rules for which the trace lacks data
  traceview advise run1 --what-if layout,firstlayer       projected step time with these costs removed
  traceview advise run1 --fail-over 5%                    exit code 1 if a finding could save more than 5 % of a step

`traceview list advice` names every rule.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview advise`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    names = parser.add_argument("names", nargs="*", metavar="RULE", help="rules (default: all)")
    known.completed(names, "analysis.advice")
    add_output_options(parser)
    parser.add_argument("--all", action="store_true", help="also list the rules for which the trace lacks data")
    parser.add_argument(
        "--evidence", action="store_true", help="all of each finding, and the kernels, copies and operators behind it"
    )
    add_set_option(parser, "a threshold")
    parser.add_argument(
        "--at-least",
        type=values.percent,
        default=AT_LEAST_PCT,
        metavar="PCT",
        help=f"leave out findings that could save less of the step, or of the recording (default: {AT_LEAST_PCT}%%)",
    )
    parser.add_argument(
        "--fail-over",
        type=values.percent,
        metavar="PCT",
        help="exit code 1 if a finding could save more than PCT of the step (of the recording, if a share of that)",
    )
    parser.add_argument(
        "--what-if", metavar="COSTS", help="projected step time with these costs removed (comma-separated)"
    )
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the rules instead of running them")
    add_rank_option(parser)
    add_gpu_option(parser)
    add_capture_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the rules and print the answers; returns 1 where `--fail-over` says so, else 0."""
    from traceview.analysis import advice, findings, reports

    if args.what_if is not None:
        return _what_if(args)
    rules = advice.load(list(dict.fromkeys(args.names)))
    recipe = reports.Recipe("advice", "", "", tuple(rules))
    params = reports.texts(dict(args.params), [recipe])
    if args.show_sql:
        emit([sql_text(recipe, params)], args.output)
        return 0
    is_remembered = args.gpu is None and not args.ranks
    may_know = is_remembered and findings.is_usual(rules, params, args.at_least)
    with converted(args) as (folder, connect):
        answers = findings.remembered(folder) if may_know else None
        answers = answers or findings.run(connect(), rules, params, args.at_least, is_remembered)
        renderer = render.renderer(form_of(args))
        is_plain = renderer.FOR_PEOPLE
        report = findings.for_people(answers, args.evidence, args.all) if is_plain else findings.exact(answers)
        emit([renderer.render_all([reports.for_trace(report, args.input)], bool(args.output))], args.output)
    return _exit_code(answers.findings, args.fail_over)


def _what_if(args: argparse.Namespace) -> int:
    """The step with some costs removed; returns 0. Raises `UsageError` for an unknown cost."""
    from traceview.analysis import advice, reports

    if args.names or args.evidence or args.fail_over is not None:
        raise UsageError("--what-if cannot be combined with rules, --evidence or --fail-over.")
    costs = advice.costs(args.what_if)
    options = [cost for cost in costs if cost == "communication"]
    recipe = reports.load("whatif", options)
    params = reports.texts(dict(args.params), [recipe]) | {"costs": ",".join(costs)}
    if args.show_sql:
        emit([sql_text(recipe, params)], args.output)
        return 0
    with opened(args) as connection:
        done = reports.run(connection, recipe.name, params, options)
    emit([render.renderer(form_of(args)).render_all([done], bool(args.output))], args.output)
    return 0


def _exit_code(findings: Sequence[Finding], limit: float | None) -> int:
    if limit is None:
        return 0
    over = [f for f in findings if f.status == "found" and (f.saving_pct or 0) > limit]
    for finding in over:
        say(f"{finding.rule} could save {finding.saving_pct:.1f} % of {finding.of}")
    return 1 if over else 0
