"""Writes one HTML page of a trace: charts, advice and a timeline, in one file that opens offline and can be mailed.

The file holds everything the page shows and loads nothing from elsewhere. All but the timeline works without
JavaScript. The timeline shows one median step unless --step or --steps says otherwise; where steps are small, others
can be chosen in it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.cli.options import INPUT_HELP, add_capture_option, add_machine_options, extension, opened
from traceview.cli.output import emit
from traceview.cli.values import at_least
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.compare import Run
    from traceview.analysis.model import Report

HELP = "write one HTML page: charts, advice and a timeline"

EXAMPLES = """examples:
  traceview page trace.json.gz                    writes trace.html
  traceview page run1 -o run1.html --steps all    the timeline of the whole recording
  traceview page before --compare after           runs on one scale, and what differs
  traceview page run1 --events 100000             a smaller file: the longest slices only
"""

MOST = 1_000_000


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview page`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: the name of INPUT with .html, here; - is stdout"
    )
    parser.add_argument("--step", type=_step, metavar="N", help="step of the timeline (default: a median one)")
    parser.add_argument(
        "--steps", type=_steps, metavar="N|all", help="steps of the timeline, around that one (default: it alone)"
    )
    parser.add_argument(
        "--events", type=_events, default=MOST, metavar="N", help=f"most slices in the timeline (default: {MOST:,})"
    )
    parser.add_argument(
        "--compare", metavar="OTHER", action="append", default=[],
        help="another run, compared with INPUT at the top of the page; again for more runs",
    )  # fmt: skip
    add_capture_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file and print its name; returns 0."""
    target = args.output or f"{_stem(Path(args.input))}.html"
    if target != "-":
        extension(target, (".htm", ".html"))
    if args.output is None and Path(target).exists() and not _is_ours(Path(target)):
        raise UsageError(f"{target} exists and is not a page of traceview; choose a name with -o.")
    from traceview import __version__
    from traceview.analysis import page
    from traceview.render.page import render

    title = _stem(Path(args.input))
    first: tuple[Report, ...] = ()
    if args.compare:
        title = ", ".join([title, *(_stem(Path(path)) for path in args.compare)])
        first = (_compared(args),)
    with opened(args) as connection:
        text = render(page.gather(connection, title, args.events, args.step, args.steps, first), __version__)
    emit([text], None if target == "-" else target)
    if target != "-":
        emit([f"{target}\n"], None)
    return 0


def _compared(args: argparse.Namespace) -> Report:
    """Compare the runs, as people read it."""
    from traceview.analysis import compare

    def measured(path: str, whole: bool) -> Run:
        with opened(args, path) as connection:
            whole = whole or not compare.has_steps(connection)
            return compare.measure(connection, Path(path).name, None, whole)

    runs, whole = compare.measures([[path] for path in (args.input, *args.compare)], measured)
    return compare.in_words(compare.compare(runs, (), whole))


def _stem(path: Path) -> str:
    return path.resolve().name.split(".")[0] or "trace"


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        return b'name="generator" content="traceview' in file.read(4096)


def _steps(text: str) -> int | str:
    return text if text == "all" else _counted(text)


_step = at_least(0, "is not a step: write its number")
_counted = at_least(1, "is not a number of steps; use 1 or more, or all")
_events = at_least(1, "is not a number of slices; use 1 or more")
