"""Reads published times of convolution algorithms, all-reduce and frameworks into a capture, beside what was measured.

Reads logs of convnet-benchmarks (Torch 7, fbfft's tuner) and of `caffe time`, MIOpen's find database (*.fdb.txt,
*.ufdb.txt, also as .bz2), DeepBench's table of convolutions as CSV, and any CSV with the columns in_channels, height,
width, out_channels, filter_height, filter_width and ms (or wall_ns); other columns as in the table algorithm_times
(`traceview sql CAPTURE .schema`), workspace_mb, precision, and stride, pad, dilation and pass in short; of collectives
a CSV with ranks, bytes and ms (DeepBench's mean_ms, or wall_ns); of frameworks a CSV with framework, model, pass
(forward, gradient, train) and ms, and where it is known layer (then forward, backward or train), batch, version,
threads, layout, device and source. Files that hold none are named.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from traceview.cli.output import emit, say
from traceview.render.characters import clean

TITLE = "read published times of convolution algorithms, all-reduce and frameworks"
DEFAULT = "published"

EXAMPLES = """examples:
  traceview study import convnet-benchmarks/ deepbench.csv -o published
  traceview report published study
  traceview study import ~/.config/miopen/gfx90a68.HIP.3_2_0.ufdb.txt -o miopen
  traceview study import convnet-benchmarks/ --into conv2        beside what study algorithms measured
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview study import`."""
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="a log or table, or a folder of them")
    parser.add_argument("--into", metavar="CAPTURE", help="add to this capture of a study, to stand beside its times")
    parser.add_argument(
        "-o", "--output", default=DEFAULT, metavar="FOLDER", help=f"the new capture (default: {DEFAULT})"
    )


def run(args: argparse.Namespace) -> int:
    """Write the capture, say what was read and what was not, print where it is; returns 0."""
    from traceview.errors import UsageError
    from traceview.experiments import results
    from traceview.experiments.imports import published

    target = Path(args.into or args.output)
    if args.into:
        about = results.described(target)
    elif target.exists():
        raise UsageError(f"{target} exists already; choose another name with -o, or add to it with --into.")
    found = published.gather(Path(name) for name in args.inputs)
    if args.into:
        published.add(results.Journal(target, about), found.tables())
    else:
        about = {"kind": "study", "command": ["traceview", "study", "import", *args.inputs]}
        results.write(target, found.tables(), about)
    for file, n in found.read:
        say(f"{file.name}: {n:,} times")
    for file, what, n in found.lost:
        say(f"{file.name}: {n:,} {what} left out")
    for file, reason in found.passed_over:
        say(f"{file.name} was passed over: {reason}")
    emit([f"{clean(str(target)) if sys.stdout.isatty() else target}\n"], None)
    return 0
