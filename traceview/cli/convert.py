"""Reads trace files into one capture: a folder of Parquet tables that every other verb opens at once.

Other verbs convert on the way and keep the result beside the trace; this one is for a capture with a name of its own,
for instance one that unites the traces of several processes. It prints the path of the capture.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.errors import InputError

if TYPE_CHECKING:
    import duckdb

    from traceview.store import Options

HELP = "read any trace files into one capture"

EXAMPLES = """examples:
  traceview convert trace.json.gz -o run1
  traceview convert rank0.json rank1.json rank2.json rank3.json -o job
  traceview convert traces/ -o job --threads 4 --memory 2GB
"""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview convert`."""
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="a trace file or a folder of them")
    parser.add_argument("-o", "--output", required=True, metavar="CAPTURE", help="the new folder")
    add_machine_options(parser)


def add_machine_options(parser: argparse.ArgumentParser) -> None:
    """What every verb that may convert a trace lets the user say about it."""
    group = parser.add_argument_group("conversion")
    group.add_argument("--threads", type=_count, metavar="N", help="use at most N threads (default: every core)")
    group.add_argument(
        "--memory", type=size, metavar="SIZE", help="use at most about SIZE of memory, as in 2GB or 512MB"
    )
    group.add_argument("--strict", action="store_true", help="refuse a trace with any damage instead of repairing it")


def run(args: argparse.Namespace) -> int:
    """Convert, print where the capture is; returns 0."""
    from traceview import store

    with converting(args) as options:
        capture = store.convert([Path(path) for path in args.inputs], Path(args.output), options)
    print(capture)
    return 0


@contextlib.contextmanager
def opened(
    args: argparse.Namespace, asked: str | None = None, path: str | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The views over `path`, else `args.input` (all, or those that the text `asked` rests on), converted if need be."""
    import duckdb

    from traceview import store

    with converting(args) as options:
        connection = store.open_capture(Path(path or args.input), options, asked)
    try:
        if args.threads:
            connection.execute("SET threads = $1", [args.threads])
        if args.memory:
            connection.execute("SET memory_limit = $1", [f"{max(1, args.memory // 1_000_000)}MB"])
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise InputError("the memory is too small for this; give it more with --memory.") from error
    finally:
        connection.close()


@contextlib.contextmanager
def converting(args: argparse.Namespace) -> Iterator[Options]:
    """The options of a conversion, with a progress bar on stderr while it runs, where that is a terminal."""
    from traceview.store import Options

    if not sys.stderr.isatty():
        yield Options(args.threads, args.memory, args.strict)
        return
    bar = _Bar()
    try:
        yield Options(args.threads, args.memory, args.strict, bar.update)
    finally:
        bar.close()


class _Bar:
    """A progress bar in bytes that appears with the first bytes read: a cached trace shows none."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task("reading", total=None, visible=False)
        self.is_shown = False

    def update(self, done: int, total: int) -> None:
        """Called by the store with the bytes read and the bytes in all."""
        if not self.is_shown:
            self.is_shown = True
            self.progress.start()
        self.progress.update(self.task, completed=done, total=total, visible=True)

    def close(self) -> None:
        """Take the bar away."""
        if self.is_shown:
            self.progress.stop()


def size(text: str) -> int:
    """Bytes from a text such as 512MB, 2GB, 1.5GiB or a plain number."""
    match = _SIZE.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write it as 512MB or 2GB")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()])


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of threads; write 1 or more")
    return int(text)
