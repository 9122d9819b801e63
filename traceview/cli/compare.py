"""Runs side by side: which is faster, whether that is more than noise, and what the difference consists of.

Every run is compared with the first, A (or with --baseline): how much slower or faster it is, how certain that is, what
most of it consists of, and which settings differ. Runs of any framework, format and device may be mixed; runs of
another model, batch, precision, passes or size of input are shown but not ranked. A run without steps is compared as a
whole recording, which is not ranked either. Recordings of one program differ by more than its steps do: give several of
each (--a, --b). The output of --format json holds everything a comparison needs, and can stand for a trace as an input
(its first run counts). `traceview baseline` keeps runs under a name for CI.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli import measured, values
from traceview.cli.options import add_gpu_option, add_machine_options, add_output_options, form_of, output_file
from traceview.cli.output import DEFAULT_LIMIT, emit, first_screen, say, sql_text
from traceview.cli.values import at_least, number
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.compare import Run
    from traceview.analysis.model import Check, Report

HELP = "compare runs: which is faster, how surely, and why"

EXAMPLES = """examples:
  traceview compare old.json.gz new.json.gz                        the difference, largest part first
  traceview compare torch-run tensorflow-run jax-run               any frameworks and formats
  traceview compare --a old1 old2 old3 old4 --b new1 new2 new3 new4  several recordings of each
  traceview compare old.txt new.txt --step 1-16                    only these steps
  traceview compare old new --nth-step 3                           the third step of each after warm-up
  traceview compare run1 run2 --accept batch                       rank although the batch differs
  traceview baseline save main run1 run2 run3 run4                 keep what CI compares with
  traceview compare --baseline main --b new1 new2 new3 new4 --fail-over 5%   exit code 1 if steps are 5 % slower
  traceview compare --baseline main --b new1 new2 new3 new4 --fail-over layer=10% --checks checks.xml

exit codes: 0 also where runs may not be ranked (the table says so); with --fail-over 1 if a run, or a part of its step,
takes more than that longer than A's and the difference is larger than the noise. A check that cannot tell (too few
steps or recordings, a part that A lacks, a busy machine, runs that may not be ranked) is named on stderr; with
--strict it fails.
"""

SIDES = ("a", "b")
PARTS = ("category", "layer", "kernel")
"""Parts of a step that can have a limit."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview compare`."""
    parser.add_argument(
        "inputs", nargs="*", metavar="INPUT", help="captures, traces (- is stdin) or saved comparisons; the first is A"
    )
    for name in SIDES:
        parser.add_argument(
            f"--{name}",
            nargs="+",
            default=[],
            metavar="INPUT",
            help=f"recordings of one program, as run {name.upper()}",
        )
    parser.add_argument(
        "--baseline", metavar="NAME", help="compare with this one: a baseline, a capture, a trace or a saved comparison"
    )
    parser.add_argument(
        "--fail-over",
        action="append",
        type=_limit,
        default=[],
        metavar="[PART=]PCT",
        help="exit code 1 if a run's step takes more than PCT longer than A's, or a layer, category or kernel of it "
        "(layer=10%%); may be repeated",
    )
    parser.add_argument(
        "--checks",
        action="append",
        type=output_file,
        default=[],
        metavar="FILE",
        help="also write what --fail-over found: JUnit (.xml) or a summary in Markdown (.md); may be repeated",
    )
    parser.add_argument(
        "--annotations", action="store_true", help="also print what --fail-over found as annotations of GitHub"
    )
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=("model", "batch", "precision", "passes", "work"),
        help="a condition that may differ; may be repeated",
    )
    parser.add_argument(
        "--step",
        type=_steps,
        metavar="N|FIRST-LAST",
        help="only the steps with these numbers (default: all but warm-up)",
    )
    parser.add_argument(
        "--nth-step", type=_place, metavar="N", help="only the Nth step of each run after warm-up, whatever its number"
    )
    add_output_options(parser)
    parser.add_argument(
        "--limit", type=values.limit, metavar="N", help=f"rows per section and run; 0 is all (tables: {DEFAULT_LIMIT})"
    )
    parser.add_argument("--all", action="store_true", help="all tables, not only what fills a screen of 40 lines")
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the comparison instead of running it")
    add_gpu_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; returns 1 where `--fail-over` says so, else 0."""
    from traceview.analysis import compare, reports

    if args.show_sql:
        emit([_sql()], args.output)
        return 0
    sides = _sides(args)
    form = form_of(args)
    if len(sides) < 2:
        raise UsageError(
            "one run is compared with nothing; name another, or a --baseline. `traceview baseline save` keeps one."
        )
    runs, whole = compare.measures(sides, partial(measured.run, args))
    report = compare.compare(runs, args.accept, whole)
    renderer = render.renderer(form)
    limit = DEFAULT_LIMIT if args.limit is None and renderer.FOR_PEOPLE else args.limit
    shown = compare.in_words(report) if renderer.FOR_PEOPLE else report
    if form == render.DEFAULT and args.limit is None and not args.all:
        shown = first_screen(shown, compare.cut_section)
    else:
        shown = reports.cut(shown, limit, compare.cut_section)
    if form == "json":
        from traceview.analysis.values import as_object

        text = json.dumps({**as_object(shown), "runs": compare.saved(runs)}, indent=1, allow_nan=False) + "\n"
    else:
        text = renderer.render_all([shown], bool(args.output))
    emit([text], args.output)
    return _checked(args, report, runs)


def _sides(args: argparse.Namespace) -> list[list[str]]:
    """The inputs of every run; several are recordings of the same."""
    if args.a and args.baseline:
        raise UsageError("--a and --baseline both name run A; leave one out.")
    if args.b and not (args.a or args.baseline):
        raise UsageError("--b is compared with --a or with a --baseline; name one.")
    if args.step and args.nth_step:
        raise UsageError("--step and --nth-step both choose steps; leave one out.")
    if (args.checks or args.annotations) and not args.fail_over:
        raise UsageError("--checks and --annotations say what --fail-over found; give a limit.")
    for file in args.checks:
        if file is None or Path(file).suffix.lower() not in (".xml", ".md"):
            raise UsageError(f"--checks writes FILE.xml or FILE.md, not {file or 'stdout'}.")
    base = [measured.of_baseline(args.baseline)] if args.baseline else args.a
    named = [base, args.b, *([path] for path in args.inputs)]
    sides = [side for side in named if side]
    if not sides:
        raise UsageError("name the runs to compare: traceview compare A B")
    return sides


def _sql() -> str:
    """Every query: first what measures each capture, then what compares the measures."""
    from traceview.analysis import compare
    from traceview.analysis.reports import Recipe

    plan = compare.plan()
    parts = (
        ("compare/window", plan.window),
        ("compare/facts", plan.facts),
        ("compare/views", plan.views),
        ("compare", plan.sections),
    )
    return "\n".join(sql_text(Recipe(name, "", "", queries), {}) for name, queries in parts)


def _checked(args: argparse.Namespace, report: Report, runs: Sequence[Run]) -> int:
    """Say and write what the limits found; returns the exit code."""
    if not args.fail_over:
        return 0
    from traceview.analysis import gates
    from traceview.render import checks

    found = gates.checks(report, runs, dict(args.fail_over))
    answer = " ".join(row[1] for row in report.sections[0].rows)
    for file in args.checks:
        write = checks.junit if Path(file).suffix.lower() == ".xml" else checks.summary
        emit([write(found, answer, args.strict)], file)
    for check in found:
        if check.outcome != "passed":
            say(checks.sentence(check))
        elif reservation := _reservation(check):
            say(reservation)
    if args.annotations:
        for line in checks.workflow_commands(found, args.strict):
            print(line, file=sys.stderr)
    return int(any(checks.fails(check, args.strict) for check in found))


def _reservation(check: Check) -> str:
    """Say what nobody checked of a step that passes, or that it cannot be told from noise; empty where it is sound."""
    is_open = "not checked" in check.reason or "cannot tell" in check.reason
    return f"{check.run} passes, but: {check.reason}" if is_open else ""


def _limit(text: str) -> tuple[str, float]:
    """Return the kind of part and its limit, of a text such as 5% or layer=10%."""
    kind, equals, share = text.rpartition("=")
    if equals and kind not in ("step", *PARTS):
        raise argparse.ArgumentTypeError(f"{kind!r} has no limit of its own; choose from step, {', '.join(PARTS)}")
    return kind or "step", values.percent(share)


def _steps(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    begin, end = number(first), number(last if "-" in text else first)
    if begin is None or end is None or begin > end or text.count("-") > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps; write for example 1-16")
    return begin, end


_place = at_least(1, "is not the place of a step after warm-up; use 1 or more")
