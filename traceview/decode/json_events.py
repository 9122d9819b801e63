"""Splits a stream of JSON trace events into texts, one per event, without making a Python object of any.

Works for `{"traceEvents": [...]}` with anything before and after the array, and for a bare array, in any layout. A
split is guessed from `} , {` in column operations; the caller parses the pieces with a strict parser, and every piece
that is not an event comes back to `settle`, which finds the true boundary with a full JSON scanner. So a guess is never
trusted. An event that is too long is handed on as an empty text; `settle` passes over it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode.json_repair import is_strict, mended, strict_json
from traceview.decode.json_scan import DECODER, Ints, Members, end_of, more, passed, pieces, views

CHUNK_BYTES = 24 << 20
MAX_CHUNK_BYTES = 48 << 20
"""Parts grow with what has been read: few parts cost less, but a small file needs some for every processor."""
MAX_EVENT_BYTES = 4 << 20
SPACE = re.compile(rb"[ \t\r\n]*")
_NOWHERE = np.empty(0, np.int64)


@dataclass
class Settled:
    """Result for the doubtful pieces of a chunk."""

    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Rows that are not events of their own, as the first of some and the one after the last."""
    events: list[bytes] = field(default_factory=list)
    """Events in strict JSON that replace them."""
    bad: list[str] = field(default_factory=list)
    """Beginnings of the pieces that could not be read."""
    too_long: list[str] = field(default_factory=list)
    """Beginnings of events that are longer than `MAX_EVENT_BYTES`, or nested deeper than can be read."""
    n_repaired: int = 0
    """Events among `events` that were not strict JSON in the file (quotes, control characters, NaN, bad UTF-8)."""

    @property
    def drop(self) -> pa.Table:
        """Rows that are not events of their own, as a table of one column `row`."""
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(first, last) for first, last in self.ranges)])
        return pa.table({"row": pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])})


class TooLong(Exception):
    """A value that does not end within the bytes that an event may have, or is nested too deep."""


@dataclass(frozen=True)
class Part:
    """Some of the events of a file: a text, and where in it each of them is guessed to start and end."""

    text: bytes
    starts: Ints
    ends: Ints
    raw: bytes
    """Bytes of the file, before they were rewritten."""
    n_before: int
    """Bytes of `raw` that an earlier part was given too, because its last event went on in this one."""
    carry: bytes
    """Bytes that belong to the next part."""
    at_end: bool
    """Whether `raw` goes to the end of the file."""
    last: bool
    goes_on: bool = False
    """Whether its only event goes on behind `raw`."""

    def __len__(self) -> int:
        return len(self.starts)

    def table(self, rows: Ints | None = None) -> pa.Table:
        """The texts as an Arrow table `(row, line)`: all, or those of some rows."""
        if rows is None:
            return views(self.text, np.arange(len(self)), self.starts, self.ends)
        return views(self.text, rows, self.starts[rows], self.ends[rows])


class EventSplitter:
    """Iterate to get Arrow tables `(row, line)`; call `settle` on each before asking for the next.

    Who wants to look ahead asks for parts instead, and goes back with `rewind` to settle one of them.
    """

    def __init__(
        self,
        blocks: Iterable[bytes],
        rewrite: Callable[[bytes], bytes] | None = None,
        inside: bytes | None = None,
        last_apart: bool = False,
    ) -> None:
        """`inside`: text that follows the bracket of an array of any objects; then `rest` is what follows its end.

        `last_apart`: the last event becomes a part of its own, because the text behind the array follows it.
        """
        self._blocks = iter(blocks)
        self._inside = inside
        self.rewrite = rewrite
        """Rewrites the text before it is split."""
        self._last_apart = last_apart
        self._carry = b""
        self._now = Part(b"", _NOWHERE, _NOWHERE, b"", 0, b"", at_end=False, last=False)
        self._gave_up = False
        self._n_read = 0
        self.ended = False
        """Whether the end of the array was seen; if not at the end of the file, the file is cut off."""
        self.found = False
        """Whether there was an array of events at all."""
        self._members = Members()

    @property
    def metadata(self) -> dict[str, Any]:
        """The keys beside the array, from before and after it."""
        return self._members.found

    @property
    def unread(self) -> list[str]:
        """Keys beside the array whose values were too long or not JSON."""
        return self._members.unread

    def __iter__(self) -> Iterator[pa.Table]:
        while (part := self.part()) is not None:
            if len(part):
                yield part.table()
        self.finish()

    def part(self) -> Part | None:
        """The next part, which may be empty at the end; None after the last."""
        if not self.found:
            if self._inside is not None:
                self._carry, self.found = self._inside, True
            else:
                events = self._members.before_events(self._blocks)
                if events is None:
                    return None
                self._carry, self.found = events, True
        elif self._now.last or self.ended:
            return None
        raw, n_before = self._carry, len(self._carry)
        while True:
            n_known, n_asked = len(raw), min(max(CHUNK_BYTES, self._n_read // 4), MAX_CHUNK_BYTES)
            raw = more(self._blocks, n_asked, raw)
            at_end = len(raw) - n_known < n_asked
            self._n_read += len(raw) - n_known
            closing = end_of(SPACE, raw, 0)
            if raw.startswith(b"]", closing):
                self.ended = True
                self._now = Part(raw, _NOWHERE, _NOWHERE, raw, n_before, raw[closing + 1 :], at_end, True)
            else:
                self._now = self._split(raw, n_before, at_end)
            if not len(self._now) and not at_end and len(raw) - closing > MAX_EVENT_BYTES:
                here = np.array([closing], np.int64)
                self._now = replace(self._now, starts=here, ends=here, carry=b"", goes_on=True)
            self._carry = self._now.carry
            if len(self._now) or self._now.last:
                return self._now

    def finish(self) -> bool:
        """Read what stands behind the array, when every part has been settled; return whether some of it is unread."""
        return self._inside is None and self.ended and self._members.behind_events(self._carry, self._blocks)

    @property
    def rest(self) -> bytes:
        """Text that has been read and lies behind the array, once it has ended."""
        return self._carry if self.ended else b""

    def again(self, rewrite: Callable[[bytes], bytes]) -> Part:
        """Split the current part once more, rewritten, and rewrite all that follow.

        `rewrite` sees whole objects, some of them twice: it must leave alone what it has rewritten before.
        """
        self.rewrite = rewrite
        self._now = self._split(self._now.raw, self._now.n_before, self._now.at_end)
        self._carry = self._now.carry
        return self._now

    def rewind(self, part: Part, later: Iterable[Part]) -> None:
        """Make an earlier part the current one again; `later` are all that have been taken since."""
        self._blocks = itertools.chain([other.raw[other.n_before :] for other in later], self._blocks)
        self._now, self._carry, self.ended = part, part.carry, False

    def _split(self, raw: bytes, n_before: int, at_end: bool) -> Part:
        text = raw if self.rewrite is None else self._whole_objects(raw, self.rewrite)
        starts, ends = pieces(text, at_end)
        last = at_end
        if at_end and self._last_apart and len(starts) > 1:
            starts, ends, last = starts[:-1], ends[:-1], False
        if not len(starts):
            return Part(text, starts, ends, raw, n_before, b"" if last else raw, at_end, last)
        carry = b"" if last else text[int(ends[-1]) :].lstrip(b", \t\r\n")
        ends = np.where(ends - starts > MAX_EVENT_BYTES, starts, ends)
        return Part(text, starts, ends, raw, n_before, carry, at_end, last)

    def settle(self, doubtful: Ints | Sequence[int]) -> Settled:
        """Find the true events behind pieces that a strict parser refused or that are not events."""
        out = Settled()
        rows = np.sort(np.asarray(doubtful, np.int64))
        starts = self._now.starts[rows]
        at = 0
        while at < len(rows) and not self.ended:
            done = self._settle_from(int(rows[at]), int(starts[at]), out)
            at = max(at + 1, int(np.searchsorted(starts, done)))
        return out

    def _settle_from(self, row: int, start: int, out: Settled) -> int:
        """Read events one by one from `start` until a known boundary; returns where that is."""
        while True:
            try:
                taken = self._take(start, out)
            except TooLong:
                taken = self._pass_over(start, out.too_long, out)
            if taken is None:
                return self._give_up(row, start, out)
            end, is_event = taken
            after = end_of(SPACE, self._now.text, end)
            is_comma = self._now.text.startswith(b",", after)
            start = end_of(SPACE, self._now.text, after + 1) if is_comma else after
            # After a piece that could not be read, a `]` may be one inside that piece.
            if self._now.text.startswith(b"]", start) and (is_event or not self._gave_up):
                return self._end_array(start, out)
            row = int(np.searchsorted(self._now.starts, start))
            is_known = row < len(self._now.starts) and self._now.starts[row] == start
            if not is_comma or is_known or start >= len(self._now.text):
                return start

    def _take(self, start: int, out: Settled) -> tuple[int, bool] | None:
        """Read the event at `start`; returns its end and whether it is one, or None for what is not JSON."""
        decoded = self._decode(start)
        if decoded is None or not self._is_boundary(decoded[1]):
            decoded = self._mend(start) or decoded
        if decoded is None:
            return None
        event, end = decoded
        self._drop(start, end, out)
        is_event = isinstance(event, dict) and (
            event.get("ph") is not None or (self._inside is not None and bool(event))
        )
        if is_event:
            raw = self._now.text[start:end]
            strict = is_strict(raw)
            out.events.append(raw if strict else strict_json(event))
            out.n_repaired += not strict
        elif event != {}:
            # Writers that put a comma behind every event end with an empty one.
            out.bad.append(_excerpt(self._now.text, start))
        return end, is_event

    def _decode(self, start: int) -> tuple[Any, int] | None:
        """The JSON value at `start` and the byte after it; None when there is none. Raises `TooLong`."""
        for size in (min(64 << 10, MAX_EVENT_BYTES), MAX_EVENT_BYTES):
            # latin-1 makes one character of every byte, so positions stay byte positions.
            window = self._now.text[start : start + size].decode("latin-1")
            try:
                _, length = DECODER.raw_decode(window)
            except json.JSONDecodeError as error:
                # A window that is too small fails at its end, or in a text that has none.
                if not error.msg.startswith("Unterminated") and error.pos < len(window) - 100:
                    return None
            except (ValueError, RecursionError):
                # A number of thousands of digits, or deep nesting.
                raise TooLong from None
            else:
                raw = self._now.text[start : start + length].decode("utf-8", "replace")
                return DECODER.raw_decode(raw)[0], start + length
        if len(window) == MAX_EVENT_BYTES:
            raise TooLong
        return None

    def _pass_over(self, start: int, account: list[str], out: Settled) -> tuple[int, bool]:
        """Leave out the value at `start`, wherever it ends; returns its end and whether that is surely one."""
        account.append(_excerpt(self._now.text, start))
        over = passed(self._now.text, start, self._blocks)
        end = len(self._now.text) if over.end is None else over.end
        self._drop(start, end, out)
        if over.end is None:
            self._carry = over.rest
        return end, over.is_whole and over.end is not None

    def _end_array(self, closing: int, out: Settled) -> int:
        """Everything from the closing bracket on is not an event."""
        self.ended = True
        self._carry = self._now.text[closing + 1 :]
        self._drop(closing, len(self._now.text), out)
        return closing

    def _is_boundary(self, position: int) -> bool:
        after = end_of(SPACE, self._now.text, position)
        return self._now.text[after : after + 1] in (b",", b"]", b"")

    def _mend(self, start: int) -> tuple[Any, int] | None:
        """The event at `start` where texts hold unescaped quotes, and the byte after it; None when there is none."""
        following = int(np.searchsorted(self._now.starts, start, side="right"))
        stop = int(self._now.starts[following]) if following < len(self._now.starts) else start + MAX_EVENT_BYTES
        found = mended(self._now.text[start : min(stop, start + MAX_EVENT_BYTES)])
        if found is None:
            return None
        try:
            return DECODER.decode(found[0].decode("utf-8", "replace")), start + found[1]
        except (ValueError, RecursionError):
            return None

    def _give_up(self, row: int, start: int, out: Settled) -> int:
        """A piece that is not JSON: wait for more text if its end may still come, else count it as bad."""
        near_end = len(self._now.text) - start < MAX_EVENT_BYTES
        if near_end and not self._now.at_end and row > 0:
            # A guessed boundary inside an event that goes on in the next chunk: start the next chunk with it.
            self._drop(start, len(self._now.text), out)
            self._carry = self._now.text[start:]
            return len(self._now.text)
        if self._now.goes_on:
            return self._pass_over(start, out.bad, out)[0]
        stop = int(self._now.starts[row + 1]) if row + 1 < len(self._now.starts) else len(self._now.text)
        self._drop(start, stop, out)
        self._gave_up = True
        out.bad.append(_excerpt(self._now.text, start))
        return stop

    def _drop(self, start: int, end: int, out: Settled) -> None:
        first, last = np.searchsorted(self._now.starts, [start, end])
        out.ranges.append((int(first), int(last)))

    @staticmethod
    def _whole_objects(text: bytes, rewrite: Callable[[bytes], bytes]) -> bytes:
        """Apply `rewrite` up to the last closing brace, so that it never sees half a number."""
        cut = text.rfind(b"}") + 1
        return rewrite(text[:cut]) + text[cut:]


def lines_table(events: Sequence[bytes], rows: Sequence[int]) -> pa.Table:
    """Return a table, as iterating gives them, from a few texts, each with the number of its row."""
    lengths = np.array([len(event) for event in events], np.int64)
    ends = np.cumsum(lengths)
    return views(b"".join(events), np.array(rows, np.int64), ends - lengths, ends)


def _excerpt(text: bytes, start: int) -> str:
    return " ".join(text[start : start + 200].decode("utf-8", "replace").split())
