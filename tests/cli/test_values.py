"""Values of options: what each parser takes, and what it says of other text."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from traceview.cli import values


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("2GB", 2_000_000_000), ("512 mb", 512_000_000), ("1.5GiB", 1_610_612_736), ("64K", 64_000), ("1000", 1000)],
)
def test_sizes(text: str, n_bytes: int) -> None:
    assert values.size(text) == n_bytes


def test_a_cap_may_be_nothing_at_all() -> None:
    assert [values.size(text, least=0) for text in ("0", "0MB", "64MB", "1GiB")] == [0, 0, 64_000_000, 1 << 30]


@pytest.mark.parametrize("text", ["", "GB", "0", "-1GB", "2 apples", "1e3"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size"):
        values.size(text)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("10m", 600), ("1h", 3600), ("2", 120), ("0.5", 30)])
def test_times(text: str, seconds: float) -> None:
    assert values.duration(text) == seconds


@pytest.mark.parametrize("text", ["0", "0s", "-1", "nan", "1e5", "10 minutes", ""])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time; write for example 90s, 10m or 1h"):
        values.duration(text)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (values.count, "16", 16),
        (values.limit, "0", 0),
        (values.counts("batches"), "16, 1,16", [16, 1]),
        (values.ranks, "0,7", [0, 7]),
        (values.names(("fprop", "dgrad"), "passes"), "dgrad,fprop", ["fprop", "dgrad"]),
        (values.words, "threads, malloc,", ("threads", "malloc")),
        (values.setting, "OUT=a=b", ("OUT", "a=b")),
        (values.percent, "5 %", 5.0),
        (values.factor, "1.1", 1.1),
        (values.image, "3x224x224", (3, 224, 224)),
    ],
)
def test_values(read: Callable[[str], object], text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (values.count, "0", "'0' is not a count; use 1 or more"),
        (values.count, "65537", "'65537' is more than 65,536"),
        (values.count, "\u00b2", "is not a count"),
        (values.counts("batches"), "1,,0", "'1,,0' is not a list of batches; write for example 1,4,16"),
        (values.counts("batches"), ",", "is not a list of batches"),
        (values.counts("batches"), "1,65537", "is not a list of batches"),
        (values.ranks, "-1", "'-1' is not a list of ranks"),
        (values.names(("fprop", "dgrad"), "passes"), "fprop,x", "is not a list of passes; choose from fprop, dgrad"),
        (values.setting, "=1", "'=1' is not NAME=VALUE"),
        (values.percent, "101%", "is not a percentage; write for example 5%"),
        (values.factor, "1e3", "is not a speed-up; write for example 1.1"),
        (values.image, "3x0x3", "is not CxHxW; write for example 3x224x224"),
    ],
)
def test_other_text(read: Callable[[str], object], text: str, said: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        read(text)
    assert said in str(refused.value)
