"""Text of a trace as it may be shown: what would act or hide becomes a visible escape."""

from __future__ import annotations

import re
from decimal import Decimal
from json import dumps
from typing import Any

from traceview.analysis.values import plain

# C0 and C1 controls, line and paragraph separators, direction marks and overrides, zero-width characters, tags,
# half surrogates: everything a terminal, an editor or a browser obeys or hides.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


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


def flat(value: Any) -> Any:
    """A value for one cell: numbers, truth and None as they are, everything else as clean text."""
    if value is None or isinstance(value, bool | int | float | Decimal):
        return value
    value = plain(value)
    return clean(dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value)
