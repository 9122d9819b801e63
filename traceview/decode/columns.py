"""Queries of another tool's tables: which columns, as which types, of which processes.

Invariant: whatever a file holds, what is handed on has exactly the columns asked for, in their types; what is
missing or does not fit is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from traceview.decode.text_bounds import BATCH_ROWS, MAX_NAME_BYTES, MAX_TEXT_BYTES, Bounded, is_bytes

TYPES = {
    "BIGINT": pa.int64(),
    "BOUNDED": pa.int64(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "NAME": pa.string(),
}
"""Types a column can be asked for as. A BLOB asked for as VARCHAR comes as hexadecimal digits; a NAME is a VARCHAR that
rows of other tables refer to; BOUNDED is a BIGINT within `BOUND`, for what is added or subtracted: no sum of two leaves
64 bits."""
BOUND = 4 * 10**18
LIMITS = {kind: MAX_NAME_BYTES if kind == "NAME" else MAX_TEXT_BYTES for kind in TYPES}
"""Bytes that a text may have."""

Columns = Mapping[str, str]
"""Column names and the types (keys of `TYPES`) they are asked for as."""


@dataclass(frozen=True)
class Processes:
    """Which processes' rows are read, by the process in bits 24 to 47 of a column."""

    pids: frozenset[int]
    is_all_others: bool
    """Whether the rows are those of all other processes, and those without a process."""
    columns: tuple[str, ...] = ()
    """The first of these that a table has holds the process of a row; rows of a table without any have none."""

    def column(self, present: tuple[str, ...]) -> str | None:
        """The column that holds the process, of those in a table."""
        return next((name for name in self.columns if name in present), None)


class Tables(Protocol):
    """Source of rows."""

    columns: dict[str, tuple[str, ...]]
    """Every table there is, and its columns."""
    damage: list[str]
    long_texts: dict[str, int]
    """How many texts of a table were too long and came as NULL: the most that one reading of it met."""

    def rows(self, table: str, columns: Columns, processes: Processes | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly these columns, in order."""


def conform(batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """The columns in the types asked for; what is missing or cannot be converted is NULL."""
    places = {name: batch.schema.get_field_index(name) for name in columns}
    return _record({name: batch.column(place) for name, place in places.items() if place >= 0}, len(batch), columns)


def conform_bounded(batch: pa.RecordBatch, columns: Columns) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Conform a batch that nobody has checked, piece after piece, each with its number of texts too long."""
    places = {name: batch.schema.get_field_index(name) for name in columns}
    names = [name for name, place in places.items() if place >= 0]
    for begin in range(0, len(batch), BATCH_ROWS):
        part = batch.slice(begin, BATCH_ROWS)
        if not names:
            yield _record({}, len(part), columns), 0
        limits = [LIMITS[columns[name]] for name in names]
        for arrays, n_long in Bounded([part.column(places[name]) for name in names], limits).pieces():
            yield _record(dict(zip(names, arrays, strict=True)), len(arrays[0]), columns), n_long


def _record(found: dict[str, pa.Array], count: int, columns: Columns) -> pa.RecordBatch:
    arrays = []
    for name, kind in columns.items():
        array = _typed(found[name], TYPES[kind]) if name in found else pa.nulls(count, TYPES[kind])
        arrays.append(_bounded(array) if kind == "BOUNDED" else array)
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _bounded(array: pa.Array) -> pa.Array:
    limits = pc.min_max(array).as_py()
    if limits["min"] is None or (limits["min"] >= -BOUND and limits["max"] <= BOUND):
        return array
    inside = pc.and_(pc.greater_equal(array, -BOUND), pc.less_equal(array, BOUND))
    return pc.if_else(inside, array, pa.scalar(None, array.type))


def _typed(array: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type != type_:
        if is_bytes(array.type):
            return pa.array(
                [None if value is None else value.hex().upper() for value in array.to_pylist()], pa.string()
            )
        try:
            array = pc.cast(array, type_, safe=False)
        except pa.ArrowException:
            return pa.nulls(len(array), type_)
    if type_ == pa.string():
        try:
            array.validate(full=True)
        except pa.ArrowException:
            raw = array.cast(pa.binary())
            return pa.array([None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()])
    return array


def reason(error: Exception) -> str:
    """The first line of what a library says, cut to a readable length."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__
