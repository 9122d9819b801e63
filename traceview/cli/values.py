"""Values of options, one parser for each kind; every verb that takes a kind of value reads it here.

A parser raises `argparse.ArgumentTypeError` with a sentence that says what to write instead.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable

MOST = 65536
"""Largest count without a limit of its own."""
MOST_S = 365 * 24 * 3600.0
MOST_BYTES = 1 << 60
"""More memory is a slip, and the database takes little more."""
_WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(i?)B?", re.IGNORECASE | re.ASCII)
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|h)?", re.ASCII)
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*%?", re.ASCII)
_IMAGE = re.compile(r"(\d{1,6})x(\d{1,6})x(\d{1,6})", re.ASCII)
_SECONDS = {"s": 1, "m": 60, "h": 3600, None: 60}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def number(text: str) -> int | None:
    """Return a whole number in ASCII digits, which may be negative; None where the text is anything else."""
    return int(text) if _WHOLE.fullmatch(text) else None


def at_least(least: int, wrong: str, most: int | None = None) -> Callable[[str], int]:
    """Return the parser of whole numbers from `least` to `most`; `wrong` says what another text is not."""

    def read(text: str) -> int:
        value = number(text)
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f"{text!r} {wrong}")
        if most is not None and value > most:
            raise argparse.ArgumentTypeError(f"{text!r} is more than {most:,}")
        return value

    return read


def counts(what: str, least: int = 1, most: int = MOST) -> Callable[[str], list[int]]:
    """Return the parser of lists of whole numbers, each once, in the order in which they are given."""

    def read(text: str) -> list[int]:
        found = [number(word) for word in words(text)]
        if not found or any(value is None or not least <= value <= most for value in found):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of {what}; write for example 1,4,16")
        return [value for value in dict.fromkeys(found) if value is not None]

    return read


def words(text: str) -> tuple[str, ...]:
    """Return the parts of a list that is separated by commas."""
    return tuple(word for word in (part.strip() for part in text.split(",")) if word)


def names(known: Iterable[str], what: str) -> Callable[[str], list[str]]:
    """Return the parser of lists of some of these names, which come in their own order."""

    def read(text: str) -> list[str]:
        if not words(text) or set(words(text)) - set(known):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of {what}; choose from {', '.join(known)}")
        return [name for name in known if name in words(text)]

    return read


def pair(form: str) -> Callable[[str], tuple[str, str]]:
    """Return the parser of texts such as NAME=VALUE; `form` says so, with an example if need be."""

    def read(text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise argparse.ArgumentTypeError(f"{text!r} is not {form}")
        return name, value

    return read


def size(text: str, least: int = 1) -> int:
    """Return the bytes, this many or more, of a text such as 512MB, 2GB, 1.5GiB or a plain number."""
    match = _SIZE.fullmatch(text.strip())
    n_bytes = int(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].upper()]) if match else -1
    if n_bytes < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write for example 512MB or 2GB")
    if n_bytes > MOST_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} is more than any machine has; write for example 512MB or 2GB")
    return n_bytes


def duration(text: str) -> float:
    """Return the seconds of a text such as 90s, 10m or 1h; minutes without a unit."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not float(match[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write for example 90s, 10m or 1h")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds > MOST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is more than a year")
    return seconds


def percent(text: str) -> float:
    """Return a percentage from 0 to 100 of a text such as 5%."""
    found = _PERCENT.fullmatch(text)
    value = float(found[1]) if found else -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage; write for example 5%")
    return value


def factor(text: str) -> float:
    """Return a speed-up such as 1.1."""
    if not _DECIMAL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed-up; write for example 1.1")
    return float(text)


def image(text: str) -> tuple[int, int, int]:
    """Return channels, height and width of a text such as 3x224x224."""
    match = _IMAGE.fullmatch(text)
    if not match or not all(map(int, match.groups())):
        raise argparse.ArgumentTypeError(f"{text!r} is not CxHxW; write for example 3x224x224")
    channels, height, width = map(int, match.groups())
    return channels, height, width


setting = pair("NAME=VALUE")
count = at_least(1, "is not a count; use 1 or more", MOST)
limit = at_least(0, "is not a row count; use 0 for all rows")
ranks = counts("ranks", least=0, most=999_999_999)
