"""Passes over one JSON value, however long, keeping nothing of it: memory holds one block.

Brackets and quotes are counted in column operations. A value that is not JSON (a text without its end, a bracket that
nobody closed) shows it soon after: then what follows begins where the next object of a list seems to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traceview.decode.json_split import Ints, before

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
    """Where a value ended."""

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
        """What comes after `text`: a backslash is looked at with what it escapes."""
        self.is_whole = True
        self._is_object = is_object
        self._stop, self._resume = stop, stop or _NEXT_OBJECT
        self._in_text = 0
        self._objects = self._lists = 0
        self._last = np.zeros(2, np.uint8)

    def feed(self, block: bytes) -> int | None:
        """Where in `text` what follows the value begins; None when that has not come yet."""
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
        """Where reading can go on: the last place up to `at`, or the first one behind it."""
        since = max(0, since, at - CONTEXT)
        earlier = [match.end() for match in self._resume.finditer(self.text, since, at + 1)]
        later = None if earlier else self._resume.search(self.text, since)
        if not earlier and not later:
            self.text, self.n_before = self.text[since:], self.n_before + since
            return None
        return later.end() if later else earlier[-1]
