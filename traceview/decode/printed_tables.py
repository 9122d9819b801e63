"""Tables that a tool printed into a text log, for SQL to read by the names of their columns.

Invariant: a column is where its header says, in the unit its header says, and NULL where the table has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from traceview.lazy import duckdb


@dataclass(frozen=True)
class Header:
    """The header of a table: its labels in order, the unit of each where one is given, and what separates cells."""

    labels: tuple[str, ...]
    csv: bool
    units: tuple[str | None, ...] = ()

    def __contains__(self, label: object) -> bool:
        return label in self.labels

    def places(self, names: Mapping[str, str]) -> pa.Table:
        """One row, one column `h`: per name the place of the column, from 1, and `<name>_unit`; and the `width`."""
        columns: dict[str, pa.Array] = {"width": pa.array([len(self.labels)], pa.int64())}
        for label, name in names.items():
            if label not in self.labels and name in columns:
                continue
            at = self.labels.index(label) if label in self.labels else None
            unit = self.units[at] if at is not None and at < len(self.units) else None
            columns[name] = pa.array([None if at is None else at + 1], pa.int64())
            columns[f"{name}_unit"] = pa.array([unit], pa.string())
        return pa.table({"h": pa.StructArray.from_arrays(list(columns.values()), list(columns))})


def register(connection: duckdb.DuckDBPyConnection, rows: pa.Array, places: pa.Table) -> None:
    """Make `lines` (row, line) and `header` (h) visible to the queries that read a table."""
    connection.register("lines", pa.table({"row": pa.array(range(len(rows)), pa.int64()), "line": rows}))
    connection.register("header", places)
