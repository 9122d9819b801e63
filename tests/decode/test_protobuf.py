"""The wire format is read right, one by one and all at once, and nothing outside a message."""

from __future__ import annotations

import random

import numpy as np
import pytest
from messages import varint

from traceview.decode import protobuf
from traceview.decode.protobuf import FEW, Wire


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
    of, starts, stops = found.spans(2)
    assert of.tolist() == list(range(len(values)))
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


def line(dice: random.Random, n_fields: int) -> bytes:
    """Mostly one field after the other of number 4, as in a line of an XPlane, full of bytes that look like its tag."""
    out = bytearray(b"\x08\x05\x12\x03abc")
    for _ in range(n_fields):
        kind = dice.random()
        if kind < 0.02:
            out += b"\x18" + varint(dice.getrandbits(dice.choice([3, 20, 64])))
        elif kind < 0.03:
            out += b"\x52\x02\x22\x22"
        else:
            text = bytes(dice.choices(b"\x22\x22\x01\x05\x80\x00z", k=dice.choice([0, 1, 5, 30, 200])))
            out += b"\x22" + varint(len(text)) + text
    return bytes(out)


@pytest.mark.parametrize("window", [64, 1000, protobuf.WINDOW])
@pytest.mark.parametrize("clip", [False, True])
def test_a_run_of_fields_is_read_as_one_by_one(monkeypatch: pytest.MonkeyPatch, window: int, clip: bool) -> None:
    """Whole, cut off anywhere, and with a byte changed: all at once gives what one by one gives."""
    dice = random.Random(window)
    whole = line(dice, 3000)
    assert len(whole) > 4 * protobuf.LONG
    for case in range(12):
        data = bytearray(whole)
        if case:
            data[dice.randrange(len(data))] = dice.choice(b"\x22\xff\x00\x0b\x80")
        places = np.array([0]), np.array([dice.randrange(len(data)) if case % 2 else len(data)])
        monkeypatch.setattr(protobuf, "WINDOW", window)
        monkeypatch.setattr(protobuf, "LONG", 1 << 14)
        at_once = Wire(bytes(data)).fields(*places, clip)
        monkeypatch.setattr(protobuf, "LONG", 1 << 40)
        one_by_one = Wire(bytes(data)).fields(*places, clip)
        assert at_once.n_damaged == one_by_one.n_damaged
        for name in ("message", "number", "value", "end"):
            assert getattr(at_once, name).tolist() == getattr(one_by_one, name).tolist(), (case, name)
    assert len(one_by_one.number) > 0
