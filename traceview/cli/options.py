"""Options that several verbs have: how their values are read, and a trace opened under those of them that say how."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render, sql
from traceview.cli import values
from traceview.cli.output import say
from traceview.errors import LIMITED, NotEnoughMemory, UsageError
from traceview.fleet import Fleet
from traceview.lazy import duckdb

if TYPE_CHECKING:
    from traceview.store import Options

INPUT_HELP = "a capture, a trace file, a folder or pattern of them, or - for a trace on stdin"
ENDING = (signal.SIGINT, signal.SIGTERM)
KNOWN = {".csv", ".gz", ".htm", ".html", ".json", ".markdown", ".md", ".parquet", ".pdf", ".pftrace", ".png", ".svg"}
KNOWN |= {".tsv", ".xlsx", ".xml", ".yaml", ".zip"}
"""Extensions of formats: no reader of one could open a file with something else in it."""
MOST_THREADS = 1024
"""Each is started and takes memory, whether or not there is a core for it."""


def add_output_options(parser: argparse.ArgumentParser, formats: Sequence[str] = render.FORMATS) -> None:
    """How the answer is written, and where."""
    parser.add_argument("--format", choices=formats, help="default: from the extension of FILE, else table")
    parser.add_argument("--color", choices=("auto", "always", "never"), help="of tables (always: for `less -R`)")
    parser.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help="write to FILE instead of stdout; - is stdout"
    )


def output_file(text: str) -> str | None:
    """The name of a file; None, which is stdout, for a dash."""
    return None if text == "-" else text


def form_of(args: argparse.Namespace, others: Mapping[str, str] | None = None) -> str:
    """The format to write: the one asked for, else that of the output's extension. `others`: extensions of more."""
    render.wants_color = {"always": True, "never": False}.get(args.color)
    if args.format or not args.output:
        return str(args.format or "table")
    by_extension = {render.renderer(name).EXTENSION: name for name in render.FORMATS} | dict(others or {})
    return by_extension.get(extension(args.output, by_extension), "table")


def extension(output: str, written: Collection[str]) -> str:
    """The extension of a file, in lower case. Raises `UsageError` for that of a known format that is not `written`."""
    found = Path(output).suffix.lower()
    if found in KNOWN and found not in written:
        raise UsageError(f"cannot write {found} to {output}; use a name that ends in {', '.join(sorted(written))}.")
    return found


def add_machine_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of every verb that may convert a trace; returns their group of options."""
    group = parser.add_argument_group("conversion")
    group.add_argument("--threads", type=_threads, metavar="N", help="use at most N threads (default: all cores)")
    group.add_argument(
        "--memory", type=values.size, metavar="SIZE", help="use about SIZE of memory at most, for example 2GB or 512MB"
    )
    group.add_argument("--strict", action="store_true", help="refuse a damaged trace instead of repairing it")
    group.add_argument(
        "--jobs", type=_jobs, metavar="N", help="convert N traces at a time (default: all cores from 17 traces on)"
    )
    return group


def add_gpu_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for what the user knows about the run and its trace does not say."""
    parser.add_argument(
        "--gpu",
        type=_product,
        metavar="NAME",
        help="the GPU's product name, for example A100, H100 or MI300X, if the trace does not name it or names another",
    )


def add_capture_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for another recording that knows what this one replays."""
    parser.add_argument(
        "--capture",
        type=Path,
        metavar="TRACES",
        help="trace of the capture of the CUDA or HIP graphs that INPUT replays, or a folder of them",
    )


def add_rank_option(parser: argparse.ArgumentParser) -> None:
    """Which processes of a job are asked about."""
    parser.add_argument(
        "--rank",
        dest="ranks",
        type=values.ranks,
        default=(),
        metavar="N,N...",
        help="only these ranks; tables of other ranks are not opened",
    )


def add_set_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for parameters of queries; `what` one of them is."""
    parser.add_argument(
        "--set", dest="params", type=values.setting, action="append", default=[], metavar="NAME=VALUE",
        help=f"{what} (see --show-sql)",
    )  # fmt: skip


@contextlib.contextmanager
def converted(
    args: argparse.Namespace,
    path: str | None = None,
    query_bytes: int | None = None,
    meanwhile: Sequence[threading.Thread] = (),
) -> Iterator[tuple[Path, Callable[[], duckdb.DuckDBPyConnection]]]:
    """The capture of `path`, else of `args.input`, converted if need be, and what connects to its views.

    An answer that is remembered needs no connection. `query_bytes`: memory for queries, unless the user says how much;
    to connect raises `NotEnoughMemory` where that is too little. `meanwhile`: as `store.resolve` takes it.
    """
    from traceview import store

    with converting(args) as options, contextlib.ExitStack() as stack:
        options = replace(options, query_bytes=query_bytes, own_queries=True)
        if path not in (None, getattr(args, "input", path)):
            options = replace(options, capture=None)  # It is of what the input replays, and of nothing beside it.
        folder = store.converted(Path(path or args.input), options, meanwhile)
        yield folder, cache(lambda: stack.enter_context(_connected(folder, options)))


@contextlib.contextmanager
def _connected(folder: Path, options: Options) -> Iterator[duckdb.DuckDBPyConnection]:
    from traceview.store import views

    connection = views.connect(folder, options)
    with connection, translate_errors():
        with interruptible(connection):
            yield connection
        views.keep(connection)


@contextlib.contextmanager
def opened(
    args: argparse.Namespace, path: str | None = None, query_bytes: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """As `converted`, for what is asked in any case."""
    with converted(args, path, query_bytes) as (_, connect):
        yield connect()


@contextlib.contextmanager
def translate_errors() -> Iterator[None]:
    """Turns what DuckDB says of a capture, and not of a query, into a sentence."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise NotEnoughMemory(LIMITED) from error
    except sql.unreadable_kinds() as error:
        raise sql.unreadable(error) from error


@contextlib.contextmanager
def interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the query at work, which DuckDB 2.0 looks up from too seldom: a thread waits for them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    there, here = os.pipe()
    os.set_blocking(here, False)
    before = signal.set_wakeup_fd(here, warn_on_full_buffer=False)

    came = []

    def watch() -> None:
        while number := os.read(there, 1):
            if number[0] in ENDING:
                came.append(number[0])
                connection.interrupt()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, there)
        stack.callback(thread.join)
        stack.callback(os.close, here)
        stack.callback(signal.set_wakeup_fd, before)
        try:
            yield
        except (duckdb.InterruptException, RuntimeError) as error:
            # DuckDB may have taken what the signal's handler raised, and be sooner than the thread, which has seen
            # everything when it ends.
            stack.close()
            if not came:
                raise
            raise (SystemExit(128 + signal.SIGTERM) if signal.SIGTERM in came else KeyboardInterrupt) from error


@contextlib.contextmanager
def converting(args: argparse.Namespace) -> Iterator[Options]:
    """The options of a conversion, with a progress bar on stderr while it runs, where that is a terminal."""
    from traceview.store import Options

    # Verbs without --resume always continue an interrupted conversion.
    resumes = bool(getattr(args, "resume", True))
    many = Fleet(args.jobs, getattr(args, "dask", None), resumes)
    plain = Options(args.threads, args.memory, args.strict, device=getattr(args, "gpu", None), many=many, note=say)
    plain = replace(plain, ranks=frozenset(getattr(args, "ranks", ())), capture=getattr(args, "capture", None))
    if not sys.stderr.isatty():
        yield plain
        return
    bar = _Bar()
    try:
        yield replace(plain, progress=bar.read, phase=bar.enter)
    finally:
        bar.close()


class _Bar:
    """A progress bar that says what is done now. It appears with the first of it: a cached trace shows none."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amount]}"))
        self.progress = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        self.phase: str | None = None

    def read(self, done: int, total: int) -> None:
        """Called with the bytes read and the bytes in all."""
        self._show("reading", done, total, f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB")

    def enter(self, phase: str, done: int, total: int) -> None:
        """Called with what is done after reading, and how much of it; without a phase when that is over."""
        if not phase:
            self.close()
            return
        self._show(phase, done, total if total > 1 else 0, f"{done} of {total}" if total > 1 else "")

    def _show(self, phase: str, done: int, total: int, amount: str) -> None:
        """Move the bar; where nobody knows how much there is, it only moves."""
        if phase != self.phase:
            self.phase = phase
            self.progress.start()
            for task in self.progress.task_ids:
                self.progress.remove_task(task)
            self.progress.add_task(phase, total=total or None, amount="")
        self.progress.update(self.progress.task_ids[0], completed=done, amount=amount)

    def close(self) -> None:
        """Take the bar away."""
        if self.phase is not None:
            self.progress.stop()
            self.phase = None


def _product(text: str) -> str:
    """A product of which peak rates are known."""
    from traceview.classify import facts

    if not facts.is_product(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a known GPU; known are {', '.join(facts.products())}")
    return text


_jobs = values.at_least(1, "is not a number of processes; use 1 or more")
_threads = values.at_least(1, "is not a thread count; use 1 or more", MOST_THREADS)
