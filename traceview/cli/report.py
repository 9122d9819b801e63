"""Tables that say where the time went: one report per question, the overview when none is named.

Every report states what its shares are of, and ends with what could not be attributed. Tables and Markdown scale times
and sizes for people and show at most --limit rows per section; JSON and CSV hold every row, exactly, in the unit that
the column's name says (`_ns`, `_bytes`, `_pct`).
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.cli.convert import add_machine_options, opened
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.model import Report
    from traceview.analysis.reports import Recipe

HELP = "where the time went: tables for a terminal, JSON, CSV or Markdown"

EXAMPLES = """examples:
  traceview report trace.json.gz                            the overview
  traceview report trace.json.gz conv layers                two reports
  traceview report run1 kernels --limit 0                   every row
  traceview report run1 conv --admissible                   with what each layer could have used
  traceview report run1 --format json -o overview.json      exact numbers for a program
  traceview report run1 conv --show-sql                     the queries behind a report, ready for `traceview sql`

`traceview list reports` names every report. With --format json one name gives an object, several give an array. With
--format csv a report of several sections starts each with a line `# section: NAME`, an empty line before it.
"""

FORMATS = ("table", "json", "csv", "markdown")
DEFAULT_LIMIT = 30
FOR_PEOPLE = ("table", "markdown")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview report`."""
    parser.add_argument("input", metavar="INPUT", help="a capture, a trace file or a folder of them")
    parser.add_argument("names", nargs="*", metavar="NAME", help="reports (default: overview)")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to stdout")
    parser.add_argument(
        "--limit", type=row_limit, metavar="N", help=f"rows per section; 0 is all (tables: {DEFAULT_LIMIT})"
    )
    parser.add_argument(
        "--set", dest="params", action="append", default=[], metavar="NAME=VALUE", help="a parameter (see --show-sql)"
    )
    parser.add_argument(
        "--admissible", action="store_true", help="with conv: which algorithms each layer could use, and why not others"
    )
    parser.add_argument("--show-sql", action="store_true", help="print the SQL of the reports instead of running them")
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the reports and print them; returns 0."""
    from traceview.analysis import reports

    options = ["admissible"] if args.admissible else []
    recipes = [reports.load(name, options) for name in dict.fromkeys(args.names or ["overview"])]
    if options and "conv" not in args.names:
        raise UsageError("--admissible goes with `traceview report INPUT conv`.")
    params = params_of(args.params, recipes)
    if args.show_sql:
        emit(["\n".join(sql_text(recipe, params) for recipe in recipes)], args.output)
        return 0
    from traceview import render

    # What draws tables takes a while to load; the queries leave Python idle meanwhile.
    threading.Thread(target=render.renderer, args=(args.format,)).start()
    with opened(args, reports.asked(recipes)) as connection:
        done = [reports.run(connection, recipe.name, params, options) for recipe in recipes]
    limit = DEFAULT_LIMIT if args.limit is None and args.format in FOR_PEOPLE else args.limit
    done = [reports.cut(report, limit) for report in done]
    emit([text_of(done, args.format, bool(args.output))], args.output)
    return 0


def text_of(done: Sequence[Report], form: str, is_for_file: bool) -> str:
    """One text out of several reports; what they all rest on is said once, at the end."""
    from traceview import render

    if form == "json" and len(done) > 1:
        from traceview.render.json import render_all

        return render_all(done)
    if form == "csv" and len(done) > 1:
        from traceview.render.csv import render_all

        return render_all(done)
    if form in FOR_PEOPLE:
        done = [*(replace(r, footer=()) if r.footer == done[-1].footer else r for r in done[:-1]), done[-1]]
    if form == "table" and is_for_file:
        from traceview.render import terminal

        return "\n".join(terminal.render(report, terminal.PIPE_WIDTH, color=False) for report in done)
    return "\n".join(map(render.renderer(form), done))


def sql_text(recipe: Recipe, params: Mapping[str, str]) -> str:
    """The queries of a report as one SQL text that runs as it is, with what their parameters are and the views used."""
    from traceview.store import views

    parts = []
    for query in recipe.sections:
        lines = [f"-- queries/{recipe.name}/{query.name}.sql: {query.title}", f"-- {query.doc}"]
        for name, param in query.params.items():
            value = params.get(name, param.default)
            lines.append(f"-- ${name} = {'NULL' if value is None else value} ({param.type}: {param.doc})")
        used = views.resting_on(query.body)
        if used:
            lines.append(f"-- rests on queries/views/: {', '.join(used)}")
        parts.append("\n".join([*lines, f"{query.written(params)};", ""]))
    return "\n".join(parts)


def emit(pieces: Iterable[str], output: str | None) -> None:
    """Write text to a file, or to stdout in UTF-8 whatever the locale."""
    if output is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        for piece in pieces:
            sys.stdout.write(piece)
        return
    with writing(output), Path(output).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


@contextmanager
def writing(output: str) -> Iterator[None]:
    """Turns a file that cannot be written into a sentence."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}.") from error


def params_of(texts: Sequence[str], recipes: Sequence[Recipe]) -> dict[str, str]:
    """The values of `--set`. Raises `UsageError` for a name that no section has."""
    known = {name: param for recipe in recipes for name, param in recipe.params().items()}
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set takes NAME=VALUE, not {text!r}.")
        if name not in known:
            there = f"there are: {', '.join(sorted(known))}" if known else "these reports have none"
            raise UsageError(f"no section has a parameter {name!r}; {there}.")
        values[name] = value
    return values


def row_limit(text: str) -> int:
    """A number of rows, 0 for all."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rows; write 0 for all")
    return int(text)
