"""A trace from stdin (`-` as INPUT): it waits in a private temporary file until it has been read.

Invariant: nothing of it is left afterwards, and it never fills the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from traceview.errors import InputError, TraceviewError, UsageError
from traceview.paths import temporary_folder

STDIN = "-"
NAME = "stdin"
PLACES = ("input", "inputs", "a", "b", "baseline", "compare")
"""Names of the arguments by which verbs take their inputs."""
MOST_BYTES = 64_000_000_000
BLOCK_BYTES = 1 << 20


@contextlib.contextmanager
def spooled(args: argparse.Namespace) -> Iterator[None]:
    """Put the name of a file in the place of `-` among the inputs, for as long as the verb is at work."""
    places = [name for name in PLACES if STDIN in _words(args, name)]
    if not places or getattr(args, "show_sql", False):
        yield
        return
    if args.verb == "mcp":
        raise UsageError("stdin carries the questions to answer; name a trace.")
    if sum(_words(args, name).count(STDIN) for name in places) > 1 or getattr(args, "file", None) == STDIN:
        raise UsageError("- is stdin, which can be read once only.")
    if args.verb == "sql" and args.query is None and not args.file:
        raise UsageError("the trace comes from stdin, so give the query as an argument or with -f FILE.")
    if sys.stdin.isatty():
        raise UsageError("- reads a trace from stdin, which is a terminal here; pipe a trace into it.")
    with temporary_folder("traceview-stdin-") as folder:
        path = _spool(folder)
        _replace(args, places, lambda word: str(path) if word == STDIN else word)
        try:
            yield
        except TraceviewError as error:
            if str(path) in str(error):
                raise type(error)(str(error).replace(str(path), NAME)) from error
            raise
        finally:
            _forget(path)


@contextlib.contextmanager
def fetched(args: argparse.Namespace) -> Iterator[None]:
    """Put what was fetched in the place of addresses in a store (`s3://`) among the inputs."""
    places = [name for name in PLACES if any("://" in word for word in _words(args, name))]
    if places and not getattr(args, "show_sql", False):
        from traceview.fleet import remote

        _replace(args, places, lambda word: str(remote.fetched(word)) if remote.is_store(word) else word)
    yield


def _replace(args: argparse.Namespace, places: Sequence[str], new: Callable[[str], str]) -> None:
    for name in places:
        words = [*map(new, _words(args, name))]
        setattr(args, name, words if isinstance(getattr(args, name), list) else words[0])


def _words(args: argparse.Namespace, name: str) -> list[str]:
    value = getattr(args, name, None)
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _spool(folder: Path) -> Path:
    """Everything that comes from stdin, as a file."""
    path, n_bytes = folder / NAME, 0
    most = min(MOST_BYTES, shutil.disk_usage(folder).free // 2)
    with path.open("wb") as file:
        while block := sys.stdin.buffer.read(BLOCK_BYTES):
            n_bytes += len(block)
            if n_bytes > most:
                raise InputError(
                    f"stdin is more than {most / 1e9:.1f} GB, which is what {folder.parent} has room for; "
                    "save it as a file, or set TMPDIR to a larger disk."
                )
            file.write(block)
    if not n_bytes:
        raise InputError("stdin is empty; pipe a trace into it.")
    return path


def _forget(path: Path) -> None:
    """Remove verbs' results for the trace from the user's cache; without the trace nobody can use them."""
    if "traceview.store" in sys.modules:
        from traceview import store

        store.forget(path)
