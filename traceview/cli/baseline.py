"""Keeps measured runs under a name, for `compare --baseline NAME` to hold later runs against, in CI for example.

`save` measures recordings of one program (several of them tell its noise) and writes traceview-baselines/NAME.json,
some dozen kilobytes to check in or to put into the cache of a CI service; a NAME with a slash or .json is the path of a
file. What was kept under the name before becomes a line of its history, which `show` prints.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from traceview import render
from traceview.cli import measured
from traceview.cli.options import add_gpu_option, add_machine_options, add_output_options, form_of
from traceview.cli.output import emit, say
from traceview.errors import UsageError, writing

HELP = "keep runs to compare later ones with"

EXAMPLES = """examples:
  traceview baseline save main run1 run2 run3 run4 --note 1f3a2bc   keep four recordings of one program
  traceview baseline save ci/main.json trace.json.gz               in this file
  traceview baseline show main                                     what was kept under the name, and when
  traceview compare --baseline main --b new1 new2 new3 new4 --fail-over 5%
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview baseline`."""
    parser.add_argument("action", choices=("save", "show"), metavar="save|show", help="keep runs, or print the history")
    parser.add_argument("name", metavar="NAME", help="name of the baseline, or path of its file")
    parser.add_argument(
        "inputs", nargs="*", metavar="INPUT", help="recordings of one program: captures or traces (- is stdin)"
    )
    parser.add_argument("--note", metavar="TEXT", help="note for the history, such as a commit")
    add_output_options(parser)
    add_gpu_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Save or show; returns 0."""
    file = measured.baseline(args.name)
    if file.name.startswith("."):
        raise UsageError(f"{args.name!r} cannot name a baseline; give a name that does not begin with a dot.")
    if args.action == "save":
        _save(args, file)
        return 0
    if args.inputs or args.note:
        raise UsageError("`baseline show` takes a name alone.")
    if not file.is_file():
        raise UsageError(f"there is no baseline {args.name}: {file} does not exist.")
    from traceview.analysis import baselines

    report = baselines.history(args.name, measured.content(str(file)) or [])
    emit([render.renderer(form_of(args)).render_all([report], bool(args.output))], args.output)
    return 0


def _save(args: argparse.Namespace, file: Path) -> None:
    from traceview.analysis import baselines, compare
    from traceview.experiments import inside

    if not args.inputs:
        raise UsageError("name the recordings to keep: traceview baseline save NAME INPUT...")
    if args.output or args.format:
        raise UsageError("`baseline save` writes the file of its NAME; leave out -o and --format.")
    before = None
    if file.exists():
        before = measured.content(str(file))
        if before is None:
            raise UsageError(f"{file} exists and is not a baseline; choose another name.")
    runs, _ = compare.measures([args.inputs], partial(measured.run, args))
    saved = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    content = baselines.content(args.name, runs[0], before, saved, args.note)
    with writing(str(file)):
        inside.replace(file.parent, file.name, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
    n = len(runs[0].recordings)
    say(f"{n} recording{'' if n == 1 else 's'} kept in {file}.")
