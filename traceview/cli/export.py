"""Writes the timeline of a trace for other tools: Perfetto, chrome://tracing, HTA, speedscope, flame graphs.

Holds what the devices did, operators, ranges, runtime calls and, beside them, what traceview derives: steps,
convolution calls with their algorithm, idle gaps with their cause, and category, algorithm, pass and layer of each row.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from traceview import exports
from traceview.cli.options import (
    INPUT_HELP,
    add_capture_option,
    add_machine_options,
    opened,
    output_file,
)
from traceview.cli.output import to_stdout, whole
from traceview.cli.values import at_least
from traceview.errors import InputError, NotEnoughMemory, UsageError

HELP = "write the timeline for Perfetto, chrome://tracing, speedscope or flame graphs"

EXAMPLES = """examples:
  traceview export trace.json.gz -o trace.pftrace            for https://ui.perfetto.dev
  traceview export run1 --to chrome -o run1.json.gz          for chrome://tracing and tools for PyTorch profiler files
  traceview export run1 --step 5 -o step5.speedscope.json    one step, for https://www.speedscope.app
  traceview export run1 --to collapsed | flamegraph.pl --countname ns > run1.svg

FILE.gz is compressed. Read back by traceview, --to chrome gives the same kernels, copies and operators, as those of one
rank, and the steps that PyTorch's profiler marked.
"""

QUERY_BYTES = 400_000_000
"""Memory with which it is tried, whatever the size of the trace; the rest is spilled to disk."""
MOST_BYTES = 4 * QUERY_BYTES
"""The last limit: after that all of the machine's."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview export`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("--to", choices=exports.FORMATS, help="default: from the extension of FILE")
    parser.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help="write to FILE instead of stdout; - is stdout"
    )
    parser.add_argument("--rank", type=_rank, metavar="N", help="only this rank")
    parser.add_argument("--step", type=_step, metavar="N", help="only what overlaps this step")
    add_capture_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the file; returns 0."""
    form = _form(args)
    if not args.output and form == "perfetto" and sys.stdout.isatty():
        raise UsageError("a Perfetto trace is not text: write it to a file with -o FILE, or to a pipe.")
    n_bytes = None if args.memory else QUERY_BYTES
    while True:
        try:
            _write(args, form, n_bytes)
            return 0
        except NotEnoughMemory:
            # What stdout has got cannot be taken back; a file begins anew.
            if not n_bytes or not args.output:
                raise
            n_bytes = n_bytes * 2 if n_bytes < MOST_BYTES else None


def _write(args: argparse.Namespace, form: str, n_bytes: int | None) -> None:
    with opened(args, query_bytes=n_bytes) as connection:
        exporter = exports.exporter(form)
        if not exporter.choose(connection, args.rank, args.step):
            raise InputError(
                "this trace has no timeline to export: it holds averages or totals only, "
                "or nothing that this format shows."
            )
        pieces = exporter.pieces(connection)
        if args.output:
            with _file(Path(args.output)) as file:
                file.writelines(pieces)
        else:
            with to_stdout():
                sys.stdout.buffer.writelines(pieces)


def _form(args: argparse.Namespace) -> str:
    found = args.to or (exports.of_file(args.output) if args.output else None)
    if not found:
        known = ", ".join(exports.exporter(name).EXTENSION for name in exports.FORMATS)
        raise UsageError(f"say what to write with --to {'|'.join(exports.FORMATS)}, or by a FILE that ends in {known}.")
    return str(found)


@contextmanager
def _file(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name when it is whole; compressed where the name says so."""
    with whole(path) as file:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", 6, file) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file


_rank = at_least(0, "is not a rank; write its number")
_step = at_least(-(1 << 62), "is not a step; write its number")
