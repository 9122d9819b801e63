"""Protobuf messages out of columns, against the wire format's own examples and limits."""

from __future__ import annotations

import numpy as np
import pytest

from traceview.exports.packets import fixed, joined, message, number, one
from traceview.render.varints import varints

VALUES = [0, 1, 127, 128, 150, 16383, 16384, 2**32, 2**62 - 1]


def _varint(value: int) -> bytes:
    groups = [value >> at & 127 for at in range(0, max(1, value.bit_length()), 7)]
    return bytes([group | 128 for group in groups[:-1]] + groups[-1:])


def test_varints_are_groups_of_seven_bits() -> None:
    assert varints(np.array(VALUES)).text() == b"".join(map(_varint, VALUES))
    assert varints(np.array([150])).text() == b"\x96\x01"
    assert varints(np.array([], np.int64)).text() == b""


@pytest.mark.parametrize("value", VALUES)
def test_one_field_is_as_many_fields(value: int) -> None:
    assert one(17, value) == number(17, np.array([value])).text()


def test_messages_lack_what_is_negative() -> None:
    inner = joined([number(1, np.array([5, -1, 300])), fixed(2, np.array([-1, 7, 9]))])
    assert message(3, inner, np.array([True, True, False])).text() == (
        b"\x1a\x02\x08\x05" + b"\x1a\x09\x11" + (7).to_bytes(8, "little")
    )


def test_text_is_a_field_with_its_length() -> None:
    assert one(2, b"testing") == bytes.fromhex("120774657374696e67")
