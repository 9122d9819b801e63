"""Finds traces: which files and folders of an input are traces, and which of them supersede others.

Invariant: a trace is opened and recognised at most once per run; everything after that shares the answer.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from types import ModuleType

from traceview import readers
from traceview.decode.files import peek
from traceview.errors import InputError, meant
from traceview.store.cache import CACHE_SUFFIX, KEY_FILE
from traceview.store.integrity import is_plain

NAMES = 1000
"""Names in a folder among which one that was mistyped is looked for."""
TABLE = "captures.parquet"
"""The table that every rank of a capture has."""
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")


@dataclass(frozen=True)
class Trace:
    """A file, or a folder that is one trace."""

    path: Path

    @cached_property
    def reader(self) -> ModuleType:
        """The reader that recognises it, asked for when first needed. Raises `InputError` when none does."""
        try:
            return readers.detect(peek(self.path))
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror}.") from error

    def is_recognised(self) -> bool:
        """Whether it is a trace at all."""
        try:
            return bool(self.reader)
        except InputError:
            return False


def find(path: Path) -> list[Trace]:
    """The traces behind an input. A file that is named itself is taken for one, and recognised when it is read.

    Raises `InputError` when there is none.
    """
    check_name(path)
    if path.is_file():
        if _is_table(path):
            raise InputError(f"{path} is a table of a capture; name the capture: {path.parent.parent}.")
        return [Trace(path)]
    if not path.is_dir():
        # A shell replaces patterns itself; one in quotes arrives as it is, and so does one that a program gives.
        names = glob(str(path)) if has_magic(str(path)) else []  # noqa: PTH207  (it takes absolute patterns too)
        if found := not_superseded(_among(map(Path, names))):
            return found
        raise InputError(_unreadable(path) if path.exists() or path.is_symlink() else _absent(path))
    whole = Trace(path)
    found = [whole] if whole.is_recognised() else not_superseded(_inside(path))
    if not found:
        raise InputError(_without_traces(path))
    return found


def _unreadable(path: Path) -> str:
    if path.is_fifo():
        return f"{path} is a pipe, and only stdin is read from one: `traceview report - < PIPE`."
    if not path.exists():
        return f"{path} is a link to {path.readlink()}, which does not exist."
    return f"{path} is not a regular file or folder."


def _without_traces(folder: Path) -> str:
    """Why there is no trace in a folder: captures are read as they are, and not made into another."""
    table = next(folder.rglob(TABLE), None)
    if table is None and is_plain(folder / KEY_FILE):
        return f"{folder} is a damaged capture: the tables of its ranks are missing; convert its trace again."
    if table is None:
        return f"{folder} holds no trace of a recognised format; `traceview list formats` shows what can be read."
    capture = table.parent.parent
    if capture.resolve() != folder.resolve():
        return f"{folder} holds captures and no trace; name one of them, for example {capture}."
    key = folder / KEY_FILE
    if not is_plain(key):
        fault = "is not a regular file" if key.exists() or key.is_symlink() else "is missing"
        return f"{folder} is a damaged capture: its {KEY_FILE} {fault}; convert its trace again."
    return f"{folder} is a capture already, which every verb opens as it is: there is no trace in it to convert."


def _is_table(path: Path) -> bool:
    """Whether it is a table of a capture, or the folder of those of a rank."""
    return (path.suffix == ".parquet" and (path.parent / TABLE).is_file()) or (path / TABLE).is_file()


def _absent(path: Path) -> str:
    """Why there is nothing: traces are not fetched from anywhere."""
    address = _ADDRESS.match(str(path))
    if not address:
        if {"*", "?"} & set(str(path)):
            names = glob(str(path))  # noqa: PTH207
            found = f"is among the {len(names)} that match {path}" if names else f"matches {path}"
            return f"no trace of a recognised format {found}." if names else f"no file {found}."
        hint = meant(path.name, _beside(path))
        return f"{path} does not exist; {hint}".rstrip() if hint else f"{path} does not exist."
    # A path has lost one of the two slashes.
    whole = f"{address[1]}://{str(path)[address.end() :]}"
    if address[1].lower() == "file":
        return f"{whole} is a URL; give the path /{whole[7:].lstrip('/')} instead."
    return f"{whole} is a URL, and traceview does not download: fetch it first, or pipe it into `traceview report -`."


def _beside(path: Path) -> list[str]:
    """Names of what could have been meant by a path that leads nowhere."""
    with contextlib.suppress(OSError):
        found = itertools.islice(path.absolute().parent.iterdir(), NAMES)
        return [entry.name for entry in found if not entry.name.startswith(".") and entry.suffix != CACHE_SUFFIX]
    return []


def not_superseded(traces: Iterable[Trace]) -> list[Trace]:
    """The traces without those that another of them supersedes: it holds the same and more, or is easier to read."""
    traces = list(traces)
    paths = {trace.path for trace in traces}
    return [
        trace
        for trace in traces
        if not trace.is_recognised() or paths.isdisjoint(readers.superseded_by(trace.reader, trace.path))
    ]


def check_name(path: Path) -> None:
    """Raises `InputError` for a path that is too long, or not text: DuckDB can neither open nor store it."""
    try:
        f"{path.absolute()}{os.path.realpath(path)}".encode()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            path.lstat()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}, or what it leads to, is not UTF-8 text and cannot be opened; rename it.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from error


def _inside(folder: Path) -> list[Trace]:
    """Find the traces in a folder, at any depth; a folder that is a trace is one, whatever lies in it.

    Raises `InputError` for a folder of captures: each is a run of its own.
    """
    captures = sorted(path.parent.name for path in folder.glob("*/capture.json"))
    if captures:
        names = ", ".join(captures[:4]) + (" ..." if len(captures) > 4 else "")
        raise InputError(f"{folder} holds captures of several runs or times ({names}); name one, or compare them.")
    return _among(folder.rglob("*"), folder)


def _among(paths: Iterable[Path], folder: Path | None = None) -> list[Trace]:
    """The traces among these, but what is hidden or cached: in `folder`, or by their own names.

    With them those that are empty, whose names end as theirs do, and whatever differs from one of them in the numbers
    of its name alone: a rank whose trace is lost is not to be overlooked.
    """
    found: list[Trace] = []
    others: list[Trace] = []
    taken: set[Path] = set()
    for path in sorted(paths):
        check_name(path)
        within = path.relative_to(folder).parts if folder else path.parts[-1:]
        if any(part.startswith(".") or part.endswith(CACHE_SUFFIX) for part in within):
            continue
        trace = Trace(path)
        if not (_may_be_trace(path) and taken.isdisjoint(path.parents)):
            continue
        if trace.is_recognised():
            taken.add(path)
            found.append(trace)
        elif path.is_file():
            others.append(trace)
    files = [trace for trace in found if trace.path.is_file()] if others else []
    endings = {_ending(trace.path) for trace in files}
    # A log beside a trace says as much as it does: what one of another rank holds is not known.
    names = {_unnumbered(trace.path) for trace in files if not getattr(trace.reader, "COMPANION", False)}
    lost = [
        trace for trace in others
        if _unnumbered(trace.path) in names or (_ending(trace.path) in endings and _is_blank(trace.path))
    ]  # fmt: skip
    return sorted([*found, *lost], key=lambda trace: trace.path) if lost else found


def _ending(path: Path) -> tuple[str, ...]:
    """The end of a name that tells the kind of file: .json, or .json.gz."""
    return tuple(path.suffixes[-2:] if path.suffix in (".gz", ".zst", ".bz2", ".xz") else path.suffixes[-1:])


def _unnumbered(path: Path) -> str:
    return re.sub(r"\d+", "0", path.name)


def _is_blank(path: Path) -> bool:
    """Whether a file holds nothing, packed or not, or zeros alone as one does whose data never reached the disk."""
    try:
        return not peek(path).head.strip(b"\0")
    except InputError:
        return True


def _may_be_trace(path: Path) -> bool:
    """Return whether to look at a path: not at FIFOs and devices (reading blocks), nor a capture's own tables."""
    try:
        return (path.is_file() or path.is_dir()) and not _is_table(path)
    except OSError:
        return False
