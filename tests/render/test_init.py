"""What every renderer rests on: text made harmless, values made plain, names made unique."""

from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal

import pytest

from traceview import render
from traceview.analysis.model import Report


def test_every_format_has_a_renderer(report: Report) -> None:
    assert list(render.FORMATS) == ["table", "json", "csv", "markdown"]
    for name in render.FORMATS:
        text = render.renderer(name)(report)
        assert text.endswith("\n") and "ampere_sgemm_32x32_sliced1x4_tn" in text


@pytest.mark.parametrize("name", render.FORMATS)
def test_no_format_lets_a_control_character_through(name: str, report: Report) -> None:
    text = render.renderer(name)(report)
    assert not [char for char in text if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)]
    assert not set(text) & set("\u200b\u2028\u202e\u2066\u2069")


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
    assert render.clean(text) == shown


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (2**80, 2**80),
        (Decimal("120"), 120),
        (Decimal("1.5"), 1.5),
        (Decimal("123456789012345678901234567890.12"), "123456789012345678901234567890.12"),
        (float("nan"), None),
        (float("-inf"), None),
        (True, True),
        (b"\x00a", "\\x00\\x61"),
        ([1, [2.5, float("nan")]], [1, [2.5, None]]),
        ({"a": (1, None), 3: "x"}, {"a": [1, None], "3": "x"}),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 6), "2026-01-02T03:04:05.000006"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.timedelta(seconds=90), "0:01:30"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_plain(value: object, plain: object) -> None:
    assert render.plain(value) == plain
    json.dumps(render.plain(value), allow_nan=False)


def test_repeated_names_stay_apart() -> None:
    assert render.unique(["a", "a", "b", "a", "a_1"]) == ["a", "a_2", "b", "a_3", "a_1"]
