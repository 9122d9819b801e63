"""Values made plain, names made unique."""

from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal

import pytest

from traceview.analysis import values


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
    assert values.plain(value) == plain
    json.dumps(values.plain(value), allow_nan=False)


def test_repeated_names_stay_apart() -> None:
    assert values.unique(["a", "a", "b", "a", "a_1"]) == ["a", "a_2", "b", "a_3", "a_1"]
