"""Makes strict JSON of an object whose texts hold quotes or backslashes that nobody escaped, as some profilers write.

`{"name": "foo "bar" baz", "ts": 1}` reads as the name `foo "bar" baz`. Invariant: a quote ends a text only where
what follows is what follows a text in JSON; the caller parses the result strictly, so a wrong guess is not an event.
"""

from __future__ import annotations

import json
import re
from typing import Any

_TOKEN = re.compile(rb'["{}\[\]]')
_QUOTE = re.compile(rb'\\.|"', re.DOTALL)
_KEY_ENDS = re.compile(rb"\s*:")
_CLOSED = rb"[}\]]\s*(?:[,}\]]|$)"
_MEMBER_ENDS = re.compile(rb'\s*(?:%b|,\s*"[^"]{0,200}"\s*:)' % _CLOSED)
_ITEM_ENDS = re.compile(rb'\s*(?:%b|,\s*["{\[\-0-9tfnNI])' % _CLOSED)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\|"')


def mended(text: bytes) -> tuple[bytes, int] | None:
    """The object at the start of `text` with its texts escaped, and where it ends in `text`; None when it does not."""
    stack = bytearray()
    out: list[bytes] = []
    position = 0
    while token := _TOKEN.search(text, position):
        mark, at = token.group(), token.start()
        if mark == b'"':
            end = _text_end(text, at, _ending(text, at, stack))
            if end is None:
                return None
            inside = _ESCAPE.sub(_escaped, text[at + 1 : end])
            out += [text[position : at + 1], inside, b'"']
            position = end + 1
            continue
        out.append(text[position : at + 1])
        position = at + 1
        if mark in b"{[":
            stack += mark
        elif not stack or stack.pop() != (ord("{") if mark == b"}" else ord("[")):
            return None
        if not stack:
            return b"".join(out), position
    return None


def _ending(text: bytes, at: int, stack: bytearray) -> re.Pattern[bytes]:
    """Return the pattern of what must follow the text that starts at `at`."""
    if stack[-1:] == b"[":
        return _ITEM_ENDS
    before = text[max(0, at - 100) : at].rstrip()[-1:]
    return _KEY_ENDS if before in (b"{", b",") else _MEMBER_ENDS


def _text_end(text: bytes, at: int, ending: re.Pattern[bytes]) -> int | None:
    for quote in _QUOTE.finditer(text, at + 1):
        if quote.group() == b'"' and ending.match(text, quote.end()):
            return quote.start()
    return None


def _escaped(match: re.Match[bytes]) -> bytes:
    found = match.group()
    return found if len(found) > 1 else b"\\" + found


def is_strict(raw: bytes) -> bool:
    """Whether every parser reads a text as JSON."""
    try:
        # Of bytes, `loads` would take what is not UTF-8.
        event = json.loads(raw.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    # Python reads an escaped half of a surrogate pair, other parsers do not.
    return b"\\u" not in raw or not _LONE_SURROGATE.search(json.dumps(event, ensure_ascii=False))


def strict_json(event: Any) -> bytes:
    """An event as JSON that every parser reads."""
    return _LONE_SURROGATE.sub("\ufffd", json.dumps(event, ensure_ascii=False)).encode()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def has_phase(raw: bytes) -> bool:
    """Whether a text is one event in strict JSON."""
    if not is_strict(raw):
        return False
    event = json.loads(raw)
    return isinstance(event, dict) and isinstance(event.get("ph"), str)
