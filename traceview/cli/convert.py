"""Converts trace files into one capture: a folder of Parquet tables that every other verb opens without conversion.

Other verbs convert a trace on first use and cache the result beside it. Use this one to choose the name of the capture,
for instance to combine the traces of several processes. It prints the path of the capture.

For a job of many ranks, several traces are converted at a time (--jobs, --dask). A trace that cannot be read is named
and skipped. If the conversion is interrupted, finished ranks are kept, and --resume continues from there.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from traceview.cli.options import add_machine_options, converting
from traceview.cli.output import emit
from traceview.paths import temporary_folder
from traceview.render.characters import clean

HELP = "convert any trace files into one capture"

EXAMPLES = """examples:
  traceview convert trace.json.gz -o run1
  traceview convert rank0.json rank1.json rank2.json rank3.json -o job
  traceview convert traces/ -o job --threads 4 --memory 2GB
  traceview convert traces/ -o job --jobs 8               eight processes on this machine
  traceview convert traces/ -o job --dask tcp://head:8786  the workers of a Dask cluster
  traceview convert traces/ -o job --resume               continue an interrupted conversion
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview convert`."""
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="a trace file, a folder or pattern of them, or - for one on stdin"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FOLDER",
        help="the new folder, local or in an object store (s3://...)",
    )
    group = add_machine_options(parser)
    group.add_argument(
        "--dask", metavar="ADDRESS", help="convert on this Dask cluster; `local` starts one with --jobs workers here"
    )
    group.add_argument("--resume", action="store_true", help="continue an interrupted conversion")


def run(args: argparse.Namespace) -> int:
    """Convert, print where the capture is; returns 0."""
    from traceview import store
    from traceview.fleet import remote

    inputs = [Path(path) for path in args.inputs]
    with converting(args) as options, contextlib.ExitStack() as stack:
        if remote.is_store(args.output):
            built = stack.enter_context(temporary_folder("traceview-capture-")) / "capture"
            remote.sent(store.convert(inputs, built, options), args.output)
            capture: object = args.output
        else:
            capture = store.convert(inputs, Path(args.output), options)
    # A program gets the path as it is.
    emit([f"{clean(str(capture)) if sys.stdout.isatty() else capture}\n"], None)
    return 0
