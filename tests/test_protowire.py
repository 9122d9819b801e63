"""The wire format is read right, one by one and all at once, and nothing outside a message."""

from __future__ import annotations

import numpy as np
import pytest

from traceview.protowire import FEW, Wire


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append((value & 127) | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def message(value: int, text: bytes = b"abc") -> bytes:
    fixed = (7).to_bytes(8, "little") + b""
    return b"\x08" + varint(value) + b"\x12" + varint(len(text)) + text + b"\x19" + fixed + b"\x25\x01\x00\x00\x80"


VALUES = [0, 1, 127, 128, 300, 2**31, 2**56 - 1, 2**56, 2**62, 2**63 - 1, -1, -(2**63)]


@pytest.mark.parametrize("copies", [1, FEW])
def test_numbers_and_texts(copies: int) -> None:
    """Twelve messages go one by one, twelve times FEW all at once; both give the same."""
    values = VALUES * copies
    parts = [message(value) for value in values]
    ends = np.cumsum([len(part) for part in parts])
    wire = Wire(b"".join(parts))
    found = wire.fields(np.concatenate([[0], ends[:-1]]), ends)
    assert found.n_damaged == 0
    assert found.numbers(1, len(values)).tolist() == values
    assert found.numbers(3, len(values)).tolist() == [7] * len(values)
    assert found.numbers(4, len(values)).tolist() == [2**31 + 1] * len(values)
    owner, starts, stops = found.spans(2)
    assert owner.tolist() == list(range(len(values)))
    assert {wire.text(a, b) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)} == {"abc"}


@pytest.mark.parametrize("copies", [1, FEW])
def test_a_field_that_does_not_fit_ends_its_message(copies: int) -> None:
    parts = [message(300, b"x" * 40)] * copies
    for cut in range(1, len(parts[0])):
        ends = np.array([len(parts[0]) * i + cut for i in range(copies)])
        found = Wire(b"".join(parts)).fields(ends - cut, ends)
        assert found.n_damaged in (0, copies)
        assert int(found.end.max(initial=-1)) <= int(ends.max())


@pytest.mark.parametrize("copies", [1, FEW])
@pytest.mark.parametrize(
    "hostile", [b"\x0b", b"\x00\x00", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x08" + b"\xff" * 20, b"\x0f"]
)
def test_hostile_bytes(hostile: bytes, copies: int) -> None:
    """Groups, field number 0, endless lengths and numbers: each ends its message and is counted."""
    ends = np.array([len(hostile) * (i + 1) for i in range(copies)])
    found = Wire(hostile * copies).fields(ends - len(hostile), ends)
    assert found.n_damaged == copies
    assert len(found.number) == 0


def test_clip_keeps_the_cut_field() -> None:
    found = Wire(b"\x0a\x7fabc").fields(np.array([0]), np.array([5]), clip=True)
    assert found.n_damaged == 1
    assert [span.tolist() for span in found.spans(1)] == [[0], [2], [5]]
