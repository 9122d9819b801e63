"""The schema: every table and column of a capture, with type, unit and meaning, out of `tables.toml`.

Conventions, which are the whole manual: time is a 64-bit integer of nanoseconds since the capture's origin
(`captures.origin_unix_ns`); a column's suffix is its unit (`_ns`, `_bytes`, `_pct`, `_hz`, `_flop`, `_per_s`), no
suffix means a count, an id or a name; NULL means "not recorded"; `id` is unique over all tables of a capture.

A column is written by a reader unless it is `derived`: then `traceview/ingest/derive` works it out from the rest. Only
captures with rows of an experiment (tune, study, schedule) or of allocations have files of these tables.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import tomli

RANK_SHIFT = 40
"""ids are `rank << RANK_SHIFT | position in the rank's file`, so a capture holds a million million rows per rank."""

ID = "ID"
"""Type of a column that holds an id of this capture; BIGINT in the files."""

_SQL_TYPES = {ID: "BIGINT", "PROBLEMS": "STRUCT(kind VARCHAR, n BIGINT, examples VARCHAR[])[]"}


@dataclass(frozen=True)
class Column:
    """One column: DuckDB type (or `ID`), meaning, and whether it is derived rather than read."""

    name: str
    type: str
    doc: str
    derived: bool = False

    @property
    def sql_type(self) -> str:
        """The DuckDB type in files and views."""
        return _SQL_TYPES.get(self.type, self.type)


@dataclass(frozen=True)
class Table:
    """One table: what a row is, and its columns in order. `rank` comes first in every table and is added on the way."""

    name: str
    doc: str
    columns: tuple[Column, ...]
    optional: bool = False
    """Whether captures without a row of it have no file either; it is an empty table there."""

    @property
    def has_id(self) -> bool:
        """Whether rows carry an `id`."""
        return any(column.name == "id" for column in self.columns)

    def read_columns(self) -> tuple[Column, ...]:
        """The columns that readers write."""
        return tuple(column for column in self.columns if not column.derived)

    def derived_columns(self) -> tuple[Column, ...]:
        """The columns that `derive` adds."""
        return tuple(column for column in self.columns if column.derived)


def _column(line: str) -> Column:
    name, type_, doc = line.split(None, 2)
    return Column(name.lstrip("+"), type_, doc, derived=name.startswith("+"))


def _read(path: Path) -> tuple[Table, ...]:
    """The tables that a file describes."""
    found = tomli.loads(path.read_text(encoding="utf-8"))
    groups = {f"*{name}": lines.splitlines() for name, lines in found["groups"].items()}
    tables = []
    for name, table in found["tables"].items():
        lines = [one for line in table["columns"].splitlines() for one in groups.get(line, [line])]
        tables.append(Table(name, table["doc"], tuple(map(_column, lines)), table.get("optional", False)))
    return tuple(tables)


TABLES = _read(Path(__file__).with_suffix(".toml"))
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}

SCHEMA_VERSION = hashlib.sha256(repr(TABLES).encode()).hexdigest()[:16]
"""Part of every cache key: a cache written with other tables or columns is rebuilt."""
