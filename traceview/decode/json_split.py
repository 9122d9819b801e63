"""Cuts a text of JSON objects into pieces, and hands them to Arrow without copying, all in column operations.

A cut is a guess. Whoever parses the pieces finds out which of them are whole objects.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

BATCH_ROWS = 16_384
BLOCK_BYTES = 1 << 18
_VIEW = np.dtype([("length", "<i4"), ("prefix", "<u4"), ("buffer", "<i4"), ("offset", "<i4")])
_INLINE = 12
"""Arrow keeps strings of up to so many bytes in the view itself."""

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
WORD = 8


def pieces(text: bytes, last: bool) -> tuple[Ints, Ints]:
    """Guess where events start and end: at every `{` that follows `} ,`. The last piece is complete only at the end."""
    data = np.frombuffer(text, np.uint8)
    braces = places(data, ord("{"))
    if not len(braces):
        return braces, braces
    commas = before(data, braces)
    is_comma = (commas >= 0) & (data[commas] == ord(","))
    closers = before(data, commas[is_comma])
    is_close = (closers >= 0) & (data[closers] == ord("}"))
    inner = braces[is_comma][is_close]
    ends = closers[is_close] + 1
    first = int(braces[0])
    keep = inner > first
    starts = np.concatenate([[first], inner[keep]])
    ends = ends[keep]
    if last:
        return starts, np.concatenate([ends, [len(text)]])
    return starts[:-1], ends


def places(data: NDArray[np.uint8], byte: int) -> Ints:
    """Where a byte stands. Block by block, so that what is made on the way stays in the processor's cache."""
    blocks = range(0, len(data), BLOCK_BYTES)
    found = [np.flatnonzero(data[start : start + BLOCK_BYTES] == byte) + start for start in blocks]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def before(data: NDArray[np.uint8], positions: Ints) -> Ints:
    """For each position the last one before it that holds no white space (at most 64 of it); -1 where there is none."""
    found = positions - 1
    open_ = np.flatnonzero(found >= 0)
    for _ in range(64):
        byte = data[found[open_]]
        open_ = open_[(byte == 32) | (byte == 10) | (byte == 13) | (byte == 9)]
        if not len(open_):
            break
        found[open_] -= 1
        open_ = open_[found[open_] >= 0]
    return found


def views(text: bytes, rows: Ints, starts: Ints, ends: Ints) -> pa.Table:
    """An Arrow table `(row, line)` whose strings point into `text`: nothing is copied."""
    count = len(starts)
    found = np.zeros(count, _VIEW)
    found["length"] = ends - starts
    found["offset"] = starts
    found["prefix"] = words(text, starts) & np.uint64(0xFFFFFFFF)
    raw = found.view(np.uint8).reshape(count, 16)
    for row in np.flatnonzero(found["length"] <= _INLINE):
        piece = text[int(starts[row]) : int(ends[row])]
        raw[row, 4:] = np.frombuffer(piece.ljust(_INLINE, b"\0"), np.uint8)
    lines = pa.Array.from_buffers(pa.string_view(), count, [None, pa.py_buffer(found), pa.py_buffer(text)])
    numbers = pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(np.ascontiguousarray(rows, np.int64))])
    table = pa.table({"row": numbers, "line": lines})
    return pa.Table.from_batches(table.to_batches(max_chunksize=BATCH_ROWS), table.schema)


def words(text: bytes, positions: Ints) -> Words:
    """The eight bytes at each position as one number, the first the lowest; what lies behind the text is 0."""
    padded = text if len(text) >= WORD else text.ljust(WORD, b"\0")
    at_every_byte = np.ndarray((len(padded) - WORD + 1,), "<u8", padded, strides=(1,))
    last = len(at_every_byte) - 1
    if len(positions) and positions.max() <= last:
        whole: Words = at_every_byte[positions]
        return whole
    beyond = np.clip(positions - last, 0, WORD - 1).astype(np.uint64)
    found: Words = at_every_byte[np.minimum(positions, last)] >> (np.uint64(8) * beyond)
    return found
