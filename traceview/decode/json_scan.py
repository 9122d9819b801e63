"""Scans a text of JSON in column operations: pieces, values that are passed over, keys beside the events.

A cut is a guess: whoever parses the pieces finds out which of them are whole objects. A value that is passed over,
however long, takes the memory of one block; one that is not JSON (a text without its end, a bracket that nobody closed)
shows it soon after, and what follows begins where the next object of a list seems to. A value of a key beside the
events that is too long costs itself alone: memory holds `VALUE_BYTES` of text, `TOTAL_BYTES` of values, and one block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

BATCH_ROWS = 16_384
BLOCK_BYTES = 1 << 18
_VIEW = np.dtype([("length", "<i4"), ("prefix", "<u4"), ("buffer", "<i4"), ("offset", "<i4")])
_INLINE = 12
"""Maximum number of bytes of a string that Arrow keeps in the view itself."""

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
    """Return the positions of a byte. Block by block, so that intermediate arrays stay in the processor's cache."""
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


SLICE = 1 << 20
CONTEXT = 4096
"""Bytes that stay known of what has been passed: where damage is seen, the next object may have begun before."""
_NEXT_OBJECT = re.compile(rb"\}\s{0,500},\s{0,500}(?=\{)")
_QUOTE, _OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST, _COMMA = range(1, 7)
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b'"{}[],')] = range(1, 7)
_MAY_PRECEDE_TEXT = np.zeros(256, np.bool_)
_MAY_PRECEDE_TEXT[list(b"{[,: \t\r\n")] = True


@dataclass(frozen=True)
class Passed:
    """End of a value that was passed over."""

    end: int | None
    """In the text it began in; None when it went on behind that."""
    rest: bytes
    """Then what follows it of what has been read: a comma, a closing bracket, or where to go on; empty at the end."""
    is_whole: bool
    """Whether it ended as a JSON value does."""


def passed(text: bytes, start: int, blocks: Iterable[bytes], stop: re.Pattern[bytes] | None = None) -> Passed:
    """Pass over the value that starts at `start` of `text` and goes on in `blocks`.

    What follows begins at the latest behind the first match of `stop`. If the value is not JSON it begins at the next
    object of a list.
    """
    scan = _Scan(text.startswith(b"{", start), stop)
    for at in range(start, len(text), SLICE):
        end = scan.feed(text[at : at + SLICE])
        if end is not None:
            return Passed(start + scan.n_before + end, b"", scan.is_whole)
    for block in blocks:
        for at in range(0, len(block), SLICE):
            end = scan.feed(block[at : at + SLICE])
            if end is not None:
                return Passed(None, scan.text[end:] + scan.held + block[at + SLICE :], scan.is_whole)
    return Passed(None, b"", False)


class _Scan:
    def __init__(self, is_object: bool, stop: re.Pattern[bytes] | None) -> None:
        self.text = b""
        """The block that was fed last, and some of what came before it."""
        self.n_before = 0
        """Bytes of the value before `text`."""
        self.held = b""
        """Bytes that come after `text`: a backslash is looked at with what it escapes."""
        self.is_whole = True
        self._is_object = is_object
        self._stop, self._resume = stop, stop or _NEXT_OBJECT
        self._in_text = 0
        self._objects = self._lists = 0
        self._last = np.zeros(2, np.uint8)

    def feed(self, block: bytes) -> int | None:
        """Return the position in `text` right after the value; None when that has not come yet."""
        context = self.text[-CONTEXT:]
        self.n_before += len(self.text) - len(context)
        self.text, known = context + self.held + block, len(context)
        self.held = b""
        if not self.is_whole:
            return self._next_place(0, 0)
        clean = self.text[known:].replace(b"\\\\", b"__").replace(b'\\"', b"__")
        if clean.endswith(b"\\"):
            self.text, clean, self.held = self.text[:-1], clean[:-1], b"\\"
        kinds = _KINDS[np.frombuffer(clean, np.uint8)]
        places = np.flatnonzero(kinds)
        found = self._ends(kinds[places], places + known)
        stop = self._stop.search(self.text) if self._stop else None
        if stop and (found is None or stop.end() < found[0]):
            self.is_whole = False
            return stop.end()
        if found is None:
            return None
        end, since = found
        self.is_whole = since is None
        return end if since is None else self._next_place(since, end)

    def _ends(self, kinds: NDArray[np.uint8], places: Ints) -> tuple[int, int | None] | None:
        """The first place that ends the value; where it is not as JSON wants it, also since when it may have ended."""
        is_quote = kinds == _QUOTE
        in_text = (np.cumsum(is_quote) + self._in_text) % 2 == 1
        kinds = np.where(in_text | is_quote, _QUOTE, kinds)
        objects = self._objects + np.cumsum((kinds == _OPEN).astype(np.int64) - (kinds == _CLOSE))
        lists = self._lists + np.cumsum((kinds == _OPEN_LIST).astype(np.int64) - (kinds == _CLOSE_LIST))
        followed = np.concatenate([self._last, kinds])
        if len(places):
            self._in_text, self._objects, self._lists = int(in_text[-1]), int(objects[-1]), int(lists[-1])
            self._last = followed[-2:]
        ends = ((kinds == _COMMA) & (objects == 0) & (lists == 0)) | (np.minimum(objects, lists) < 0)
        broken = ends & (np.maximum(objects, lists) > 0)
        opens_text = np.flatnonzero(is_quote & in_text)
        data = np.frombuffer(self.text, np.uint8)
        behind = before(data, places[opens_text])
        broken[opens_text[(behind >= 0) & ~_MAY_PRECEDE_TEXT[data[behind]]]] = True
        if self._is_object:
            broken |= (kinds == _CLOSE) & (objects == 0) & (lists > 0)
            # One object after the other, and no list around them.
            broken |= (kinds == _OPEN) & (followed[:-2] == _CLOSE) & (followed[1:-1] == _COMMA) & (lists == 0)
        first = np.flatnonzero(ends | broken)[:1]
        if not len(first):
            return None
        end = int(places[first[0]])
        if not broken[first[0]]:
            return end, None
        if kinds[first[0]] != _QUOTE:
            return end, end - CONTEXT if kinds[first[0]] == _OPEN else end
        texts = places[opens_text[opens_text < first[0]]]
        return end, int(texts[-1]) if len(texts) else end - CONTEXT

    def _next_place(self, since: int, at: int) -> int | None:
        """Return the place where reading can go on: the last one up to `at`, or the first one behind it."""
        since = max(0, since, at - CONTEXT)
        earlier = [match.end() for match in self._resume.finditer(self.text, since, at + 1)]
        later = None if earlier else self._resume.search(self.text, since)
        if not earlier and not later:
            self.text, self.n_before = self.text[since:], self.n_before + since
            return None
        return later.end() if later else earlier[-1]


VALUE_BYTES = 4 << 20
TOTAL_BYTES = 16 << 20
KEY_BYTES = 64 << 10
_ARRAY_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY_OF_SOME = re.compile(rb'"traceEvents"\s*:\s*\[(?!\s*\])')
_ARRAY_FOLLOWS = re.compile(rb'(?="traceEvents"\s*:\s*\[)')
_BETWEEN = re.compile(rb"[ \t\r\n,]*")
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
_KEY = re.compile(rb'("(?:[^"\\]|\\.)*")\s*:\s*')
_EVENTS = b'"traceEvents"'
_PADDING = b"}] ,\t\r\n\0"
# Decimals stay text: a float would lose digits of a time on its way back into JSON.
DECODER = json.JSONDecoder(strict=False, parse_float=str)


class Members:
    """Reads the members of the object that holds the events; `found` are those that could be read."""

    def __init__(self) -> None:
        self._blocks: Iterator[bytes]
        self._text, self._at = b"", 0
        self._room = TOTAL_BYTES
        self.found: dict[str, Any] = {}
        self.unread: list[str] = []
        """Keys whose values were too long or no JSON."""

    def before_events(self, blocks: Iterator[bytes]) -> bytes | None:
        """Return the bytes after the bracket of the array of events; None when there is none."""
        self._blocks = blocks
        self._fill(KEY_BYTES)
        self._at = end_of(_BEFORE, self._text, 0)
        start = self._text[self._at : self._at + 1]
        if start == b"[":
            return self._text[self._at + 1 :]
        if start == b"{":
            self._at += 1
            events = self._members(searching=True)
            if events is not None:
                return events
        return self._search()

    def behind_events(self, text: bytes, blocks: Iterator[bytes]) -> bool:
        """Read on from `text`, which follows the array, and then `blocks`; return whether more than these is there."""
        self._blocks, self._text, self._at = blocks, text, 0
        self._members(searching=False)
        return any(rest.strip(_PADDING) for rest in chain([self._text[self._at :]], blocks))

    def _members(self, searching: bool) -> bytes | None:
        """Read members to the end of the object, or to the array of events if it is searched for."""
        while True:
            self._fill(KEY_BYTES)
            self._at = end_of(_BETWEEN, self._text, self._at)
            key = _KEY.match(self._text, self._at, self._at + KEY_BYTES)
            if not key:
                return None
            self._at = key.end()
            if key[1] == _EVENTS and searching and self._text.startswith(b"[", self._at):
                return self._text[self._at + 1 :]
            events = self._value(key[1], searching)
            if events is not None:
                return events

    def _value(self, key: bytes, searching: bool) -> bytes | None:
        """Keep one value, or pass over it. An array of events inside it is returned if it is searched for."""
        value, end = self._decoded()
        inside = searching and _ARRAY_OF_SOME.search(self._text, self._at, self._at + (end or VALUE_BYTES))
        name = key[1:-1].decode("utf-8", "replace")
        if inside:
            self.unread += [] if end else [name]
            return self._text[inside.end() :]
        if end is None or end > self._room or key == _EVENTS:
            self.unread.append(name)
            over = passed(self._text, self._at, self._blocks, _ARRAY_FOLLOWS if searching else None)
            self._text, self._at = (over.rest, 0) if over.end is None else (self._text, over.end)
            return None
        self._room -= end
        self.found[name] = value
        self._at += end
        return None

    def _decoded(self) -> tuple[Any, int | None]:
        """The value at hand and its length in bytes; no length where it is too long or no JSON."""
        for size in (KEY_BYTES, VALUE_BYTES):
            self._fill(size + 1)
            window = self._text[self._at : self._at + size]
            try:
                # latin-1 makes one character of every byte, so positions stay byte positions.
                length = DECODER.raw_decode(window.decode("latin-1"))[1]
                # A number may go on behind what is looked at.
                if length < len(window):
                    return DECODER.raw_decode(window[:length].decode("utf-8", "replace"))[0], length
            except (ValueError, RecursionError):
                continue
        return None, None

    def _search(self) -> bytes | None:
        """The array of events in text that is not JSON."""
        while not (match := _ARRAY_START.search(self._text, self._at)):
            more = next(self._blocks, None)
            if more is None:
                return None
            self._text, self._at = self._text[max(self._at, len(self._text) - 1000) :] + more, 0
        return self._text[match.end() :]

    def _fill(self, size: int) -> None:
        """Have `size` bytes at hand where the file goes on."""
        missing = size - (len(self._text) - self._at)
        if missing > 0:
            self._text, self._at = more(self._blocks, missing, self._text[self._at :]), 0


def more(blocks: Iterable[bytes], size: int, known: bytes) -> bytes:
    """Return `known`, with at least `size` bytes after it where the blocks go on."""
    parts, total = [known], 0
    for block in blocks:
        parts.append(block)
        total += len(block)
        if total >= size:
            break
    return b"".join(parts)


def end_of(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    """Return where what a pattern matches at a place ends: there, where it does not match."""
    match = pattern.match(text, position)
    return match.end() if match else position
