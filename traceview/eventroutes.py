"""The short way from texts of events to rows, for events that are what their kind always is.

A route takes events of a few categories straight into the tables they go to, with only the arguments those tables
want. Which events take it is guessed from a few bytes of each. The one law: the guess is checked. The events that are
what their route expects are counted, and if one is not, nothing of the part is kept; it is then read the long way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from traceview.jsonevents import Part
from traceview.jsonpieces import WORD, Ints, Words, places, words

SAMPLE = 256
"""Events of a part from which the kinds of events are learnt."""
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, without their whole part, spread evenly and never in step with anything."""
HEAD_BYTES = 400
# The last eight bytes of a match tell a key from a text that looks like its value.
_PHASE = re.compile(rb'[{,]\s*"ph"\s*:\s*"(\w)"')
_CATEGORY = re.compile(rb'"cat"\s*:\s*"([\w-]+)"')
_TIME = re.compile(rb'"ts"\s*:\s*(-?\d{1,300})')
_LONG = 13
"""Digits before the decimal point from which on a double may not hold microseconds to the nanosecond."""
EXACT_DECIMALS_US = 1 << 43
EXACT_WHOLE_US = 1 << 53
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
    phase: str = "X"
    categories: tuple[str, ...] = ()
    """None for every category."""
    name: str | None = None
    """The only name that such an event may have."""
    on_thread: bool = True
    """Whether its process and thread are wanted, as numbers."""
    waits: bool = True
    """Whether the rows of its first table may wait on disk: nothing looks at them before everything has been read."""
    one_row: bool = True
    """Whether it becomes one row, where there is but one table."""


@dataclass(frozen=True)
class Routed:
    """What way the events of a part take."""

    by_route: tuple[tuple[Route, Ints], ...] = ()
    rest: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def routed(part: Part, routes: Sequence[Route]) -> Routed:
    """The rows of a part by the route they seem to belong to.

    Kinds of events are learnt from a sample of the part: a kind's phase and category stand at the same place in many.
    """
    chosen = np.full(len(part), -1, np.int64)
    seen: dict[int, Words] = {}
    for number, (phase, category) in _kinds(part, routes):
        fits = _has(part, phase, seen)
        if category:
            fits &= _has(part, category, seen)
        chosen[fits] = number
    found = tuple((route, np.flatnonzero(chosen == number)) for number, route in enumerate(routes))
    return Routed(tuple((route, rows) for route, rows in found if len(rows)), np.flatnonzero(chosen < 0))


def _kinds(part: Part, routes: Sequence[Route]) -> Iterable[tuple[int, tuple[Spot, Spot | None]]]:
    """Routes by number, each with what tells its events: the phase and, where it wants some, the category."""
    kinds: dict[tuple[Spot, Spot | None], int] = {}
    for row in _spread(len(part)):
        start, end = int(part.starts[row]), int(part.ends[row])
        phase, category = (key.search(part.text, start, min(start + HEAD_BYTES, end)) for key in (_PHASE, _CATEGORY))
        for number, route in enumerate(routes):
            fits = phase and phase[1].decode("latin-1") == route.phase
            if phase and fits and not route.categories:
                kinds[Spot.of(phase, start), None] = number
            elif phase and fits and category and category[1].decode("latin-1") in route.categories:
                kinds[Spot.of(phase, start), Spot.of(category, start)] = number
    return [(number, spots) for spots, number in kinds.items()]


def _spread(count: int) -> Iterable[int]:
    """Some of so many rows. No constant stride: events that alternate would hide from it."""
    return range(count) if count <= SAMPLE else map(int, np.arange(SAMPLE) * GOLDEN % 1 * count)


@dataclass(frozen=True)
class Spot:
    """Eight bytes of an event that end with a value, and where in the event they stand."""

    place: int
    word: int

    @classmethod
    def of(cls, match: re.Match[bytes], start: int) -> Spot:
        """Where a key and its value were found in the event that starts at `start`."""
        return cls(match.end() - WORD - start, int.from_bytes(match.group()[-WORD:], "little"))


def _has(part: Part, spot: Spot, seen: dict[int, Words]) -> NDArray[np.bool_]:
    if spot.place not in seen:
        seen[spot.place] = words(part.text, part.starts + spot.place)
    found: NDArray[np.bool_] = seen[spot.place] == np.uint64(spot.word)
    return found


def exact_us(part: Part) -> int:
    """Microseconds up to which a double holds every time of the part to the nanosecond."""
    match = _TIME.search(part.text, int(part.starts[0]))
    if match and abs(float(match[1])) < EXACT_DECIMALS_US / 2:
        return EXACT_DECIMALS_US
    data = np.frombuffer(part.text, np.uint8)
    points = places(data, ord("."))
    points = points[points >= _LONG]
    for back in range(1, _LONG + 1):
        digit = data[points - back]
        points = points[(digit >= ord("0")) & (digit <= ord("9"))]
    return EXACT_DECIMALS_US if len(points) else EXACT_WHOLE_US


def schema(wanted: Mapping[str, str], keys: Mapping[str, str] = KEYS) -> str:
    """What `from_json` is to take out of an event; `wanted` are the arguments with their types."""
    return json.dumps({**keys, "args": wanted or {"none": "BOOLEAN"}})


def insert(
    connection: duckdb.DuckDBPyConnection,
    route: Route,
    parse: str,
    bodies: Sequence[str],
    values: Mapping[str, object],
    file: Path | None,
) -> int:
    """Fill the tables of a route from the registered table `lines`; returns how many events were as expected.

    The rows of the first table go into `file`, if there is one, to wait.
    """

    def fill(table: str, body: str, values: Mapping[str, object] | None = None) -> int:
        if file and table == route.tables[0]:
            values = {**(values or {}), "path": str(file)}
            return int(connection.execute(f"COPY ({body}) TO $path (FORMAT parquet)", values).fetchall()[0][0])
        return int(connection.execute(f"INSERT INTO stage.{table} BY NAME {body}", values).fetchall()[0][0])

    if len(bodies) == 1 and route.one_row:
        return fill(route.tables[0], f"WITH event AS ({parse}) {bodies[0]}", values)
    (count,) = connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {parse}", values).fetchall()[0]
    for table, body in zip(route.tables, bodies, strict=True):
        fill(table, body)
    return int(count)
