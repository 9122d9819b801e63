"""Track events out of packets: whose state counts, also of many sequences at once, and times of their clocks."""

from __future__ import annotations

import pytest
from messages import field

from traceview.decode.protobuf import Wire
from traceview.decode.track_events import BEGIN, TrackEvents


def packet(sequence: int, *parts: bytes) -> bytes:
    return field(1, b"".join(parts) + field(10, sequence))


def begin(at: int, iid: int) -> bytes:
    return field(8, at) + field(11, field(9, BEGIN) + field(10, iid))


def name(iid: int, text: bytes) -> bytes:
    return field(12, field(2, field(1, iid) + field(2, text)))


def events(content: bytes) -> list[tuple[str | None, int | None]]:
    tables = [batch.events for batch in TrackEvents(Wire(content)).batches()]
    return [
        pair
        for table in tables
        for pair in zip(table["name"].to_pylist(), table["at_ns"].to_pylist(), strict=True)
    ]  # fmt: skip


def test_a_sequence_has_its_own_texts() -> None:
    content = packet(1, name(7, b"one")) + packet(2, name(7, b"two"))
    content += packet(1, begin(5, 7)) + packet(2, begin(6, 7)) + packet(3, begin(7, 7))
    assert events(content) == [("one", 5), ("two", 6), (None, 7)]


def test_cleared_texts_are_gone_until_they_are_said_again() -> None:
    content = packet(1, name(7, b"old"), begin(1, 7)) + packet(1, field(13, 1), begin(2, 7))
    content += packet(1, name(7, b"new")) + packet(1, begin(3, 7))
    assert events(content) == [("old", 1), ("new", 2), ("new", 3)]


@pytest.mark.long
def test_many_sequences_with_clocks_of_their_own_take_no_longer() -> None:
    """Each looked for among all would be a billion comparisons."""
    own = field(1, 64) + field(2, 100) + field(3, 1)
    clocks = field(6, field(1, field(1, 6) + field(2, 1000)) + field(1, own)) + field(59, field(58, 64))
    count = 20_000
    content = b"".join(packet(n, clocks) for n in range(1, count))
    content += b"".join(packet(n, begin(n, 1)) for n in range(1, count))
    assert [at for _, at in events(content)] == [1000 + n for n in range(1, count)]


def test_a_time_that_nobody_can_tell_is_none() -> None:
    assert events(packet(1, field(11, field(9, BEGIN)))) == [(None, None)]
