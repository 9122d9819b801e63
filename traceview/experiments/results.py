"""Rows of an experiment as an ordinary capture folder, on which `report`, `sql`, `page` and `compare` work.

`raw/` holds what is measured, a row in each line (`readers/experiment.py` reads it): a journal that only grows, and the
answers that rest on it, replaced as a whole. The tables are made from both, again with each version of traceview.

Invariant: what was measured is on disk before the next thing is measured, and whatever ends the program, the folder can
be read and gone on with.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from traceview import __version__, store
from traceview.errors import InputError, UsageError, shortage
from traceview.experiments import in_use
from traceview.ingest import secrets
from traceview.store import cache
from traceview.tables import BY_NAME

SCHEMA = 1
JOURNAL, ANSWERS = "rank-0000.experiment.jsonl", "rank-0000.answers.jsonl"
Row = Mapping[str, Any]


def write(folder: Path, rows: Mapping[str, Iterable[Row]], about: Row) -> Path:
    """A new capture folder out of rows by table, whole or not there; `about` as for `Journal`."""
    with cache.building(folder.resolve()) as built:
        Journal(built, about).add_all(rows)
        store.convert_raw(built)
    return folder


class Journal:
    """A capture folder that grows with each row."""

    def __init__(self, folder: Path, about: Row) -> None:
        """`about`: what `capture.json` says: kind (tune, study ...), command (a list of words), framework,
        framework_version, and whatever else describes the experiment. A folder with a journal is gone on with.
        Raises `UsageError` where another process writes to it."""
        self.folder = folder
        self._hold = in_use.hold(folder)
        self.about = {"kind": None, "command": None, "framework": None, **about}
        self._file = folder / "raw" / JOURNAL
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            if self._file.exists():
                _cut_unended(self._file)
            else:
                self._file.write_text(_line(self._head()), encoding="utf-8")
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
        replace(self.folder / "capture.json", json.dumps(secrets.document(told), indent=1) + "\n")

    def add(self, table: str, row: Row) -> None:
        """Put one row on disk."""
        self.add_all({table: [row]})

    def add_all(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """Put rows on disk, by table."""
        with self._file.open("a", encoding="utf-8") as file:
            for table, each in rows.items():
                file.writelines(_row(table, row) for row in each)
            file.flush()
            os.fsync(file.fileno())

    def answer(self, rows: Mapping[str, Iterable[Row]]) -> None:
        """Put answers on disk instead of the earlier ones."""
        lines = [_row(table, row) for table, each in rows.items() for row in each]
        replace(self.folder / "raw" / ANSWERS, _line(self._head()) + "".join(lines))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table so far, in the order in which they came."""
        return [row for name, row in _read(self._file) if name == table]

    def answered(self, table: str) -> list[dict[str, Any]]:
        """The answers of a table so far."""
        file = self.folder / "raw" / ANSWERS
        return [row for name, row in _read(file) if name == table] if file.is_file() else []

    def finish(self) -> Path:
        """Make the tables."""
        return store.convert_raw(self.folder)


def is_begun(folder: Path) -> bool:
    """Whether a folder has a journal, and can be gone on with."""
    return (folder / "capture.json").is_file() and (folder / "raw" / JOURNAL).is_file()


def described(folder: Path) -> dict[str, Any]:
    """What `capture.json` says of an experiment. Raises `InputError` where there is none."""
    try:
        found = json.loads((folder / "capture.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not (folder / "raw" / JOURNAL).is_file():
        what = "holds no results of traceview tune, schedule or study" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}.")
    return found


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


def _read(file: Path) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
            found.append((str(value["table"]), dict(value["row"])))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return found


def _cut_unended(file: Path) -> None:
    """Take off a last line that was cut short when the program was ended while it wrote."""
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(file, whole)


def replace(path: Path, text: str) -> None:
    """Write a file so that it is whole or as it was before, whatever ends the program meanwhile."""
    draft = path.with_name(f".{path.name}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
