"""Bounds on the texts and batches of another tool's tables, whatever they are stored as.

Invariant: nothing is decoded, copied or compared before its length is known to be true and within bounds. What is
longer is NULL and counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MAX_TEXT_BYTES = 1 << 20
"""The longest text or blob that is read from a database, a Parquet or Arrow file, or an XPlane."""
MAX_NAME_BYTES = 16 << 10
"""The longest text that others refer to by number: every row that does holds it again."""
TOO_LONG = f"texts longer than {MAX_TEXT_BYTES >> 20} MiB, or names longer than {MAX_NAME_BYTES >> 10} KiB, left out"
MAX_BATCH_BYTES = 64 << 20
"""Text that is decoded at once."""
MAX_UNPACKED_BYTES = 256 << 20
"""Maximum size to which a page of Parquet, or the compressed body of a batch of Arrow, may unpack."""
BATCH_ROWS = 1 << 16
_AS_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
"""Types for the same buffers without the promise that they hold UTF-8, which is checked where a text is used."""


class Bounded:
    """Some columns of a batch, checked. `array` of one that cannot be read is NULL throughout."""

    def __init__(self, columns: list[pa.Array], limits: list[int]) -> None:
        """`limits`: the most bytes a text of each column may have."""
        self.limits = limits
        self.columns: list[pa.Array] = []
        self.lengths: list[NDArray[np.int64] | None] = []
        for column in columns:
            try:
                lengths = _lengths(column)
            except (pa.ArrowException, pa.ArrowNotImplementedError):
                column, lengths = pa.nulls(len(column)), None
            self.columns.append(column)
            self.lengths.append(lengths)

    def pieces(self) -> Iterator[tuple[list[pa.Array], int]]:
        """The columns, `MAX_BATCH_BYTES` of text at a time, and how many texts of a piece were too long."""
        count = len(self.columns[0]) if self.columns else 0
        total = np.zeros(count, np.int64)
        for lengths, limit in zip(self.lengths, self.limits, strict=True):
            if lengths is not None:
                total += np.where(lengths > limit, 0, lengths)
        upto = np.cumsum(total)
        begin = 0
        while begin < count:
            before = int(upto[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(upto, before + MAX_BATCH_BYTES, "right")))
            n_long, piece = 0, []
            for column, lengths, limit in zip(self.columns, self.lengths, self.limits, strict=True):
                part = column.slice(begin, end - begin)
                is_long = lengths[begin:end] > limit if lengths is not None else np.zeros(0, bool)
                n_long += int(np.count_nonzero(is_long))
                piece.append(_without(part, is_long) if is_long.any() else part)
            yield piece, n_long
            begin = end


def _lengths(array: pa.Array) -> NDArray[np.int64] | None:
    """Bytes of each text, 0 for NULL; None for what is not text. Raises `pa.ArrowException` for what is not sound."""
    type_ = array.type
    if pa.types.is_dictionary(type_):
        array.indices.validate(full=True)
        within = pc.min_max(array.indices).as_py()
        if within["max"] is not None and not 0 <= within["min"] <= within["max"] < len(array.dictionary):
            raise pa.ArrowInvalid("an index lies outside its dictionary")
        if _is_view(array.dictionary.type) or pa.types.is_dictionary(array.dictionary.type):
            raise pa.ArrowNotImplementedError("no dictionary of numbers or texts")
        known = _lengths(array.dictionary)
        if known is None or not len(known):
            return None
        places = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False)
        return np.where(pc.is_valid(array.indices).to_numpy(zero_copy_only=False), known[places], 0)
    if pa.types.is_nested(type_) or pa.types.is_run_end_encoded(type_) or isinstance(type_, pa.BaseExtensionType):
        raise pa.ArrowNotImplementedError("no column of numbers or texts")
    plain = array.view(_AS_BYTES[type_]) if type_ in _AS_BYTES else array
    plain.validate(full=True)
    if _is_view(type_):
        views = np.frombuffer(plain.buffers()[1], np.int32).reshape(-1, 4)[array.offset : array.offset + len(array), 0]
        return np.where(pc.is_valid(array).to_numpy(zero_copy_only=False), views, 0).astype(np.int64)
    if is_bytes(plain.type):
        lengths: NDArray[np.int64] = pc.fill_null(pc.binary_length(plain), 0).to_numpy(zero_copy_only=False)
        return lengths
    return None


def _without(array: pa.Array, is_long: NDArray[np.bool_]) -> pa.Array:
    """The array with NULL for some of its texts, which are not copied."""
    if pa.types.is_dictionary(array.type):
        indices = pc.if_else(pa.array(is_long), pa.scalar(None, array.indices.type), array.indices)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary)
    plain = array.view(_AS_BYTES[array.type]) if array.type in _AS_BYTES else array
    if _is_view(array.type):
        short = (None if long else value.as_py() for value, long in zip(plain, is_long.tolist(), strict=True))
        return pa.array(short, pa.binary_view()).view(array.type)
    return pc.if_else(pa.array(is_long), pa.scalar(None, plain.type), plain).view(array.type)


def _is_view(type_: pa.DataType) -> bool:
    return bool(type_ in (pa.string_view(), pa.binary_view()))


def is_bytes(type_: pa.DataType) -> bool:
    """Whether these are bytes that need not be text."""
    return bool(type_ in (pa.binary(), pa.large_binary(), pa.binary_view()) or pa.types.is_fixed_size_binary(type_))
