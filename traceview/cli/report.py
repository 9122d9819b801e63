"""Shows where the time went: one report per question, the overview if none is named.

Every report ends with what could not be attributed. Tables and Markdown show scaled times and sizes, short names of
kernels and at most --limit rows per section. On a narrow terminal a table leaves out some columns and names them. JSON
and CSV hold all rows, columns, names and exact values, in the unit that the column name ends with (`_ns`,
`_bytes`, `_pct`). JSON also explains every column, and what each percentage is a share of.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING

from traceview import render
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
)
from traceview.cli.output import DEFAULT_LIMIT, emit, first_screen, sql_text
from traceview.errors import UsageError
from traceview.lazy import duckdb

if TYPE_CHECKING:
    from traceview.analysis.model import Report, Section

HELP = "show where the time went, as tables, JSON, CSV or Markdown"

EXAMPLES = """examples:
  traceview report trace.json.gz                            the overview
  traceview report trace.json.gz conv layers                two reports
  traceview report run1 kernels --limit 0                   every row
  traceview report job kernels --rank 3,7                   only two of its ranks
  traceview report run1 kernels --full-names                kernel names as recorded
  traceview report run1 conv --admissible                   with what each layer could have used
  traceview report run1 modules --depth 3                   time of the tree of modules
  traceview report run1 --format json -o overview.json      exact numbers for a program
  traceview report run1 conv --show-sql                     the queries behind a report, ready for `traceview sql`

`traceview list reports` names every report. With --format json one name gives an object, several give an array. With
--format csv, each section of a report with several starts with the line `# section: NAME`, after an empty line.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview report`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    names = parser.add_argument("names", nargs="*", metavar="NAME", help="reports (default: overview)")
    known.completed(names, "analysis.reports")
    add_output_options(parser)
    parser.add_argument(
        "--limit", type=values.limit, metavar="N", help=f"rows per section; 0 is all (tables: {DEFAULT_LIMIT})"
    )
    add_set_option(parser, "a parameter")
    parser.add_argument(
        "--admissible",
        action="store_true",
        help="with conv: which algorithms each layer could use, and why not the others",
    )
    parser.add_argument(
        "--depth",
        type=values.at_least(0, "is not a depth; use 0 or more"),
        metavar="N",
        help="with modules: modules inside at most N others (default: 2)",
    )
    add_capture_option(parser)
    parser.add_argument(
        "--all", action="store_true", help="all sections of the overview, which else fills a screen of 40 lines"
    )
    parser.add_argument(
        "--full-names", action="store_true", help="kernel names as recorded, with namespaces and template arguments"
    )
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the reports and do not run it")
    add_rank_option(parser)
    add_gpu_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the reports and print them; returns 0."""
    from traceview.analysis import reports

    options = ["admissible"] if args.admissible else []
    recipes = [reports.load(name, options) for name in dict.fromkeys(args.names or ["overview"])]
    if options and "conv" not in args.names:
        raise UsageError("use --admissible with `traceview report INPUT conv`.")
    depth = [] if args.depth is None else [("depth", str(args.depth))]
    params = reports.texts(dict([*args.params, *depth]), recipes)
    if args.show_sql:
        emit(["\n".join(sql_text(recipe, params) for recipe in recipes)], args.output)
        return 0
    form = form_of(args)
    is_remembered = args.gpu is None and not args.ranks
    may_know = is_remembered and not params and not options
    printed = ""

    def best(connection: duckdb.DuckDBPyConnection) -> Section:
        # An earlier command may have found it, with what takes a while to load.
        from traceview.analysis import findings

        return findings.best(connection, is_remembered)

    def shaped(report: Report) -> Report:
        if report.is_brief and form == render.DEFAULT and args.limit is None and not args.all:
            report = first_screen(report, reports.cut_section)
        elif renderer.FOR_PEOPLE and args.limit is None:
            report = reports.shown(report, DEFAULT_LIMIT)
        else:
            report = reports.cut(report, args.limit, partial(reports.cut_section, with_rest=renderer.FOR_PEOPLE))
        return reports.with_full_names(report) if args.full_names else report

    def begun(report: Report) -> None:
        """Print what is known before the best finding is."""
        from traceview.render import table

        nonlocal printed
        printed = table.render(shaped(report), is_whole=False)
        emit([printed], None)

    # Of a table on a screen, people read the beginning while the best finding is looked for.
    is_seen = form == render.DEFAULT and not args.output
    # What draws tables takes a while to load; queries leave Python idle meanwhile.
    drawing = threading.Thread(target=_load, args=(form,), daemon=True)
    with converted(args, meanwhile=(drawing,)) as (folder, connect):
        renderer = render.renderer(form)
        done: list[Report] = []
        for recipe in recipes:
            report = reports.remembered(folder, recipe.name, args.input) if may_know else None
            if not report:
                early = begun if is_seen and not done else None
                report = reports.run(connect(), recipe.name, params, options, args.input, best, early, is_remembered)
            done.append(shaped(report))
        emit([renderer.render_all(done, bool(args.output)).removeprefix(printed)], args.output)
    return 0


def _load(form: str) -> None:
    """Import the renderer of a format. An error here occurs again where it is reported."""
    with contextlib.suppress(Exception):
        render.renderer(form)
