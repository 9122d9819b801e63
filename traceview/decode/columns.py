"""What is wanted of another tool's tables: which columns, as which types, whose rows.

Invariant: whatever a file holds, what is handed on has exactly the wanted columns in the wanted types; what is
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
"""Column names and the types (keys of `TYPES`) they are wanted as."""


@dataclass(frozen=True)
class Owner:
    """Which processes' rows are wanted, by the process in bits 24 to 47 of a column."""

    pids: frozenset[int]
    outsiders: bool
    """Whether the rows wanted are those of all other processes (and of none)."""
    columns: tuple[str, ...] = ()
    """The first of these that a table has tells whose row it is; a table without any belongs to the outsiders."""

    def column(self, present: tuple[str, ...]) -> str | None:
        """The column that tells, of those in a table."""
        return next((name for name in self.columns if name in present), None)


class Tables(Protocol):
    """Where rows come from."""

    columns: dict[str, tuple[str, ...]]
    """Every table there is, and its columns."""
    damage: list[str]
    long_texts: dict[str, int]
    """How many texts of a table were too long and came as NULL: the most that one reading of it met."""

    def rows(self, table: str, wanted: Columns, owner: Owner | None = None) -> Iterator[pa.RecordBatch]:
        """Batches with exactly the wanted columns, in order."""


def conform(batch: pa.RecordBatch, wanted: Columns) -> pa.RecordBatch:
    """The wanted columns in their types; what is missing or cannot be converted is NULL."""
    places = {name: batch.schema.get_field_index(name) for name in wanted}
    return _record({name: batch.column(place) for name, place in places.items() if place >= 0}, len(batch), wanted)


def conform_bounded(batch: pa.RecordBatch, wanted: Columns) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The same of a batch that nobody has checked, piece after piece, each with its number of texts too long."""
    places = {name: batch.schema.get_field_index(name) for name in wanted}
    names = [name for name, place in places.items() if place >= 0]
    for begin in range(0, len(batch), BATCH_ROWS):
        part = batch.slice(begin, BATCH_ROWS)
        if not names:
            yield _record({}, len(part), wanted), 0
        limits = [LIMITS[wanted[name]] for name in names]
        for columns, n_long in Bounded([part.column(places[name]) for name in names], limits).pieces():
            yield _record(dict(zip(names, columns, strict=True)), len(columns[0]), wanted), n_long


def _record(columns: dict[str, pa.Array], count: int, wanted: Columns) -> pa.RecordBatch:
    arrays = []
    for name, kind in wanted.items():
        array = _typed(columns[name], TYPES[kind]) if name in columns else pa.nulls(count, TYPES[kind])
        arrays.append(_bounded(array) if kind == "BOUNDED" else array)
    return pa.RecordBatch.from_arrays(arrays, names=list(wanted))


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
