"""Text made harmless: what acts or hides is shown."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from traceview.render.characters import BLANK, DEFAULT_IGNORABLE, clean

SEEN_BY_NOBODY = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
"""Categories of characters that act, hide or are blank."""


@pytest.mark.slow
def test_every_character_that_acts_or_hides_is_escaped_and_no_other() -> None:
    ignorable = {ord(char) for char in re.findall(f"[{DEFAULT_IGNORABLE}]", "".join(map(chr, range(0x110000))))}
    assert len(ignorable) == 4174
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        category = unicodedata.category(char)
        is_hidden = code in ignorable or char in BLANK or (category in SEEN_BY_NOBODY and char != " ")
        is_nothing = category in ("Cn", "Co")
        assert is_nothing or (clean(char) == char) is not is_hidden, hex(code)
        assert not is_nothing or clean(char) != char, hex(code)


def test_directions_are_among_what_is_ignored() -> None:
    """All characters of the property Bidi_Control, and what Unicode files under letters and marks."""
    named = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    drawn_as_nothing = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U000e0100\U000e01ef"
    for char in named + drawn_as_nothing:
        assert clean(f"a{char}b") == f"a{char.encode('unicode_escape').decode()}b"


def test_names_that_look_alike_look_different() -> None:
    assert len({clean(f"conv{blank}1") for blank in " \u00a0\u2003\u202f\u3000\u1680\u2800"}) == 7


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\u202ex\u2069", "\\u202ex\\u2069"),
        ("\x85\x9b", "\\x85\\x9b"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("naïve 日本語 ─", "naïve 日本語 ─"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown
