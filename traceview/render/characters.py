"""Text of a trace as people may see it: what would act, hide or look like something else becomes a visible escape.

Invariant: two texts that differ look different, but for letters of different alphabets that are drawn alike.
"""

from __future__ import annotations

import re
from decimal import Decimal
from json import dumps
from typing import Any

from traceview.analysis.values import plain

DEFAULT_IGNORABLE = (
    r"\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Drawn as nothing, for a pattern: `DerivedCoreProperties.txt` of Unicode 14.0; Bidi_Control is among them."""
BLANK = "\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159"
"""Drawn as white space or nothing, though Unicode calls them signs: braille blank, object replacement and the like."""

_UNSEEN = re.compile(f"[{BLANK}{DEFAULT_IGNORABLE}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def clean(text: str) -> str:
    """`text` on one line, with every character that would act or hide shown as a Python escape.

    Those are the characters that Python calls unprintable (controls, formats, separators and blanks but the plain one,
    half surrogates, private and unassigned ones) and those that are drawn as nothing. A no-break space is one of them:
    a name with it looks like the name with a plain one, and is another.
    """
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() and not _UNSEEN.match(char):
        return char
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
