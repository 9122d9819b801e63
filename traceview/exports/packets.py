"""Protobuf messages out of columns: every message of a batch is encoded at once.

Invariant: a field is a matrix of bytes with as many rows as there are messages and a mask of those that count; fields
stand side by side, so that the bytes that count, row after row, are the messages. Wire format:
https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from traceview.render.varints import Field, Ints, varints

VARINT, FIXED64, LENGTH = 0, 1, 2


def joined(fields: Sequence[Field]) -> Field:
    """Fields side by side: a message."""
    return Field(np.hstack([it.data for it in fields]), np.hstack([it.mask for it in fields]))


def number(tag: int, values: Ints) -> Field:
    """A field with a whole number; rows with a negative one lack it."""
    return _tagged(tag, VARINT, varints(np.maximum(values, 0)), values >= 0)


def fixed(tag: int, values: Ints) -> Field:
    """A field of eight bytes; rows with a negative number lack it."""
    data = np.ascontiguousarray(values.astype("<i8")).view(np.uint8).reshape(-1, 8)
    return _tagged(tag, FIXED64, Field(data, np.ones(data.shape, bool)), values >= 0)


def message(tag: int, inner: Field, there: NDArray[np.bool_] | None = None) -> Field:
    """A field that holds a message; rows where `there` is false lack it."""
    there = np.ones(len(inner.data), bool) if there is None else there
    return _tagged(tag, LENGTH, joined([varints(inner.lengths()), inner]), there)


def _tagged(tag: int, wire: int, value: Field, there: NDArray[np.bool_]) -> Field:
    first = varints(np.full(len(there), tag << 3 | wire))
    whole = joined([first, value])
    return Field(whole.data, whole.mask & there[:, None])


def one(tag: int, value: int | bytes) -> bytes:
    """A field of a single message: a whole number, or text or a message."""
    if isinstance(value, int):
        return _varint(tag << 3 | VARINT) + _varint(value)
    return _varint(tag << 3 | LENGTH) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
