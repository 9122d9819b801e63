"""The fast path from texts of events to rows, for events that are what their kind always is.

A route takes events of a few categories straight into the tables they go to, with only the arguments those tables
want. Which events take it is guessed from a few bytes of each. Invariant: the guess is checked. The events that are
what their route expects are counted, and if one is not, nothing of the part is stored; it is then read the careful way.

The careful way alone, several parts at once, takes 1.5 times the processor seconds and twice the memory.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from traceview.decode.json_events import Part
from traceview.decode.json_scan import WORD, Ints, places, words
from traceview.ingest.sink import LATEST_NS
from traceview.lazy import duckdb

SAMPLE = 256
"""Events of a part from which the kinds of events are learnt."""
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, without their whole part, spread evenly and never in step with anything."""
HEAD_BYTES = 400
LOOKED_AT = 8192
"""Events of a part that are looked through for what their second table holds: that costs less than a query."""
# The last eight bytes of a match tell a key from a text that looks like its value.
_PHASE = re.compile(rb'[{,]\s*"ph"\s*:\s*"(\w)"')
_CATEGORY = re.compile(rb'"cat"\s*:\s*"([\w-]+)"')
_TIME = re.compile(rb'"ts"\s*:\s*(-?\d{1,300})')
_LONG = 13
"""Digits before the decimal point from which on a double may not hold microseconds to the nanosecond."""
_KEY, _DIGITS, _DECIMALS = b'"ts": ', 16, 3
EXACT_DECIMALS_US = 1 << 43
EXACT_WHOLE_US = LATEST_NS // 1000
KEYS = dict.fromkeys(("ph", "cat", "name", "id"), "VARCHAR") | {
    "pid": "BIGINT",
    "tid": "BIGINT",
    "ts": "DOUBLE",
    "dur": "DOUBLE",
}


@dataclass(frozen=True)
class Route:
    """Events that fill the same tables."""

    tables: tuple[str, ...]
    phases: tuple[str, ...] = ("X",)
    categories: tuple[str, ...] = ()
    """None for every category."""
    name: str | None = None
    """The only name that such an event may have."""
    on_thread: bool = True
    """Whether its process and thread are read, as numbers."""
    second_holds: tuple[str, ...] = ()
    """Texts of which every event of its second table holds one; looked for before they are parsed again."""
    spills: bool = True
    """Whether the rows of its first table may be spilled: nothing looks at them before everything has been read."""
    one_row: bool = True
    """Whether it becomes one row of the first table."""


Spot = tuple[int, int]
"""Eight bytes of an event that end with a value: where in the event they stand, and the bytes as a number."""


def routed(part: Part, routes: Sequence[Route]) -> tuple[list[tuple[Route, Ints]], Ints]:
    """The rows of a part by the route they seem to belong to, and those of none.

    Kinds of events are learnt from a sample of the part: a kind's phase and category stand at the same place in many.
    """
    chosen = np.full(len(part), -1, np.int64)
    left = np.arange(len(part))
    for number, spots in _kinds(part, routes):
        fits = left
        for place, word in spots:
            fits = fits[words(part.text, part.starts[fits] + place) == np.uint64(word)]
        chosen[fits] = number
        left = left[chosen[left] < 0]
    found = [(route, np.flatnonzero(chosen == number)) for number, route in enumerate(routes)]
    return [(route, rows) for route, rows in found if len(rows)], left


def _kinds(part: Part, routes: Sequence[Route]) -> list[tuple[int, tuple[Spot, ...]]]:
    """Routes by number, the most frequent first, each with what tells its events: category, if any, and phase."""
    kinds: Counter[tuple[int, tuple[Spot, ...]]] = Counter()
    for row in _spread(len(part)):
        start, end = int(part.starts[row]), int(part.ends[row])
        phase, category = (key.search(part.text, start, min(start + HEAD_BYTES, end)) for key in (_PHASE, _CATEGORY))
        for number, route in enumerate(routes):
            if not phase or phase[1].decode("latin-1") not in route.phases:
                continue
            if not route.categories:
                kinds[number, (_spot(phase, start),)] += 1
            elif category and category[1].decode("latin-1") in route.categories:
                kinds[number, (_spot(category, start), _spot(phase, start))] += 1
    return [kind for kind, _ in kinds.most_common()]


def without_second(part: Part, rows: Ints, route: Route) -> Route:
    """The route without its second table, if surely none of these events of a part is of that."""
    if len(route.tables) == 1 or len(rows) > LOOKED_AT:
        return route
    marks = [mark.encode() for mark in route.second_holds]
    spans = zip(part.starts[rows].tolist(), part.ends[rows].tolist(), strict=True)
    if any(part.text.find(mark, start, end) >= 0 for start, end in spans for mark in marks):
        return route
    return replace(route, tables=route.tables[:1])


def _spread(count: int) -> Iterable[int]:
    """Some of `count` rows. No constant stride: events that alternate would hide from it."""
    return range(count) if count <= SAMPLE else map(int, np.arange(SAMPLE) * GOLDEN % 1 * count)


def _spot(match: re.Match[bytes], start: int) -> Spot:
    """Return the spot of a matched key and its value in the event that starts at `start`."""
    return match.end() - WORD - start, int.from_bytes(match.group()[-WORD:], "little")


@dataclass(frozen=True)
class Clock:
    """How the times of a part are to be read: those between `least` and `most`, not included, are exact."""

    least: int = -EXACT_DECIMALS_US
    most: int = EXACT_DECIMALS_US
    in_ns: bool = False
    """Whether they are whole nanoseconds, not microseconds."""


def on_a_clock(part: Part) -> tuple[Part, Clock]:
    """The part with times that a number holds to the nanosecond, wherever that can be had, and how to read them.

    Microseconds since 1970 with three decimals are too long for a double: their point is taken out.
    """
    match = _TIME.search(part.text, int(part.starts[0]))
    if match and abs(float(match[1])) < EXACT_DECIMALS_US / 2:
        return part, Clock()
    data = np.frombuffer(part.text, np.uint8)
    points = places(data, ord("."))
    # Behind the last event may stand half of the next.
    points = _after_digits(data, points[(points >= _LONG) & (points < part.ends[-1])], 1, _LONG)
    if not len(points):
        return part, Clock(-EXACT_WHOLE_US, EXACT_WHOLE_US)
    if not _are_times(part.text, data, points):
        return part, Clock()
    moved = data.copy()
    for place in range(_DECIMALS):
        moved[points + place] = data[points + place + 1]
    moved[points + _DECIMALS] = ord(" ")
    # Microseconds without decimals among them are shorter.
    return replace(part, text=moved.tobytes()), Clock(10 ** (_DIGITS + _DECIMALS - 1) - 1, LATEST_NS, True)


def _are_times(text: bytes, data: NDArray[np.uint8], points: Ints) -> bool:
    """Whether every one of these points stands in a time of sixteen digits and three decimals."""
    if points[0] < _DIGITS + WORD or points[-1] + _DECIMALS + 1 >= len(data):
        return False
    keys = words(text, points - _DIGITS - WORD) >> np.uint64(8 * (WORD - len(_KEY)))
    is_time = keys == np.uint64(int.from_bytes(_KEY, "little"))
    behind = data[points + _DECIMALS + 1]
    ends = (behind == ord(",")) | (behind == ord("}")) | (behind <= ord(" "))
    digits = _after_digits(data, _after_digits(data, points, _LONG, _DIGITS), -_DECIMALS, -1)
    return bool(is_time.all() and ends.all()) and len(digits) == len(points)


def _after_digits(data: NDArray[np.uint8], points: Ints, first: int, last: int) -> Ints:
    """The points that have digits at all distances before them from `first` to `last` bytes."""
    for back in range(first, last + 1):
        digit = data[points - back]
        points = points[(digit >= ord("0")) & (digit <= ord("9"))]
    return points


def schema(args: Mapping[str, str], keys: Mapping[str, str]) -> str:
    """Return the schema for `from_json` to take out of an event; `args` are its arguments with their types."""
    return json.dumps({**keys, "args": args or {"none": "BOOLEAN"}})


def insert(
    connection: duckdb.DuckDBPyConnection,
    route: Route,
    parse: str,
    bodies: Sequence[str],
    values: Mapping[str, object],
    file: Path | None,
) -> int:
    """Fill the tables of a route from the registered table `lines`; returns how many events were as expected.

    The rows of the first table go into `file`, if there is one: they are spilled.
    """

    def fill(table: str, query: str, values: Mapping[str, object]) -> int:
        if file and table == route.tables[0]:
            query, values = f"COPY ({query}) TO $path (FORMAT parquet)", {**values, "path": str(file)}
        else:
            query = f"INSERT INTO stage.{table} BY NAME {query}"
        return int(connection.execute(query, values).fetchall()[0][0])

    if not route.one_row:
        made = connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {parse}", {**values, "holding": None})
        (count,) = made.fetchall()[0]
        # An event that becomes no row is not what is expected.
        query = f"SELECT count(DISTINCT id - id % $ids) FROM ({bodies[0]})"
        (taken,) = connection.execute(query, {"ids": values["ids"]}).fetchall()[0]
        for table, body in zip(route.tables, bodies, strict=True):
            fill(table, body, {})
        return int(min(count, taken))
    holding = (None, list(route.second_holds))
    counts = [
        fill(table, f"WITH event AS ({parse}) {body}", {**values, "holding": held})
        for table, body, held in zip(route.tables, bodies, holding, strict=False)
    ]
    return counts[0]
