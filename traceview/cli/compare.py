"""Runs side by side: which is faster, whether that is more than noise, and what the difference consists of.

Every run is compared with the first, A (or with --baseline): how much slower or faster it is, how certain that is, what
most of it consists of, and which settings differ. Runs of any framework, format and device may be mixed; runs of
another model, batch, precision or passes are shown but not ranked. A run without steps is compared as a whole
recording, which is not ranked either. Recordings of one program differ by more than its steps do: give several of each
(--a, --b). The output of --format json holds everything a comparison needs. It can stand for a trace as an input (its
first run counts), and is small enough to keep for CI.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview import render
from traceview.cli import values
from traceview.cli.options import (
    add_device_option,
    add_machine_options,
    add_output_options,
    form_of,
    opened,
)
from traceview.cli.output import DEFAULT_LIMIT, emit, say, sql_text
from traceview.cli.values import at_least, number
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.compare import Run
    from traceview.analysis.model import Report

HELP = "compare runs: which is faster, how surely, and why"

EXAMPLES = """examples:
  traceview compare old.json.gz new.json.gz                        the difference, largest part first
  traceview compare torch-run tensorflow-run jax-run               any frameworks and formats
  traceview compare --a old1 old2 old3 old4 --b new1 new2 new3 new4  several recordings of each
  traceview compare old.txt new.txt --steps 1-16                   only these steps
  traceview compare old new --step 3                               the third step of each after warm-up
  traceview compare run1 run2 --accept batch                       rank although the batch differs
  traceview compare run1 --format json -o baseline.json            keep what CI compares with
  traceview compare run2 --baseline baseline.json --fail-over 5%   exit code 1 if steps take more than 5 % longer

exit codes: 0 also where runs may not be ranked (the table says so); with --fail-over 1 if a run is slower than A by
more than that and the difference is larger than the noise (or there are too few steps to tell), and 1 if it may not be
ranked with A, because then the check cannot be made. A run that passes although a condition could not be checked is
named on stderr.
"""

SIDES = ("a", "b")
BEGINNING = 1 << 16
"""Bytes of a file in which a saved comparison says that it is one."""


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
        "--baseline", metavar="FILE", help="compare with this one: a capture, a trace or a saved comparison"
    )
    parser.add_argument(
        "--fail-over",
        type=values.percent,
        metavar="PCT",
        help="exit code 1 if a run's step takes more than PCT longer than A's",
    )
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        choices=("model", "batch", "precision", "passes"),
        help="a condition that may differ; may be repeated",
    )
    parser.add_argument(
        "--steps", type=_steps, metavar="FIRST-LAST", help="only these steps (default: all but warm-up)"
    )
    parser.add_argument(
        "--step", type=_place, metavar="N", help="only the Nth step of each run after warm-up, whatever its number"
    )
    add_output_options(parser)
    parser.add_argument(
        "--limit", type=values.limit, metavar="N", help=f"rows per section and run; 0 is all (tables: {DEFAULT_LIMIT})"
    )
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the comparison instead of running it")
    add_device_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compare and print; returns 1 where `--fail-over` says so, else 0."""
    from traceview.analysis import compare

    if args.show_sql:
        emit([_sql()], args.output)
        return 0
    sides = _sides(args)
    form = form_of(args)
    if len(sides) < 2 and form != "json":
        raise UsageError(
            "one run is compared with nothing; name another, or a --baseline. --format json keeps one for later."
        )
    runs, whole = compare.measures(sides, partial(_run, args))
    report = compare.compare(runs, args.accept, whole)
    renderer = render.renderer(form)
    limit = DEFAULT_LIMIT if args.limit is None and renderer.FOR_PEOPLE else args.limit
    shown = compare.cut(compare.said(report) if renderer.FOR_PEOPLE else report, limit)
    if form == "json":
        from traceview.analysis.values import as_object

        text = json.dumps({**as_object(shown), "runs": compare.saved(runs)}, indent=1, allow_nan=False) + "\n"
    else:
        text = renderer.render_all([shown], bool(args.output))
    emit([text], args.output)
    return _exit_code(report, args.fail_over)


def _sides(args: argparse.Namespace) -> list[list[str]]:
    """The inputs of every run; several are recordings of the same."""
    if args.a and args.baseline:
        raise UsageError("--a and --baseline both name run A; leave one out.")
    if args.b and not (args.a or args.baseline):
        raise UsageError("--b is compared with --a or with a --baseline; name one.")
    if args.step and args.steps:
        raise UsageError("--step and --steps both choose steps; leave one out.")
    named = [[args.baseline] if args.baseline else args.a, args.b, *([path] for path in args.inputs)]
    sides = [side for side in named if side]
    if not sides:
        raise UsageError("name the runs to compare: traceview compare A B")
    if args.fail_over is not None and len(sides) < 2:
        raise UsageError("--fail-over compares two runs; name another, or a --baseline.")
    return sides


def _run(args: argparse.Namespace, path: str, whole: bool) -> Run:
    from traceview.analysis import compare

    data = _saved(path)
    if data is not None:
        found = compare.restored(data, path)
        if whole and found.has_steps:
            raise UsageError(f"{path} holds times per step, and another input has no steps to compare them with.")
        if args.steps or args.step:
            raise UsageError(f"--step and --steps need traces or captures; {path} is a saved comparison.")
        return found
    with opened(args, path) as connection:
        whole = whole or not compare.has_steps(connection)
        return compare.measure(connection, Path(path).name, args.steps, whole, args.step)


def _saved(path: str) -> Any:
    """The runs in a saved comparison; None where the file is something else."""
    file = Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        if b'"report": "compare"' not in stream.read(BEGINNING):
            return None
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return []
    return (found.get("runs") if isinstance(found, dict) else None) or []


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


FEW = "(few steps)"
"""End of a verdict that rests on so few steps that noise explains nearly anything."""


def _exit_code(report: Report, limit: float | None) -> int:
    if limit is None:
        return 0
    section = next(section for section in report.sections if section.name == "ranking")
    names = [column.name for column in section.columns]
    rows = [dict(zip(names, row, strict=True)) for row in section.rows[1:]]
    failures = [reason for row in rows if (reason := _failure(row, limit))]
    for reason in failures or [reason for row in rows if (reason := _reservation(row))]:
        say(reason)
    return 1 if failures else 0


def _reservation(row: dict[str, Any]) -> str:
    """Say what nobody checked of a run that passes, or that it cannot be told from noise; empty where it is sound."""
    verdict = row["verdict"]
    return f"{row['run']} passes, but: {verdict}" if "not checked" in verdict or "cannot tell" in verdict else ""


def _failure(row: dict[str, Any], limit: float) -> str:
    """Why a run does not pass; empty where it does."""
    if row["place"] is None:
        return f"{row['run']} cannot be checked: {row['verdict']}"
    is_noise = row["verdict"].startswith("within the noise")
    if row["ratio"] is None or 100 * (row["ratio"] - 1) <= limit or (is_noise and FEW not in row["verdict"]):
        return ""
    return f"a step of {row['run']} takes {100 * (row['ratio'] - 1):.1f} % longer than one of A ({row['verdict']})"


def _steps(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    begin, end = number(first), number(last if "-" in text else first)
    if begin is None or end is None or begin > end or text.count("-") > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of steps; write for example 1-16")
    return begin, end


_place = at_least(1, "is not the place of a step after warm-up; use 1 or more")
