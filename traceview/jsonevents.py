"""Splits a stream of JSON trace events into texts, one per event, without making a Python object of any.

Works for `{"traceEvents": [...]}` with anything before and after the array, and for a bare array, in any layout. A
split is guessed from `} , {` in column operations; the caller parses the pieces with a strict parser, and every piece
that is no event comes back to `settle`, which finds the true boundary with a full JSON scanner. So a guess is never
trusted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.jsonmend import mended

CHUNK_BYTES = 16 << 20
MAX_HEAD_BYTES = 64 << 20
MAX_EVENT_BYTES = 4 << 20
BATCH_ROWS = 16_384
ARRAY_START = re.compile(rb'"traceEvents"\s*:\s*\[')
SPACE = re.compile(rb"[ \t\r\n]*")
# Decimals stay text: a float would lose digits of a time on its way back into JSON.
_DECODER = json.JSONDecoder(strict=False, parse_float=str)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_VIEW = np.dtype([("length", "<i4"), ("prefix", "<u4"), ("buffer", "<i4"), ("offset", "<i4")])


@dataclass
class Settled:
    """What became of the doubtful pieces of a chunk."""

    drop: set[int] = field(default_factory=set)
    """Rows that are no events of their own."""
    events: list[bytes] = field(default_factory=list)
    """Events in strict JSON that replace them."""
    bad: list[str] = field(default_factory=list)
    """Beginnings of the pieces that could not be read."""
    n_repaired: int = 0
    """Events among `events` that were no strict JSON in the file (quotes, control characters, NaN, bad UTF-8)."""


class EventSplitter:
    """Iterate to get Arrow tables `(row, line)`; call `settle` on each before asking for the next."""

    def __init__(
        self, blocks: Iterable[bytes], rewrite: Callable[[bytes], bytes] | None = None, inside: bytes | None = None
    ) -> None:
        """`inside`: text that follows the bracket of an array of any objects; then `rest` is what follows its end."""
        self._blocks = iter(blocks)
        self._inside = inside
        self._rewrite = rewrite
        self._raw = b""
        self._carry = b""
        self._text = b""
        self._starts = np.empty(0, np.int64)
        self._last = False
        self._gave_up = False
        self.ended = False
        """Whether the end of the array was seen; if not at the end of the file, the file is cut off."""
        self.found = False
        """Whether there was an array of events at all."""
        self.metadata: dict[str, Any] = {}
        """The keys beside the array, from before and after it."""

    def __iter__(self) -> Iterator[pa.Table]:
        if self._inside is not None:
            self._carry, self.found = self._inside, True
        elif not self._read_head():
            return
        while not self.ended:
            more = self._more(CHUNK_BYTES)
            self._last = len(more) < CHUNK_BYTES
            self._raw = self._carry + more
            closing = _skip(self._raw, 0)
            if self._raw.startswith(b"]", closing):
                self.ended = True
                self._carry = self._raw[closing + 1 :]
                break
            table = self._split()
            if table is not None:
                yield table
            elif not self._last:
                self.ended = len(self._raw) > MAX_HEAD_BYTES
                self._carry = self._raw
            if self._last:
                break
        if self._inside is None:
            self._read_tail()

    @property
    def rest(self) -> bytes:
        """Text that has been read and lies behind the array, once it has ended."""
        return self._carry if self.ended else b""

    def again(self, rewrite: Callable[[bytes], bytes]) -> pa.Table | None:
        """Split the current chunk once more, rewritten, and rewrite all that follow.

        `rewrite` sees whole objects, some of them twice: it must leave alone what it has rewritten before.
        """
        self._rewrite = rewrite
        return self._split()

    def _split(self) -> pa.Table | None:
        self._text = self._raw if self._rewrite is None else self._whole_objects(self._raw, self._rewrite)
        self._starts, ends = _pieces(self._text, self._last)
        if not len(self._starts):
            return None
        self._carry = b"" if self._last else self._text[int(ends[-1]) :].lstrip(b", \t\r\n")
        return _views(self._text, self._starts, ends)

    def settle(self, doubtful: list[int]) -> Settled:
        """Find the true events behind pieces that a strict parser refused or that are no events."""
        out = Settled()
        done = 0
        for row in sorted(doubtful):
            start = int(self._starts[row])
            if start < done:
                continue
            done = self._settle_from(row, start, out)
            if self.ended:
                break
        return out

    def _settle_from(self, row: int, start: int, out: Settled) -> int:
        """Read events one by one from `start` until a known boundary; returns where that is."""
        while True:
            decoded = self._decode(start)
            if decoded is None or not self._is_boundary(decoded[1]):
                decoded = self._mend(start) or decoded
            if decoded is None:
                return self._give_up(row, start, out)
            event, end = decoded
            self._drop(start, end, out)
            is_event = isinstance(event, dict) and (
                event.get("ph") is not None or (self._inside is not None and bool(event))
            )
            if is_event:
                raw = self._text[start:end]
                strict = _is_strict(raw)
                out.events.append(raw if strict else _strict(event))
                out.n_repaired += not strict
            elif event != {}:
                # Writers that put a comma behind every event end with an empty one.
                out.bad.append(_excerpt(self._text, start))
            after = _skip(self._text, end)
            follows = self._text[after : after + 1]
            if follows == b",":
                start = _skip(self._text, after + 1)
                row = int(np.searchsorted(self._starts, start))
                if row < len(self._starts) and self._starts[row] == start:
                    return start
                if start >= len(self._text):
                    return start
            else:
                # After a piece that could not be read, a `]` may be one inside that piece.
                if follows == b"]" and (is_event or not self._gave_up):
                    self.ended = True
                    self._carry = self._text[after + 1 :]
                    self._drop(after, len(self._text), out)
                return after

    def _decode(self, start: int) -> tuple[Any, int] | None:
        """The JSON value at `start` and the byte after it; None when there is none."""
        for size in (64 << 10, MAX_EVENT_BYTES):
            # latin-1 makes one character of every byte, so positions stay byte positions.
            window = self._text[start : start + size].decode("latin-1")
            try:
                _, length = _DECODER.raw_decode(window)
            except json.JSONDecodeError as error:
                # A window that is too small fails at its end, or in a text that has none.
                if not error.msg.startswith("Unterminated") and error.pos < len(window) - 100:
                    break
                continue
            except (ValueError, RecursionError):
                break
            raw = self._text[start : start + length].decode("utf-8", "replace")
            return _DECODER.raw_decode(raw)[0], start + length
        return None

    def _is_boundary(self, position: int) -> bool:
        after = _skip(self._text, position)
        return self._text[after : after + 1] in (b",", b"]", b"")

    def _mend(self, start: int) -> tuple[Any, int] | None:
        """The event at `start` where texts hold unescaped quotes, and the byte after it; None when there is none."""
        following = int(np.searchsorted(self._starts, start, side="right"))
        stop = int(self._starts[following]) if following < len(self._starts) else start + MAX_EVENT_BYTES
        found = mended(self._text[start : min(stop, start + MAX_EVENT_BYTES)])
        if found is None:
            return None
        try:
            return _DECODER.decode(found[0].decode("utf-8", "replace")), start + found[1]
        except (ValueError, RecursionError):
            return None

    def _give_up(self, row: int, start: int, out: Settled) -> int:
        """A piece that is no JSON: wait for more text if its end may still come, else count it as bad."""
        near_end = len(self._text) - start < MAX_EVENT_BYTES
        if near_end and not self._last and row > 0:
            # A guessed boundary inside an event that goes on in the next chunk: start the next chunk with it.
            self._drop(start, len(self._text), out)
            self._carry = self._text[start:]
            return len(self._text)
        stop = int(self._starts[row + 1]) if row + 1 < len(self._starts) else len(self._text)
        self._drop(start, stop, out)
        self._gave_up = True
        out.bad.append(_excerpt(self._text, start))
        return stop

    def _drop(self, start: int, end: int, out: Settled) -> None:
        first, last = np.searchsorted(self._starts, [start, end])
        out.drop.update(range(int(first), int(last)))

    @staticmethod
    def _whole_objects(text: bytes, rewrite: Callable[[bytes], bytes]) -> bytes:
        """Apply `rewrite` up to the last closing brace, so that it never sees half a number."""
        cut = text.rfind(b"}") + 1
        return rewrite(text[:cut]) + text[cut:]

    def _more(self, size: int) -> bytes:
        parts, total = [], 0
        for block in self._blocks:
            parts.append(block)
            total += len(block)
            if total >= size:
                break
        return b"".join(parts)

    def _read_head(self) -> bool:
        head = b""
        while True:
            more = self._more(1 << 20)
            head += more
            text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
            if text.startswith(b"["):
                self._carry, self.found = text[1:], True
                return True
            match = ARRAY_START.search(head)
            if match:
                self._carry, self.found = head[match.end() :], True
                self._add_metadata(head[: match.start()] + b'"":0}')
                return True
            if not more or len(head) > MAX_HEAD_BYTES:
                self._add_metadata(head)
                return False

    def _read_tail(self) -> None:
        if not self.ended:
            return
        tail = self._carry + self._more(MAX_HEAD_BYTES)
        text = tail.lstrip(b", \t\r\n")
        if text.startswith(b'"'):
            self._add_metadata(b"{" + text)

    def _add_metadata(self, text: bytes) -> None:
        try:
            found = _DECODER.raw_decode(text.decode("utf-8", "replace").strip())[0]
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            found.pop("", None)
            self.metadata.update(found)


def arrays(blocks: Iterable[bytes], names: Iterable[str]) -> Iterator[tuple[str, EventSplitter]]:
    """Every array of objects that stands under one of these keys, however deep, in the order of the file.

    Each splitter must be used up before the next is asked for. Text between arrays is passed over.
    """
    key = re.compile(rb'"(' + b"|".join(name.encode() for name in names) + rb')"\s*:\s*\[\s*(?=\{)')
    blocks = iter(blocks)
    text = b""
    while True:
        match = key.search(text)
        if match:
            splitter = EventSplitter(blocks, inside=text[match.end() :])
            yield match.group(1).decode(), splitter
            text = splitter.rest
            continue
        more = next(blocks, None)
        if more is None:
            return
        text = text[-256:] + more


def _is_strict(raw: bytes) -> bool:
    try:
        # Of bytes, `loads` would take what is no UTF-8.
        event = json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    # Python reads an escaped half of a surrogate pair, other parsers do not.
    return b"\\u" not in raw or not _LONE_SURROGATE.search(json.dumps(event, ensure_ascii=False))


def _strict(event: Any) -> bytes:
    """An event as JSON that every parser reads."""
    return _LONE_SURROGATE.sub("\ufffd", json.dumps(event, ensure_ascii=False)).encode()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def lines_table(events: list[bytes], first_row: int) -> pa.Table:
    """The same table from a few texts."""
    rows = pa.array(range(first_row, first_row + len(events)), pa.int64())
    return pa.table({"row": rows, "line": pa.array([event.decode() for event in events], pa.string_view())})


def _pieces(text: bytes, last: bool) -> tuple[np.ndarray, np.ndarray]:
    """Guess where events start and end: at every `{` that follows `} ,`. The last piece is complete only at the end."""
    data = np.frombuffer(text, np.uint8)
    braces = np.flatnonzero(data == ord("{"))
    if not len(braces):
        return braces, braces
    commas = _before(data, braces)
    is_comma = (commas >= 0) & (data[commas] == ord(","))
    closers = _before(data, commas[is_comma])
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


def _before(data: np.ndarray, positions: np.ndarray) -> np.ndarray:
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


def _views(text: bytes, starts: np.ndarray, ends: np.ndarray) -> pa.Table:
    """An Arrow table whose strings point into `text`: nothing is copied."""
    count = len(starts)
    views = np.zeros(count, _VIEW)
    views["length"] = ends - starts
    views["offset"] = starts
    data = np.frombuffer(text, np.uint8)
    prefix = np.zeros((count, 4), np.uint8)
    for k in range(4):
        prefix[:, k] = data[np.minimum(starts + k, len(text) - 1)]
    views["prefix"] = prefix.view("<u4").ravel()
    short = np.flatnonzero(views["length"] <= 12)
    raw = views.view(np.uint8).reshape(count, 16)
    for row in short:
        # Arrow keeps strings of up to 12 bytes in the view itself.
        piece = text[int(starts[row]) : int(ends[row])]
        raw[row, 4:] = np.frombuffer(piece.ljust(12, b"\0"), np.uint8)
    lines = pa.Array.from_buffers(pa.string_view(), count, [None, pa.py_buffer(views), pa.py_buffer(text)])
    table = pa.table({"row": pa.array(np.arange(count)), "line": lines})
    return pa.Table.from_batches(table.to_batches(max_chunksize=BATCH_ROWS))


def _skip(text: bytes, position: int) -> int:
    match = SPACE.match(text, position)
    return match.end() if match else position


def _excerpt(text: bytes, start: int) -> str:
    return " ".join(text[start : start + 200].decode("utf-8", "replace").split())
