"""Text of a trace as people may see it: what would act, hide or look like something else becomes a visible escape.

Invariant: two texts that differ look different, but for letters of different alphabets that are drawn alike.
"""

from __future__ import annotations

import re
from decimal import Decimal
from json import dumps
from typing import Any

from traceview.analysis.values import plain

UNICODE = "14.0"
"""Version of the next table: `DerivedCoreProperties.txt` of the Unicode Character Database."""
DEFAULT_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""First and last of the characters that are drawn as nothing; those of the property Bidi_Control are among them."""
BLANK = "\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159"
"""Drawn as white space or nothing, though Unicode calls them signs: braille blank, object replacement and the like."""

_UNSEEN = re.compile(f"[{BLANK}{''.join(f'{chr(first)}-{chr(last)}' for first, last in DEFAULT_IGNORABLE)}]")
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
