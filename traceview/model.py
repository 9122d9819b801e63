"""Plain data without behaviour: a report once it has been run, for the renderers; options of a conversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Progress = Callable[[int, int], None]
"""Called with bytes read and bytes in all."""


@dataclass(frozen=True)
class Options:
    """How a conversion may use the machine."""

    threads: int | None = None
    memory_bytes: int | None = None
    strict: bool = False
    progress: Progress | None = None


@dataclass(frozen=True)
class Column:
    """A column of a section: its name (the suffix is the unit), DuckDB type and meaning."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True)
class Section:
    """One table of a report. `note` is a sentence in place of rows when the question cannot be answered."""

    name: str
    title: str
    doc: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str | None
    sql: str


@dataclass(frozen=True)
class Report:
    """A whole report: its sections, and the footer that says what the numbers rest on."""

    name: str
    title: str
    doc: str
    sections: tuple[Section, ...]
    footer: tuple[str, ...]
