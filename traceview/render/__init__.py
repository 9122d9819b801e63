"""Turns a report, or the result of a query, into text: terminal tables, JSON, CSV, Markdown.

The one law: a renderer returns text and prints nothing, and no text of a trace reaches the reader as anything but
itself: control characters, terminal sequences, invisible direction marks and line breaks become visible escapes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from json import dumps
from typing import Any

from traceview.analysis.model import Column, Report, Section

FORMATS = {
    "table": "traceview.render.terminal",
    "json": "traceview.render.json",
    "csv": "traceview.render.csv",
    "markdown": "traceview.render.markdown",
}
"""Format -> the module whose `render(report)` writes it; imported when it is used."""

# C0 and C1 controls, line and paragraph separators, direction marks and overrides, zero-width characters, tags,
# half surrogates: everything a terminal, an editor or a browser obeys or hides.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_PLAIN = frozenset((type(None), bool, int, str))
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def renderer(name: str) -> Callable[[Report], str]:
    """The `render` function of a format."""
    function: Callable[[Report], str] = importlib.import_module(FORMATS[name]).render
    return function


def clean(text: str) -> str:
    """`text` on one line, with every character that would act or hide shown as a Python escape."""
    return _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(value: Any) -> Any:
    """A value as JSON can hold it, exactly where it can: whole numbers stay whole, NaN and infinity become None.

    Decimals that a double cannot hold, dates, intervals, UUIDs and blobs (as `\\xAB`) become text.
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value) if Decimal(repr(float(value))) == value else str(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, bytes | bytearray | memoryview):
        return "".join(f"\\x{byte:02X}" for byte in bytes(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def flat(value: Any) -> Any:
    """A value for one cell: numbers, truth and None as they are, everything else as clean text."""
    if value is None or isinstance(value, bool | int | float | Decimal):
        return value
    value = plain(value)
    return clean(dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value)


def unique(names: Sequence[str]) -> list[str]:
    """Column names of which none occurs twice: a repeated `a` becomes `a_1`, so that no value is lost in JSON."""
    taken: set[str] = set()
    result = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken or (number and candidate in names):
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        result.append(candidate)
    return result


def result(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> Report:
    """The result of one query as a report of one section without a title."""
    section = Section("", "", "", tuple(columns), tuple(rows), None, "")
    return Report("", "", "", (section,), ())
