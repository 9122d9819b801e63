"""Errors of traceview, and the exit code each kind of failure has.

Invariant: the text of an error is one or two sentences that say what to do. Only `cli/` prints them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECK_FAILED = 1
"""Exit code where all went well and a check that the user asked for did not pass."""


class TraceviewError(Exception):
    """Base of every expected failure; `exit_code` is what the process returns."""

    exit_code = 2


class UsageError(TraceviewError):
    """The command line or the query is wrong (exit code 2)."""


class QueryError(UsageError):
    """A query of the user is wrong. The text may have several lines."""


class InputError(TraceviewError):
    """A trace, capture or folder that cannot be read (exit code 3)."""

    exit_code = 3


class Refused(InputError):
    """A trace that --strict does not accept; without it, it is repaired, or left out of its job."""

    exit_code = CHECK_FAILED

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason.rstrip('.').removesuffix(' (--strict)')} (--strict).")


class NoRoom(InputError):
    """The machine lacks memory or disk for an input that may be fine: elsewhere or later it can be read."""


class NotEnoughMemory(InputError):
    """Queries may use too little memory: with more they can be tried again."""


class CommandFailed(TraceviewError):
    """The profiled command could not be run; the exit code is what a shell would give (127 not found, 126 not run)."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


DENIED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ESTALE, errno.ELOOP, errno.ENAMETOOLONG)
"""Errors by which a file or its disk refuses any access."""
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_FILES = (errno.EMFILE, errno.ENFILE)
NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread", "bad_alloc", "out of memory")
"""Messages of libraries without memory, each in its own kind of error."""
LIMITED = "not enough memory for this; allow more with --memory."
"""Said where DuckDB reached the limit it was given, which its error names as `memory_limit`."""


def shortage(error: BaseException) -> str | None:
    """Name the resource that the machine has too little of, in a sentence, if that caused the error."""
    number = error.errno if isinstance(error, OSError) else None
    text = str(error).lower()
    if number in FULL or "no space left on device" in text:
        return "nothing more can be written: no space left on the device."
    if number == errno.EFBIG or "file too large" in text:
        return "a file of this size cannot be written here; raise its limit (`ulimit -f`)."
    if number in NO_FILES or "too many open files" in text:
        return "more files have to be open at once than is allowed here; raise the limit with `ulimit -n`."
    if "memory_limit" in text:
        return LIMITED
    if isinstance(error, MemoryError) or number == errno.ENOMEM or any(said in text for said in NO_MEMORY):
        return (
            "the memory that may be used here is too small for this; raise its limit (`ulimit -v`, or a container's)."
        )
    return None


def named(path: Any, what: str = "input") -> Path:
    """The file or folder of this name. Raises `UsageError` for an empty name, which would be the current folder, and
    for what is no name."""
    if not isinstance(path, str | os.PathLike) or not isinstance(text := os.fspath(path), str) or "\0" in text:
        raise UsageError(f"{repr(path)[:100]} is not the name of a file or folder.")
    if not text:
        one = "; give a capture, a trace file or a folder" if what == "input" else ""
        raise UsageError(f"the name of the {what} is empty{one}.")
    return Path(text)


@contextmanager
def writing(output: str) -> Iterator[None]:
    """Turns a file that cannot be written into a sentence: a wrong name is wrong usage, a full disk is not."""
    try:
        yield
    except OSError as error:
        is_disk = shortage(error) or error.errno == errno.EIO
        # Arrow puts words of its own into the text of the error.
        why = os.strerror(error.errno) if error.errno else error.strerror
        raise (InputError if is_disk else UsageError)(f"cannot write {output}: {why}.") from error


def denied(error: BaseException) -> str | None:
    """Which file or folder cannot be used and why, in a sentence, where that is what went wrong."""
    if not isinstance(error, OSError) or error.errno not in DENIED:
        return None
    return f"cannot read or write {error.filename or 'a file'}: {error.strerror}."


MUCH_LESS = 0.1
"""Similarity a second suggestion may lose against the first."""


def meant(word: str, known: Iterable[str]) -> str:
    """`did you mean A or B? ` with the names nearest to what was typed; empty where none is near."""
    from difflib import SequenceMatcher, get_close_matches

    names = {name.casefold().lstrip("-"): name for name in known}
    typed = word.casefold().lstrip("-")
    near = sorted((name for name in names if len(typed) > 2 and name.startswith(typed)), key=len)[:2]
    near = near or get_close_matches(typed, names, n=2)
    likeness = [SequenceMatcher(None, name, typed).ratio() for name in near]
    near = [name for name, like in zip(near, likeness, strict=True) if like > max(likeness) - MUCH_LESS]
    return f"did you mean {' or '.join(names[name] for name in near)}? " if near else ""


def unknown(what: str, word: object, known: Iterable[str], all_of_them: str) -> UsageError:
    """Return the error for an unknown name, with the probable one, and where the names of all are to be found."""
    known = list(known)
    hint = meant(str(word), known)
    rest = f"{hint}{all_of_them}" if hint else f"choose from: {', '.join(known)}."
    return UsageError(f"there is no {what} {word!r}; {rest}")
