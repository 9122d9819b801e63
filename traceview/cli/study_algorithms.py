"""Measures every algorithm that the libraries here have for each convolution: time, memory, error, by pass and batch.

Each pass of each layer is a group: all implementations of all back-ends on the same numbers, in two parts of opposite
order, checked against double precision first. The folder that it writes is a capture and grows while it runs: stop it
with Ctrl-C at any time, and go on with --resume. Without a GPU and a driver, rows of its libraries say that they
cannot run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.cli.names import completed
from traceview.cli.output import emit, say
from traceview.errors import UsageError
from traceview.experiments.layers import DIRECTIONS, Layer, parse
from traceview.experiments.networks import names

if TYPE_CHECKING:
    from traceview.experiments.algorithms import Group, Plan, Progress

TITLE = "every convolution algorithm by layer, pass and batch"

EXAMPLES = """examples:
  traceview study algorithms --model alexnet --batch 16 --threads 1
  traceview study algorithms --model train.py:make_model --capture traceview-capture-train-20260102-030405
  traceview study algorithms --layer "16x96x27x27 k256 5x5 p2"
  traceview study algorithms --layer "3x227x227 k96 11x11 s4" --batch 1,16,64 --passes fprop,wgrad --threads 1
  traceview study algorithms --layer "96x27x27 k256 5x5 p2" -o conv2 --resume
"""

SHOWN = "fastest"
"""The section of the report of a study that is printed when it has been measured."""
MOST_BATCH = 65536
BATCH = 16


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview study algorithms`."""
    layers = parser.add_argument_group("layers (at least one of these; they add up)")
    completed(
        layers.add_argument(
            "--model",
            action="append",
            default=[],
            metavar="MODEL",
            help=f"a built-in network ({', '.join(names())}), FILE.py:FUNCTION that makes a PyTorch model, "
            "FILE.onnx, or Caffe's FILE.prototxt",
        ),
        names,
    )
    layers.add_argument(
        "--capture", type=Path, action="append", default=[], metavar="INPUT", help="what a capture or a trace recorded"
    )
    layers.add_argument(
        "--layer",
        action="append",
        default=[],
        metavar="TEXT",
        help='a convolution as "64x3x227x227 k96 11x11 s4 p0 g1": batch (may be left out), channels, height, width, '
        "filters, filter size, stride, padding, groups",
    )
    parser.add_argument(
        "--input",
        dest="image",
        type=_shape,
        default="3x224x224",
        metavar="CxHxW",
        help="image for FILE.py:FUNCTION (default: 3x224x224)",
    )
    parser.add_argument(
        "--batch", type=_batches, metavar="N,N...", help="images at once (default: 16, or the capture's)"
    )
    parser.add_argument(
        "--passes", type=_passes, default=list(DIRECTIONS), metavar="PASS,...", help=f"of {', '.join(DIRECTIONS)}"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where (default: cpu)")
    parser.add_argument("--threads", type=_count, metavar="N", help="threads that compute (default: all cores)")
    parser.add_argument("--backends", type=_backends, metavar="NAME,...", help="only these (default: all)")
    parser.add_argument(
        "--repeats", type=_count, default=4, metavar="N", help="least times that each is timed, in each of two parts"
    )
    parser.add_argument("--budget", type=_minutes, metavar="MINUTES", help="begin no further group after this long")
    parser.add_argument("--python", default=sys.executable, help="the Python with PyTorch (default: this one)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="the capture; default: named after the time"
    )
    parser.add_argument("--resume", action="store_true", help="go on with the FOLDER of -o")


def run(args: argparse.Namespace) -> int:
    """Measure, and print who won where; returns 0."""
    from traceview.experiments import algorithms, quiet
    from traceview.experiments.results import Journal

    python = shutil.which(args.python)
    if python is None:
        raise UsageError(f"there is no program {args.python}.")
    groups = algorithms.groups_of(_layers(args, python), args.batch or [BATCH], args.passes)
    if not groups:
        raise UsageError('name what to measure: --model alexnet, or --layer "16x96x27x27 k256 5x5 p2".')
    threads = args.threads or quiet.n_cores()
    plan = algorithms.Plan(
        tuple(groups), python, threads, args.device, args.backends or algorithms.BACKENDS, args.repeats, args.budget
    )
    folder = _place(args)
    journal = Journal(folder, {"kind": "study algorithms", "command": ["traceview", *sys.argv[1:]]})
    _measure(plan, journal, folder)
    emit([_shown(folder)], None)
    say(f"`traceview report {folder} study` has all of it.")
    busy = _busy([row for row in journal.rows(algorithms.TABLE) if any(_is_of(row, group) for group in plan.groups)])
    if busy:
        say(busy)
    return 0


def _busy(rows: list[dict[str, Any]]) -> str | None:
    """That the machine was too busy for wall times, where it was."""
    shares = {(row["layer"], row["direction"], row["batch"]): row["others_pct"] for row in rows if "others_pct" in row}
    busy = [share for share in shares.values() if share >= _busy_pct()]
    if not busy:
        return None
    return (
        f"the machine was too busy to tell in {len(busy)} of {len(shares)} groups: other programs took up to "
        f"{max(busy):.0f} % of the cores. Wall times there say as much about them; run it again when it is quiet."
    )


def _layers(args: argparse.Namespace, python: str) -> list[tuple[Layer, int | None]]:
    """What is asked for, with the batch of those that have their own; --batch goes before what a capture had."""
    from traceview.experiments import sources

    found: list[tuple[Layer, int | None]] = []
    for name in args.model:
        found += [(layer, None) for layer in sources.of_model(name, python, args.image, say)]
    for path in args.capture:
        found += [(layer, None if args.batch else own) for layer, own in sources.of_capture(path, say)]
    return [*found, *(parse(text) for text in args.layer)]


def _measure(plan: Plan, journal: Any, folder: Path) -> None:
    """Measure and say how far it is; the folder is a whole capture however this ends."""
    from traceview.experiments import algorithms

    n = len(plan.groups)
    say(f"{n} group{'s' * (n > 1)} (a pass of a layer), {plan.threads} thread{'s' * (plan.threads > 1)}; into {folder}")
    try:
        left = algorithms.measure(plan, journal, _watch)
        if left:
            say(f"the budget is spent: {len(left)} of {n} groups are not measured; go on with -o {folder} --resume.")
    except KeyboardInterrupt:
        if journal.rows(algorithms.TABLE):
            say(f"stopped; what was measured is in {folder}, go on with -o {folder} --resume.")
        raise
    finally:
        if journal.rows(algorithms.TABLE):
            journal.finish()
        else:
            # It was new or empty, and nothing was measured.
            shutil.rmtree(folder, ignore_errors=True)


def _watch(progress: Progress) -> None:
    """One line for each group."""
    best = min((row for row in progress.rows if "wall_ns" in row), key=lambda row: row["wall_ns"], default=None)
    found = "nothing could run"
    if best:
        found = f"{best['backend']} {best['implementation']} {best['wall_ns'] / 1e6:.2f} ms"
    share = max((row["others_pct"] or 0 for row in progress.rows), default=0)
    busy = f"; busy: other programs took {share:.0f} % of the cores" if share >= _busy_pct() else ""
    left = f"; about {_duration(progress.left_s)} left" if progress.left_s else ""
    say(f"[{progress.done}/{progress.total}] {progress.group.name}: best {found}{busy}{left}")


def _busy_pct() -> float:
    from traceview.experiments import quiet

    return quiet.QUIET_PCT


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _shown(folder: Path) -> str:
    """Who won where, as the report has it."""
    from contextlib import closing
    from dataclasses import replace

    from traceview import render, store
    from traceview.analysis import reports
    from traceview.analysis.model import Report

    recipe = reports.load("study")
    recipe = replace(recipe, sections=tuple(part for part in recipe.sections if part.name.endswith(SHOWN)))
    with closing(store.open_capture(folder, asked=reports.asked([recipe]))) as connection:
        part = reports.section(connection, recipe.sections[0])
    return str(render.renderer("table").render(Report("study", "", "", (part,), ())))


def _is_of(row: dict[str, Any], group: Group) -> bool:
    return bool((row["layer"], row["direction"], row["batch"]) == (group.layer.name, group.direction, group.batch))


def _place(args: argparse.Namespace) -> Path:
    """The folder to write: a new one, or with --resume the one that is there."""
    if args.resume and not args.output:
        raise UsageError("--resume needs the folder to go on with: -o FOLDER.")
    folder: Path = args.output or Path(f"traceview-study-algorithms-{time.strftime('%Y%m%d-%H%M%S')}")
    if args.resume:
        from traceview.experiments.results import described

        described(folder)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already; choose another name with -o, or go on with --resume.")
    return folder


def _shape(text: str) -> str:
    if not re.fullmatch(r"\d{1,6}(x\d{1,6}){2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shape; write for example 3x224x224")
    return text


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _batches(text: str) -> list[int]:
    if not _words(text) or not all(word.isdigit() and 0 < int(word) <= MOST_BATCH for word in _words(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of batches; write for example 1,4,16")
    return list(dict.fromkeys(map(int, _words(text))))


def _passes(text: str) -> list[str]:
    if not _words(text) or set(_words(text)) - set(DIRECTIONS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of passes; choose from {', '.join(DIRECTIONS)}")
    return [name for name in DIRECTIONS if name in _words(text)]


def _backends(text: str) -> tuple[str, ...]:
    from traceview.experiments.algorithms import BACKENDS

    if not _words(text) or set(_words(text)) - set(BACKENDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of back-ends; choose from {', '.join(BACKENDS)}")
    return tuple(name for name in BACKENDS if name in _words(text))


def _count(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count; use 1 or more")
    return int(text)


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes")
    return value * 60
