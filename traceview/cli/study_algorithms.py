"""Measures every algorithm that the libraries here have for each convolution: time, memory, error, by pass and batch.

Each pass of each layer is a group: all implementations of all back-ends on the same numbers, in two parts of opposite
order, checked against double precision first. The folder that it writes is a capture and grows while it runs: stop
it with Ctrl-C at any time, and continue with the same command and --resume. Without a GPU and its driver, rows of GPU
libraries say that they cannot run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.cli import studies, values
from traceview.cli.names import completed
from traceview.cli.output import say
from traceview.errors import UsageError
from traceview.experiments.algorithms.layers import DIRECTIONS, Layer, parse
from traceview.experiments.algorithms.networks import names

if TYPE_CHECKING:
    from traceview.experiments.algorithms.measuring import Plan, Progress

TITLE = "every convolution algorithm by layer, pass and batch"

EXAMPLES = """examples:
  traceview study algorithms --model alexnet --batch 16 --threads 1
  traceview study algorithms --model train.py:make_model --from traceview-capture-train-20260102-030405
  traceview study algorithms --layer "16x96x27x27 k256 5x5 p2"
  traceview study algorithms --layer "3x227x227 k96 11x11 s4" --batch 1,16,64 --passes fprop,wgrad --threads 1
  traceview study algorithms --model resnet50 --batch 1 --passes fprop --dtype bfloat16
  traceview study algorithms --layer "96x27x27 k256 5x5 p2" -o conv2 --resume
"""

KIND = "study algorithms"
DTYPES = ("float32", "bfloat16", "float16", "float64")
SHOWN = "fastest"
"""The section of the report of a study that is printed when it has been measured."""
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
        "--from",
        dest="captures",
        type=Path,
        action="append",
        default=[],
        metavar="INPUT",
        help="convolutions of this capture or trace",
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
        "--image",
        type=values.image,
        default=(3, 224, 224),
        metavar="CxHxW",
        help="image for FILE.py:FUNCTION (default: 3x224x224)",
    )
    parser.add_argument(
        "--batch",
        type=values.counts("batches"),
        metavar="N,N...",
        help="images per batch (default: 16, or the capture's)",
    )
    parser.add_argument(
        "--passes",
        type=values.names(DIRECTIONS, "passes"),
        default=list(DIRECTIONS),
        metavar="PASS,...",
        help=f"passes: {', '.join(DIRECTIONS)} (default: all)",
    )
    parser.add_argument("--dtype", choices=DTYPES, help="element type (default: that of the model or capture, float32)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device to run on (default: cpu)")
    parser.add_argument("--threads", type=values.count, metavar="N", help="threads that compute (default: all cores)")
    parser.add_argument("--backends", type=_backends, metavar="NAME,...", help="only these (default: all)")
    parser.add_argument(
        "--repeats",
        type=values.count,
        default=4,
        metavar="N",
        help="time each at least N times, in each of two parts",
    )
    parser.add_argument("--budget", type=values.duration, metavar="TIME", help="start no new group after this time")
    parser.add_argument(
        "--python", metavar="PROGRAM", default=sys.executable, help="the Python with PyTorch (default: this one)"
    )
    studies.add_result_options(parser, settings=", with the other options again")


def run(args: argparse.Namespace) -> int:
    """Measure, and print who won where; returns 0."""
    from traceview.experiments import machine
    from traceview.experiments.algorithms import measuring
    from traceview.experiments.results import Journal

    threads = studies.threads(args.threads)
    python = shutil.which(args.python)
    if python is None:
        raise UsageError(f"there is no program {args.python}.")
    groups = measuring.groups_of(_layers(args, python), args.batch or [BATCH], args.passes)
    if not groups:
        raise UsageError('name what to measure: --model alexnet, or --layer "16x96x27x27 k256 5x5 p2".')
    plan = measuring.Plan(
        tuple(groups), python, threads, args.device, args.backends or measuring.BACKENDS, args.repeats, args.budget
    )
    folder = studies.place(args.output, args.resume, KIND, args.trust)
    journal = Journal(folder, {"kind": KIND, "command": ["traceview", *sys.argv[1:]], "machine": machine.facts()})
    code = _measure(plan, journal)
    if code:
        return code
    asked = {(group.layer.name, group.direction, group.batch) for group in plan.groups}
    rows = [row for row in journal.rows(measuring.TABLE) if "others_pct" in row]
    shares = {
        key: row["others_pct"] for row in rows if (key := (row["layer"], row["direction"], row["batch"])) in asked
    }
    studies.tell(folder, "study", (SHOWN,), args.format, [*shares.values()], "groups")
    return 0


def _layers(args: argparse.Namespace, python: str) -> list[tuple[Layer, int | None]]:
    """Return the requested layers, with the batch of those that have one; --batch goes before what a capture had."""
    from traceview.experiments.algorithms import sources

    found: list[tuple[Layer, int | None]] = []
    for name in args.model:
        found += [(layer, None) for layer in sources.of_model(name, python, args.image, say)]
    for path in args.captures:
        found += [(one.layer, None if args.batch else one.batch) for one in sources.of_capture(path, say)]
    found += [parse(text) for text in args.layer]
    return [(replace(layer, dtype=args.dtype or layer.dtype), batch) for layer, batch in found]


def _measure(plan: Plan, journal: Any) -> int:
    """Measure and say how far it is; the exit code. The folder is a whole capture however this ends."""
    from traceview.experiments.algorithms import measuring

    n = len(plan.groups)
    threads = f"{plan.threads} thread{'s' * (plan.threads > 1)}"
    say(f"{n} group{'s' * (n > 1)} (a pass of a layer), {threads}; into {journal.folder}")

    def measured() -> str | None:
        left = measuring.measure(plan, journal, _watch)
        return f"{len(left)} of {n} groups are not measured" if left else None

    return studies.finished(measured, journal, measuring.TABLE)


def _watch(progress: Progress) -> None:
    """One line for each group."""
    best = min((row for row in progress.rows if "wall_ns" in row), key=lambda row: row["wall_ns"], default=None)
    found = "nothing could run"
    if best:
        found = f"{best['backend']} {best['implementation']} {best['wall_ns'] / 1e6:.2f} ms"
    share = max((row["others_pct"] or 0 for row in progress.rows), default=0)
    rest = studies.disturbed(share) + studies.left(progress.left_s)
    say(f"[{progress.done}/{progress.total}] {progress.group.name}: best {found}{rest}")


def _backends(text: str) -> tuple[str, ...]:
    from traceview.experiments.algorithms.measuring import BACKENDS

    return tuple(values.names(BACKENDS, "back-ends")(text))
