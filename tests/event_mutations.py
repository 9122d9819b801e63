"""Damages trace events as what they are: their values, ids, times and nesting, with the JSON around them whole.

Used by `mutations.py`. Invariant: a mutation follows from its dice alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

Events = list[dict[str, Any]]
_MARK = "@raw-%d@"
RAW = (
    *("1e308", "-1e308", "1e-400", "1E5", "1" + "0" * 30, "-5", "-0", "7.5", "true", "null", '"7"', '"x"', '""'),
    *("NaN", "Infinity", "-Infinity", '{"a": 1}', "[7]", "[]", "{}", "9223372036854775807", "-9223372036854775809"),
    *('"\\ud800"', '"\\udc00\\ud800"', '"a\\u0000b"', "9" * 5000, "[" * 3000 + "]" * 3000, '"' + "x" * 20_000 + '"'),
)
"""Values as they are written, also those that are not JSON."""
_KEYS = ("ts", "dur", "pid", "tid", "id", "name", "cat", "ph", "args")
_IDS = ("correlation", "stream", "device", "External id", "Sequence number", "Fwd thread id", "id", "tid")


def mutated_events(data: bytes, dice: random.Random) -> bytes | None:
    """The file with some of its events changed; None for one that holds no events in JSON."""
    try:
        trace = json.loads(data)
    except (ValueError, RecursionError):
        return None
    found = trace.get("traceEvents") if isinstance(trace, dict) else trace
    events = [event for event in found if isinstance(event, dict)] if isinstance(found, list) else []
    if not events:
        return None
    for _ in range(dice.choice((1, 1, 2, 4))):
        dice.choice(MUTATIONS)(events, dice)
    found[:] = events
    text = json.dumps(trace, indent=dice.choice((None, None, 1)), ensure_ascii=dice.random() < 0.5)
    for number, raw in enumerate(RAW):
        text = text.replace(f'"{_MARK % number}"', raw)
    return text.encode("utf-8", "surrogatepass")


def _some(events: Events, dice: random.Random) -> Events:
    return events if dice.random() < 0.3 else [dice.choice(events)]


def _odd_value(events: Events, dice: random.Random) -> None:
    key, raw = dice.choice(_KEYS), _MARK % dice.randrange(len(RAW))
    for event in _some(events, dice):
        event[key] = raw


def _odd_argument(events: Events, dice: random.Random) -> None:
    raw = _MARK % dice.randrange(len(RAW))
    holding = [event["args"] for event in events if isinstance(event.get("args"), dict) and event["args"]]
    if holding:
        key = dice.choice(list(dice.choice(holding)))
        for args in holding:
            args[key] = raw


def _numbered(events: Events, dice: random.Random) -> None:
    """Ids that are all the same, of the next event, or as many as events."""
    key, shift, size = dice.choice(_IDS), dice.randrange(3), dice.choice((1, 2, 7, len(events)))
    for number, event in enumerate(events):
        args = event.get("args")
        where = event if key in ("id", "tid") or not isinstance(args, dict) else args
        where[key] = (number + shift) % size


def _timed(events: Events, dice: random.Random) -> None:
    """All at one instant, one inside the other, one after the other, or over before they begin."""
    step, length = dice.choice(((0, 0), (0, 5), (1, 10**6), (1, 1), (1, -7)))
    for number, event in enumerate(events):
        event["ts"], event["dur"] = 1000 + number * step, max(length - 2 * number, 0) if length > 9 else length


def _many(events: Events, dice: random.Random) -> None:
    """Many events, each with a name and a thread of its own."""
    template = dice.choice(events)
    events += [{**template, "name": f"name {number}", "tid": number} for number in range(dice.choice((10, 2000)))]


def _deep(events: Events, dice: random.Random) -> None:
    count = dice.choice((50, 3000))
    shape = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
    events += [{**shape, "name": "deep", "ts": number, "dur": 2 * (count - number)} for number in range(count)]


def _flows(events: Events, dice: random.Random) -> None:
    shape = {"cat": dice.choice(("ac2g", "fwdbwd")), "name": "flow", "pid": 1, "tid": 1, "bp": "e"}
    ends = ((phase, number) for number in range(20) for phase in "sfstf")
    events += [{**shape, "ph": phase, "id": number % 7, "ts": 1000 - number} for phase, number in ends]


def _steps(events: Events, dice: random.Random) -> None:
    length, count = dice.choice((1, 10, 1000)), dice.choice((3, 500))
    shape = {"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "dur": length}
    name = dice.choice(("ProfilerStep#", "step ", "batch "))
    events += [{**shape, "name": f"{name}{number}", "ts": number * 10} for number in range(count)]


MUTATIONS: Sequence[Callable[[Events, random.Random], None]] = (
    *(_odd_value, _odd_value, _odd_argument, _odd_argument, _numbered, _timed, _many, _deep, _flows, _steps),
)
