"""Options that several verbs have: how their values are read, and a trace opened under those of them that say how."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli.output import say
from traceview.cli.parsing import at_least
from traceview.errors import InputError, UsageError
from traceview.fleet import Fleet

if TYPE_CHECKING:
    import duckdb

    from traceview.analysis.reports import Recipe
    from traceview.store import Options

INPUT_HELP = "a capture, a trace file, a folder or pattern of them, or - for a trace on stdin"
ENDING = (signal.SIGINT, signal.SIGTERM)
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(i?)B?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|h)?", re.ASCII)
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*%?", re.ASCII)
MOST_S = 365 * 24 * 3600.0
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 60}
MOST_BYTES = 1 << 60
"""Of memory: more is a slip, and the database takes little more."""
MOST_THREADS = 1024
"""Each is started and takes memory, whether or not there is a core for it."""
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def add_output_options(parser: argparse.ArgumentParser, formats: Sequence[str] = render.FORMATS) -> None:
    """How the answer is written, and where."""
    parser.add_argument("--format", choices=formats, help="default: from the extension of FILE, else table")
    parser.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help="write to FILE instead of stdout; - is stdout"
    )


def output_file(text: str) -> str | None:
    """The name of a file; None, which is stdout, for a dash."""
    return None if text == "-" else text


def form_of(args: argparse.Namespace, others: Mapping[str, str] | None = None) -> str:
    """The format to write: the one asked for, else that of the output's extension. `others`: extensions of more."""
    if args.format or not args.output:
        return str(args.format or "table")
    by_extension = {render.renderer(name).EXTENSION: name for name in render.FORMATS} | dict(others or {})
    return by_extension.get(Path(args.output).suffix.lower(), "table")


def duration(text: str) -> float:
    """Seconds, of a value like 90s, 10m or 1h; minutes without a unit."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write for example 90s, 10m or 1h")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds > MOST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is more than a year")
    return seconds


def add_machine_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What every verb that may convert a trace lets the user say about it; returns their group of options."""
    group = parser.add_argument_group("conversion")
    group.add_argument("--threads", type=_threads, metavar="N", help="use at most N threads (default: all cores)")
    group.add_argument(
        "--memory", type=size, metavar="SIZE", help="use about SIZE of memory at most, for example 2GB or 512MB"
    )
    group.add_argument("--strict", action="store_true", help="refuse a damaged trace instead of repairing it")
    group.add_argument(
        "--jobs", type=_jobs, metavar="N", help="convert N traces at a time (default: all cores from 17 traces on)"
    )
    return group


def add_device_option(parser: argparse.ArgumentParser) -> None:
    """What the user may say about the run that its trace does not."""
    parser.add_argument(
        "--device",
        type=_product,
        metavar="NAME",
        help="the GPU's product name, for example A100, H100 or MI300X, if the trace does not name it or names another",
    )


def add_rank_option(parser: argparse.ArgumentParser) -> None:
    """Which processes of a job are asked about."""
    parser.add_argument(
        "--rank",
        dest="ranks",
        type=_ranks,
        default=frozenset(),
        metavar="N[,N...]",
        help="only these ranks; tables of other ranks are not opened",
    )


class NotEnoughMemory(InputError):
    """Queries may use too little memory."""


@contextlib.contextmanager
def opened(
    args: argparse.Namespace,
    asked: str | Callable[[Path], str] | None = None,
    path: str | None = None,
    query_bytes: int | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The views over `path`, else `args.input` (all, or those that the text `asked` rests on), converted if need be.

    `query_bytes`: memory for queries, unless the user says how much. Raises `NotEnoughMemory` where that is too little.
    """
    import duckdb

    from traceview import sql, store

    with converting(args) as options:
        options = replace(options, query_bytes=query_bytes)
        connection = store.open_capture(Path(path or args.input), options, asked)
    try:
        with interruptible(connection):
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise NotEnoughMemory("not enough memory for this; allow more with --memory.") from error
    except sql.UNREADABLE as error:
        raise sql.unreadable(error) from error
    finally:
        connection.close()


@contextlib.contextmanager
def interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the query at work, which DuckDB 2.0 looks up from too seldom: a thread waits for them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from duckdb import InterruptException

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
        except (InterruptException, RuntimeError) as error:
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

    # Whoever names no capture does not mean another one by going on.
    resumes = bool(getattr(args, "resume", True))
    many = Fleet(args.jobs, getattr(args, "dask", None), resumes)
    plain = Options(args.threads, args.memory, args.strict, device=getattr(args, "device", None), many=many, note=say)
    plain = replace(plain, ranks=getattr(args, "ranks", frozenset()))
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
        """Called with what is done after reading, and how much of it."""
        self._show(phase, done, total if total > 1 else 0, f"{done} of {total}" if total > 1 else "")

    def _show(self, phase: str, done: int, total: int, amount: str) -> None:
        """Where nobody knows how much there is, the bar only moves."""
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


def params_of(texts: Sequence[str], recipes: Sequence[Recipe]) -> dict[str, str]:
    """The values of `--set`. Raises `UsageError` for a name that no section has."""
    from traceview.analysis import reports

    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set takes NAME=VALUE, not {text!r}.")
        values[name] = value
    return reports.texts(values, recipes)


row_limit = at_least(0, "is not a row count; use 0 for all rows")


def percent(text: str) -> float:
    """A percentage from a text such as 5%."""
    found = _PERCENT.fullmatch(text)
    value = float(found[1]) if found else -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage; write for example 5%")
    return value


def size(text: str) -> int:
    """Bytes from a text such as 512MB, 2GB, 1.5GiB or a plain number."""
    match = _SIZE.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write for example 512MB or 2GB")
    n_bytes = int(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()])
    if n_bytes > MOST_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} is more than any machine has; write for example 512MB or 2GB")
    return n_bytes


def _product(text: str) -> str:
    """A product of which peak rates are known."""
    from traceview.classify import facts

    if not facts.is_product(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a known GPU; known are {', '.join(facts.products())}")
    return text


def _ranks(text: str) -> frozenset[int]:
    parts = text.split(",")
    if not all(re.fullmatch(r"\d{1,9}", part.strip(), re.ASCII) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of ranks; write for example 3 or 0,7")
    return frozenset(map(int, parts))


_jobs = at_least(1, "is not a number of processes; use 1 or more")
_thread_count = at_least(1, "is not a thread count; use 1 or more")


def _threads(text: str) -> int:
    if (count := _thread_count(text)) > MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST_THREADS:,} threads")
    return count
