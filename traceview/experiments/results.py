"""Rows of an experiment as an ordinary capture folder, on which `report`, `sql`, `page` and `compare` work.

`raw/` holds what is measured, a row in each line (`readers/experiment.py` reads it): a journal that only grows, and the
answers that rest on it, replaced as a whole. The tables are made from both, again with each version of traceview.

Invariant: what was measured is on disk before the next thing is measured, and whatever ends the program, the folder can
be read and gone on with.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import shlex
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from traceview import __version__, store
from traceview.errors import InputError, UsageError, shortage
from traceview.experiments import inside, records, trust
from traceview.ingest import secrets
from traceview.readers.experiment import fitting
from traceview.store import cache, integrity
from traceview.tables import BY_NAME

SCHEMA = 1
JOURNAL = "rank-0000.experiment.jsonl"
ROWS = f"raw/{JOURNAL}"
KINDS: Mapping[str, Any] = {
    **dict.fromkeys(("kind", "folder", "framework", "framework_version"), str | None),
    "command": tuple[str, ...] | str | None, "settings": dict[str, Any] | None, "ranks": tuple[dict[str, Any], ...],
    "finished": bool, "recorded": tuple[str, ...] | None,
}  # fmt: skip
"""Types of what `capture.json` says of an experiment."""
Row = Mapping[str, Any]


def write(folder: Path, rows: Mapping[str, Iterable[Row]], about: Row) -> Path:
    """A new capture folder out of rows by table, whole or not there; `about` as for `Journal`."""
    with cache.building(folder.resolve()) as built:
        Journal(built, about, is_kept=False).add_all(rows)
        store.convert_raw(built)
    return folder


class Journal:
    """A capture folder that grows with each row."""

    def __init__(self, folder: Path, about: Row, is_kept: bool = True) -> None:
        """`about`: what `capture.json` says: kind (tune, study ...), command (a list of words), framework,
        framework_version, and whatever else describes the experiment. A folder with a journal is gone on with.
        `is_kept`: whether the folder stays at its place, so that it can be marked as the user's.
        Raises `UsageError` where another process writes to it."""
        self.folder = folder
        self._hold = hold(folder)
        self.about = {"kind": None, "command": None, "framework": None, **about}
        self.is_new = not inside.exists(folder, ROWS)
        """Whether nothing was measured into it before."""
        is_empty = self.is_new and not inside.exists(folder, trust.ABOUT)
        self._is_mine = is_kept and (is_empty or trust.is_mine(folder))
        try:
            with inside.opened(folder, ROWS, "ab") as file:
                if self.is_new:
                    file.write(_line(self._head()).encode())
            _cut_unended(folder)
            self.describe()
        except OSError as error:
            raise UsageError(f"cannot write to {folder}: {shortage(error) or f'{error.strerror}.'}") from error

    def _head(self) -> dict[str, Any]:
        named = {name: self.about.get(name) for name in ("kind", "framework", "framework_version")}
        return {"traceview": "experiment", "version": __version__, **named}

    def describe(self, **more: Any) -> None:
        """Write `capture.json`, with more to say than before."""
        self.about |= more
        told = {
            "schema": SCHEMA,
            "tool": f"traceview {__version__}",
            "folder": Path.cwd().name,
            "started_unix_ns": time.time_ns(),
            "ranks": [],
            **self.about,
        }
        self.about["started_unix_ns"] = told["started_unix_ns"]
        if isinstance(told["command"], list):
            told["command"] = secrets.command(told["command"])
        self._replace(trust.ABOUT, json.dumps(secrets.document(told), indent=1) + "\n")

    def _replace(self, name: str, text: str) -> None:
        if self._is_mine:
            trust.note(self.folder, name, text.encode())
        inside.replace(self.folder, name, text.encode())

    def add(self, table: str, row: Row) -> None:
        """Put one row on disk."""
        self.add_all({table: [row]})

    def add_all(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """Put rows on disk, by table."""
        with inside.opened(self.folder, ROWS, "ab") as file:
            for table, each in rows.items():
                file.writelines(_row(table, row).encode() for row in each)
            file.flush()
            os.fsync(file.fileno())

    def answer(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """Put answers on disk instead of the earlier ones."""
        lines = [_row(table, row) for table, each in rows.items() for row in each]
        self._replace(trust.ANSWERS, _line(self._head()) + "".join(lines))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table so far, in the order in which they came."""
        return rows(self.folder, table)

    def answered(self, table: str) -> list[dict[str, Any]]:
        """The answers of a table so far."""
        return rows(self.folder, table, trust.ANSWERS)

    def finish(self) -> Path:
        """Make the tables."""
        return store.convert_raw(self.folder)


def is_begun(folder: Path) -> bool:
    """Whether a folder has a journal, and can be gone on with."""
    return all(integrity.is_plain(folder / name) for name in (trust.ABOUT, ROWS))


def described(folder: Path) -> dict[str, Any]:
    """Return what `capture.json` says of an experiment. Raises `InputError` without one, or for a wrong field."""
    found = about(folder, KINDS) if is_begun(folder) else {}
    if not found:
        what = "holds no results of traceview tune, schedule or study" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}.")
    return found


def about(folder: Path, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `capture.json` in a folder says, as far as `kinds` tells its types; empty where it is not JSON."""
    try:
        found = json.loads(inside.read(folder, trust.ABOUT, integrity.JSON_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {**found, **records.checked(found, kinds, str(folder / trust.ABOUT))}


def rows(folder: Path, table: str, name: str = ROWS) -> list[dict[str, Any]]:
    """Return the rows of a table in a journal, in the order in which they came; values of other types are left out."""
    try:
        text = inside.read(folder, name).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    columns = {column.name: column for column in BY_NAME[table].columns}
    found = []
    for line in text.splitlines():
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            value = json.loads(line)
            if value["table"] == table:
                row = {
                    name: fitting(columns[name], each) for name, each in dict(value["row"]).items() if name in columns
                }
                found.append({name: each for name, each in row.items() if each is not None})
    return found


def command(told: Mapping[str, Any], given: Sequence[str]) -> list[str]:
    """The words of a command, as results tell them. Raises `UsageError` where others are given, or none are whole."""
    earlier = [str(word) for word in told.get("command") or ()]
    words = list(given) or earlier
    if given and earlier and secrets.command(given) != earlier:
        raise UsageError(f"these runs are of `{shlex.join(earlier)}`; begin another folder.")
    if not words or (not given and any("***" in word for word in words)):
        raise UsageError("the command line was not kept whole; add it after --.")
    return words


def discard(folder: Path) -> None:
    """Remove what a run wrote into a new folder in which nothing was measured, and the folder if it holds no more."""
    logs = [path for path in (folder / "output").glob("*.txt") if integrity.is_plain(path)]
    for path in (*(folder / name for name in (*trust.DECIDING, ROWS)), *logs):
        with suppress(OSError):
            path.unlink()
    for path in (folder / "raw", folder / "output", folder / "captures", folder):
        with suppress(OSError):
            path.rmdir()


def _row(table: str, row: Row) -> str:
    assert BY_NAME[table].optional, table
    known = {column.name for column in BY_NAME[table].columns}
    assert row.keys() <= known, (table, row.keys() - known)
    return _line({"table": table, "row": {name: _plain(value) for name, value in row.items() if value is not None}})


def _plain(value: Any) -> Any:
    """A value that JSON can hold, texts without what looks like a secret."""
    if isinstance(value, str):
        return secrets.text(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False) + "\n"


def _cut_unended(folder: Path) -> None:
    """Take off a last line that was cut short when the program was ended while it wrote."""
    with inside.opened(folder, ROWS, "r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


RAW = "raw"
LOCKS = Path("/proc/locks")


class Hold:
    """A folder that no other process writes to while this object is there."""

    def __init__(self, handle: int) -> None:
        weakref.finalize(self, os.close, handle)


_HELD: weakref.WeakValueDictionary[tuple[int, int], Hold] = weakref.WeakValueDictionary()
"""By device and inode: what is held in this process, where several may share it."""


def hold(folder: Path) -> Hold:
    """Hold the folder of an experiment, made where it is absent. Raises `UsageError` where another process does."""
    try:
        (folder / RAW).mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / RAW, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}.") from error
    status = os.fstat(handle)
    held = _HELD.get((status.st_dev, status.st_ino))
    if held:
        os.close(handle)
        return held
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"{folder} is in use by {_process(status.st_ino)}; wait for it or name another folder."
        ) from None
    except OSError:
        pass  # A file system without locks: nobody can be told from anybody.
    _HELD[status.st_dev, status.st_ino] = held = Hold(handle)
    return held


def refuse(folder: Path) -> None:
    """Raise `UsageError` where another process holds the folder."""
    if (folder / RAW).is_dir():
        hold(folder)


def _process(inode: int) -> str:
    """The process that holds it, where the system says (Linux)."""
    try:
        lines = [line.split() for line in LOCKS.read_text(encoding="utf-8").splitlines()]
    except OSError:
        lines = []
    found = {words[4] for words in lines if "FLOCK" in words and words[5].rpartition(":")[2] == str(inode)}
    return f"process {found.pop()}" if len(found) == 1 else "another process"
