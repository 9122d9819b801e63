"""Times of a log, through their digits."""

from __future__ import annotations

import pytest

from traceview.ingest.layer_times import ns, whole


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        ("0.787574", "ms", 787_574),
        ("2.102852e-03", "s", 2_102_852),
        ("123456789.123456789", "s", 123_456_789_123_456_789),
        ("0.0000005", "ms", 0),
        ("0.0000015", "ms", 2),
        ("nan", "s", None),
        ("-inf", "s", None),
        ("1e999999999", "s", None),
        ("twelve", "ms", None),
        ("", "ms", None),
    ],
)
def test_nanoseconds(number: str, unit: str, expected: int | None) -> None:
    assert ns(number, unit) == expected


def test_counts() -> None:
    assert (whole("100"), whole(None), whole("9" * 30), whole("1.5")) == (100, None, None, None)
