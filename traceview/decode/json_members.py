"""The keys that stand beside the events of a trace, before their array and behind it.

Invariant: a value that is too long costs itself alone; memory holds `VALUE_BYTES` of text, `TOTAL_BYTES` of
values, and one block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from traceview.decode.json_skip import passed

VALUE_BYTES = 4 << 20
TOTAL_BYTES = 16 << 20
KEY_BYTES = 64 << 10
_ARRAY_START = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY_FOLLOWS = re.compile(rb'(?="traceEvents"\s*:\s*\[)')
_BETWEEN = re.compile(rb"[ \t\r\n,]*")
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
_KEY = re.compile(rb'("(?:[^"\\]|\\.)*")\s*:\s*')
_EVENTS = b'"traceEvents"'
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
        """What follows the bracket of the array of events; None when there is none."""
        self._blocks = blocks
        self._fill(KEY_BYTES)
        self._at = _end(_BEFORE, self._text, 0)
        start = self._text[self._at : self._at + 1]
        if start == b"[":
            return self._text[self._at + 1 :]
        if start == b"{":
            self._at += 1
            events = self._members(searching=True)
            if events is not None:
                return events
        return self._search()

    def behind_events(self, text: bytes, blocks: Iterator[bytes]) -> None:
        """Read on from `text`, which follows the array, and then `blocks`."""
        self._blocks, self._text, self._at = blocks, text, 0
        self._members(searching=False)

    def _members(self, searching: bool) -> bytes | None:
        """Read members to the end of the object, or to the array of events if it is searched for."""
        while True:
            self._fill(KEY_BYTES)
            self._at = _end(_BETWEEN, self._text, self._at)
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
        inside = searching and _ARRAY_START.search(self._text, self._at, self._at + (end or VALUE_BYTES))
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
        """Have so many bytes at hand where the file goes on."""
        if len(self._text) - self._at >= size:
            return
        parts, known = [self._text[self._at :]], len(self._text) - self._at
        for block in self._blocks:
            parts.append(block)
            known += len(block)
            if known >= size:
                break
        self._text, self._at = b"".join(parts), 0


def _end(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
