"""Text made harmless: what acts or hides is shown."""

from __future__ import annotations

import pytest

from traceview.render.characters import clean


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
