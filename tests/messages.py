"""Writes and reads protobuf messages by hand, field by field.

Used by tests of what reads them, by mutations.py and by benchmarks/scaled.py.
"""

from __future__ import annotations


def varint(value: int) -> bytes:
    """A number as protobuf has it; a negative one in two's complement of 64 bits."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a message: a varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and the place behind it; at the end of the bytes, as far as it goes."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value, at
