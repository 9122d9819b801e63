"""Reads protobuf's wire format in columns: the fields of millions of messages at once, without an object for any.

Needs no schema compiler and no protobuf library. Invariant: a length in the file is never trusted. A field that does
not fit into its message ends that message and is counted, nothing is read outside a message, and nesting is followed
only as far as the caller asks, so hostile depth costs nothing. Format: https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traceview.decode.text_bounds import MAX_NAME_BYTES

Ints = NDArray[np.int64]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
FEW = 48
"""With fewer messages than this at work, one after the other is faster than all at once."""
LONG = 1 << 14
"""Bytes from which on a message may be a run of fields of one number, to be found all at once."""
WINDOW = 1 << 19
"""Bytes of such a run that are looked at together."""
MOST = 1 << 15
"""Fields of a long message that are read one by one before a run is looked for again."""
PAD = 32
"""Bytes that have to follow the last message, so that a varint is one look-up."""
_STOP = np.uint64(0x8080808080808080)
_PACK = tuple(
    (np.uint64(keep), np.uint64(move), np.uint64(by))
    for keep, move, by in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


@dataclass(frozen=True)
class Fields:
    """The fields of some messages, one entry per field; fields of one message keep their order."""

    message: Ints
    """Position, among the messages asked for, of the one this field belongs to."""
    number: Ints
    value: Ints
    """The varint, the bits of a fixed number, or where the bytes of a length-delimited field begin."""
    end: Ints
    """End of the bytes; -1 for numbers."""
    n_damaged: int
    """Messages that end in the middle of a field."""

    def numbers(self, number: int, count: int, missing: int = 0) -> Ints:
        """A numeric field of each of `count` messages; the last one counts, as protobuf demands."""
        out = np.full(count, missing, np.int64)
        chosen = (self.number == number) & (self.end < 0)
        out[self.message[chosen]] = self.value[chosen]
        return out

    def spans(self, number: int) -> tuple[Ints, Ints, Ints]:
        """Message, begin and end of every length-delimited field with this number, in order of the messages."""
        chosen = np.flatnonzero((self.number == number) & (self.end >= 0))
        chosen = chosen[np.argsort(self.message[chosen], kind="stable")]
        return self.message[chosen], self.value[chosen], self.end[chosen]

    def places(self, number: int) -> list[tuple[int, int, int]]:
        """Message, begin and end of each of these fields, as `spans`, one after the other."""
        return list(zip(*(column.tolist() for column in self.spans(number)), strict=True))


class Wire:
    """Bytes that can be read as messages from any position."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        """A mapped file is read in place: `PAD` bytes behind its messages have to be its end."""
        self.too_long: set[int] = set()
        """Positions of requested texts that are too long."""
        self.bytes = data if isinstance(data, mmap.mmap) else data + bytes(PAD)
        self.size = len(self.bytes) - PAD
        self.data: NDArray[np.uint8] = np.frombuffer(self.bytes, np.uint8)
        # Eight bytes from every position on.
        self._words: NDArray[np.uint64] = np.ndarray((self.size + PAD - 8,), "<u8", self.data, strides=(1,))

    def release(self) -> None:
        """Give the memory of a mapped file back; what is read again comes from the file again."""
        if isinstance(self.bytes, mmap.mmap):
            self.bytes.madvise(mmap.MADV_DONTNEED)

    def text(self, start: int, end: int, most: int = MAX_NAME_BYTES) -> str:
        """Bytes as text; what is not UTF-8 is replaced, what is too long is empty and its place in `too_long`."""
        if end - start > most:
            self.too_long.add(start)
            return ""
        return self.bytes[start:end].decode("utf-8", "replace")

    def fields(self, starts: Ints, ends: Ints, clip: bool = False) -> Fields:
        """The fields of the messages that lie at these places. With `clip`, a last field that is cut counts too."""
        parts: list[tuple[Ints, ...]] = []
        message, pos, end = np.arange(len(starts)), starts, ends
        n_damaged = 0
        while len(message) >= FEW and not clip:
            tag, at = self._varints(pos)
            value, after = self._varints(np.minimum(at, self.size))
            wire = tag & 7
            stop = np.full(len(pos), -1, np.int64)
            is_length, is_double, is_float = wire == LENGTH, wire == FIXED64, wire == FIXED32
            if is_double.any() or is_float.any():
                words = self._words[np.minimum(at, self.size)]
                value = np.where(is_double, words.view(np.int64), value)
                value = np.where(is_float, (words & np.uint64(0xFFFFFFFF)).view(np.int64), value)
                after = np.where(is_double, at + 8, np.where(is_float, at + 4, after))
            room = end - after
            fits = (
                (at >= 0)
                & (after >= 0)
                & (room >= 0)
                & (tag >= 8)
                & (is_double | is_float | is_length | (wire == VARINT))
            )
            fits &= ~is_length | ((value >= 0) & (value <= room))
            stop[is_length] = (after + value)[is_length]
            value = np.where(is_length, after, value)
            after = np.where(is_length, stop, after)
            n_damaged += int(len(fits) - np.count_nonzero(fits))
            if not fits.all():
                message, tag, value, stop, after, end = (a[fits] for a in (message, tag, value, stop, after, end))
            parts.append((message, tag >> 3, value, stop))
            more = np.flatnonzero(after < end)
            message, pos, end = message[more], after[more], end[more]
        rest: list[tuple[int, int, int, int]] = []
        for index, start, limit in zip(message.tolist(), pos.tolist(), end.tolist(), strict=True):
            if limit - start > LONG:
                for part, is_damaged in self._pieces(index, start, limit, clip):
                    parts.append(part)
                    n_damaged += is_damaged
            else:
                n_damaged += self._scan(index, start, limit, clip, len(rest) + limit - start, rest)[1]
        parts.append(_columns(rest))
        message, number, value, stop = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Fields(message, number, value, stop, n_damaged)

    def message(self, start: int, end: int, clip: bool = False) -> Fields:
        """The fields of the one message that lies there."""
        return self.fields(np.array([start], np.int64), np.array([end], np.int64), clip)

    def windows(self, start: int, end: int) -> Iterator[Fields]:
        """The fields of one message, some thousands at a time: however long it is, little of it is in memory."""
        for (message, number, value, stop), is_damaged in self._pieces(0, start, end, clip=False):
            yield Fields(message, number, value, stop, int(is_damaged))
            self.release()

    def packed(self, start: int, end: int) -> list[int]:
        """The numbers of a packed repeated field, as far as they are whole."""
        numbers = []
        while start < end:
            value, start = _varint(self.bytes, start, end)
            if start < 0:
                break
            numbers.append(value)
        return numbers

    def led_by(self, starts: Ints, number: int, values: Sequence[int]) -> Ints:
        """Positions among messages that begin with one of these values in a numeric field, or with another field."""
        tag, after = self._varints(starts)
        value, _ = self._varints(np.clip(after, 0, self.size))
        return np.flatnonzero((tag != number << 3) | np.isin(value, np.array(values, np.int64)))

    def _pieces(self, index: int, start: int, end: int, clip: bool) -> Iterator[tuple[tuple[Ints, ...], bool]]:
        """The fields of one message as columns, piece after piece, and whether it ends in the middle of one."""
        is_damaged, most = False, FEW
        while start < end and not is_damaged:
            one_by_one: list[tuple[int, int, int, int]] = []
            is_long = end - start > LONG
            start, is_damaged = self._scan(index, start, end, clip, most if is_long else MOST, one_by_one)
            yield _columns(one_by_one), is_damaged
            n_found = 0
            if is_long:
                for run in self._run(index, start, end):
                    n_found += len(run[0])
                    start = int(run[-1][-1])
                    yield run, False
            # Where no run is found, the search for one is to cost little.
            most = most if n_found > FEW else min(4 * most, MOST)

    def _run(self, index: int, start: int, end: int) -> Iterator[tuple[Ints, ...]]:
        """The fields that follow `start` with the number of the first and a length, window after window.

        A line of an XPlane is such a run: one event after the other, millions of them.
        """
        tag = self.bytes[start] if start < end else 0
        while tag & 0x87 == LENGTH and tag > LENGTH and start < end:
            # Each byte that may be the tag, and where its field would end: fields are those that the first leads to.
            places = start + np.flatnonzero(self.data[start : min(start + WINDOW, end)] == tag)
            size, after = self._varints(places + 1)
            stop = np.where((after >= 0) & (size >= 0) & (size <= end - after), after + size, -1)
            following = np.minimum(np.searchsorted(places, stop), len(places) - 1)
            chosen = _led_to(np.where(places[following] == stop, following, len(places)))
            chosen = chosen[stop[chosen] >= 0] if len(places) and places[0] == start else _NONE
            if not len(chosen):
                break
            count = len(chosen)
            start = int(stop[chosen[-1]])
            yield np.full(count, index), np.full(count, tag >> 3), after[chosen], stop[chosen]

    def _scan(
        self, index: int, pos: int, end: int, clip: bool, up_to: int, out: list[tuple[int, int, int, int]]
    ) -> tuple[int, bool]:
        """Fields of a message, appended to `out` until it has `up_to`; the place behind, and whether one is cut."""
        data = self.bytes
        while pos < end and len(out) < up_to:
            # Short fields in bytes, which is what lines are full of, without a call.
            if data[pos] & 0x87 == LENGTH and pos + 1 < end and data[pos] > LENGTH and data[pos + 1] < 128:
                stop = pos + 2 + data[pos + 1]
                if stop <= end:
                    out.append((index, data[pos] >> 3, pos + 2, stop))
                    pos = stop
                    continue
            tag, pos = _varint(data, pos, end)
            wire = tag & 7
            if wire == LENGTH and tag >= 8:
                length, pos = _varint(data, pos, end)
                stop = pos + length
                if pos < 0 or length < 0 or stop > end:
                    if clip and 0 < pos <= end:
                        out.append((index, tag >> 3, pos, end))
                    return end, True
                out.append((index, tag >> 3, pos, stop))
                pos = stop
                continue
            if wire == VARINT:
                value, pos = _varint(data, pos, end)
            elif wire in (FIXED64, FIXED32):
                size = 8 if wire == FIXED64 else 4
                value = int.from_bytes(data[pos : pos + size], "little", signed=wire == FIXED64)
                pos = pos + size if 0 <= pos <= end - size else -1
            else:
                return end, True
            if pos < 0 or tag < 8:
                return end, True
            out.append((index, tag >> 3, value, -1))
        return pos, False

    def _varints(self, positions: Ints) -> tuple[Ints, Ints]:
        """Values (two's complement, 64 bit) and the positions after them; -1 as position where there is no varint."""
        first = self.data[positions]
        values, after = first.astype(np.int64), positions + 1
        longer = np.flatnonzero(first >= 128)
        if len(longer):
            values[longer], after[longer] = self._long_varints(positions[longer])
        return values, after

    def _long_varints(self, positions: Ints) -> tuple[Ints, Ints]:
        words = self._words[positions]
        stop = ~words & _STOP
        lowest = stop & (~stop + np.uint64(1))
        # What lies below the top bit of the last byte, without the continuation bits, packed seven bits at a time.
        bits = words & (lowest - np.uint64(1)) & ~_STOP
        for keep, move, by in _PACK:
            bits = (bits & keep) | ((bits & move) >> by)
        # lowest is 2^(8k+7) where the varint has k+1 bytes, and frexp of it is exact.
        after = positions + (np.frexp(lowest.astype(np.float64))[1].astype(np.int64) >> 3)
        long = np.flatnonzero(stop == 0)
        if len(long):
            ninth, tenth = self.data[positions[long] + 8], self.data[positions[long] + 9]
            is_ten = ninth >= 128
            high = (ninth & 127).astype(np.uint64) << np.uint64(56)
            high |= np.where(is_ten, tenth & 1, 0).astype(np.uint64) << np.uint64(63)
            bits[long] |= high
            after[long] = np.where(is_ten & (tenth >= 128), -1, positions[long] + 9 + is_ten)
        return bits.view(np.int64), after


_NONE = np.empty(0, np.int64)


def _columns(rows: list[tuple[int, int, int, int]]) -> tuple[Ints, ...]:
    return tuple(np.array(column, np.int64) for column in zip(*rows, strict=True)) if rows else (_NONE,) * 4


def _led_to(following: Ints) -> Ints:
    """Return the places that the first leads to, itself included; a place leads nowhere if `following` has its length.

    Each round knows the places twice as many steps away, so millions take twenty rounds.
    """
    none = len(following)
    is_reached = np.zeros(none + 1, bool)
    is_reached[:1] = none > 0
    further = np.append(following, none)
    while further[0] != none:
        is_reached[further[np.flatnonzero(is_reached)]] = True
        further = further[further]
    return np.flatnonzero(is_reached[:none])


def _varint(data: bytes | mmap.mmap, pos: int, end: int) -> tuple[int, int]:
    """One varint and the position after it; -1 as position where there is none before `end`."""
    value = shift = 0
    while 0 <= pos < end and shift < 70:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            value &= 0xFFFFFFFFFFFFFFFF
            return (value - (1 << 64) if value >> 63 else value), pos
        shift += 7
    return 0, -1
