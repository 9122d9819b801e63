"""One task for each rank: its files become a folder of tables, on their own clock and with ids of their own.

Invariant: a part is complete or absent. Its name is made of its files and of the code that reads them, so that it is
found again by who goes on, and never taken for that of other files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from traceview.decode.files import files_in
from traceview.errors import InputError
from traceview.ingest.finish import Export, finish
from traceview.ingest.options import Options
from traceview.paths import temporary_folder
from traceview.store import cache, conversion, integrity
from traceview.store.staging import Stages

BUILDING = ".making-"
FACTS = "part.json"
"""Written last."""
_STAGES = Stages()
"""Stages of this process, which reads one rank after the other."""


@dataclass(frozen=True)
class Task:
    """One rank to read, as it travels to another process."""

    sources: tuple[tuple[str, str, Any], ...]
    """Path, module of the reader, and which part of the file."""
    place: str
    """Folder of the part when it is complete."""
    n_bytes: int
    rank: int | None
    about: dict[str, Any]
    options: Options

    @property
    def name(self) -> str:
        """The file, as it is named to people."""
        return Path(self.sources[0][0]).name

    def group(self) -> conversion.Group:
        """Return the group with its readers."""
        found = [conversion.Source(Path(path), import_module(reader), part) for path, reader, part in self.sources]
        return conversion.Group(found, self.rank, self.about)


@dataclass(frozen=True)
class Part(conversion.Identity):
    """Result of reading a rank."""

    place: str = ""
    name: str = ""
    """The file, as it is named to people."""
    n_rows: int = 0
    refused: str = ""
    """Why it cannot be read, in a sentence."""


def plan(groups: Sequence[conversion.Group], place: Path, jobs: int, options: Options) -> list[Task]:
    """The tasks of a job, whose parts are to lie in `place`; each has its share of the machine."""
    share = options.shared(jobs)
    return [_task(group, place, share) for group in groups]


def _task(group: conversion.Group, place: Path, options: Options) -> Task:
    files = [source.path for source in group.sources]
    which = repr([source.part for source in group.sources])
    key = json.dumps([cache.key(files, (), options.strict), which, group.rank, group.about], default=str)
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    sources = tuple((str(source.path), source.reader.__name__, source.part) for source in group.sources)
    return Task(sources, str(place / name), conversion.size(group), group.rank, group.about, options)


def convert(task: Task) -> Part:
    """Read one rank, unless its part is there. Raises `NoRoom` where the machine is what fails."""
    place = Path(task.place)
    if (found := _found(place)) is not None:
        return found
    try:
        with temporary_folder(BUILDING, place.parent) as building:
            made = _read(task, building)
            (building / FACTS).write_text(json.dumps(asdict(made)), encoding="utf-8")
            with contextlib.suppress(OSError):  # Where another worker was first, its part is the same.
                building.rename(place)
    except Exception as error:
        return Part(refused=conversion.reason(error, Path(task.sources[0][0])))
    return replace(made, place=task.place)


def _read(task: Task, building: Path) -> Part:
    group = task.group()
    for source in group.sources:
        if not any(True for _ in files_in(source.path)):
            raise InputError(f"{source.path} does not exist.")
    with conversion.staged(group, building, task.options, _STAGES) as sink:
        found = conversion.identity(group, sink)
        n_rows = int(sink.facts.get("n_kept", 0)) or sink.next_id
        # Each rank is number 0 on its own clock until all are known.
        finish(Export(sink, building / "tables", is_part=True))
        return Part(**asdict(found), name=str(task.sources[0][0]), n_rows=n_rows)


def _found(place: Path) -> Part | None:
    facts = integrity.read_json(place / FACTS)
    return Part(**{**facts, "place": str(place)}) if facts else None
