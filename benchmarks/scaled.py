"""Builds traces of many times the size out of real ones, for benchmarks.

A Kineto trace is repeated with shifted times and ids; an nsys export with its rows later in time and new correlation
numbers; the lines of an XPlane with their events again and again, each time later, beside the programs as they are.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from messages import field, read_varint  # noqa: E402

from traceview.decode.protobuf import FIXED64, LENGTH, VARINT  # noqa: E402
from traceview.decode.xspace import (  # noqa: E402
    EVENT_DURATION,
    EVENT_OFFSET,
    LINE_EVENT,
    PLANE_LINE,
    SPACE_PLANE,
)

ID_STEP = 10_000_000
TIMED = (
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "NVTX_EVENTS",
    "OSRT_API",
)
"""Tables of an nsys export whose rows have a start and an end."""


class Scaled(NamedTuple):
    """A larger trace, and what it holds in words."""

    path: Path
    array: Path | None
    """Path of the same events as a bare JSON array, of a Kineto trace."""
    size: str


def scaled(trace: Path, times: int, folder: Path) -> Scaled:
    """The trace so many times over, as a new file in the folder."""
    make = _xplane if ".xplane" in trace.name else _nsys if ".sqlite" in trace.name else _kineto
    return make(trace, times, folder)


def _kineto(trace: Path, times: int, folder: Path) -> Scaled:
    """As an object, and as the bare array that DuckDB can read."""
    with (gzip.open if trace.suffix == ".gz" else open)(trace) as file:
        content = json.load(file)
    events = content if isinstance(content, list) else content.pop("traceEvents")
    starts = [float(event["ts"]) for event in events if "ts" in event]
    span = max(starts) - min(starts) + 1_000_000
    paths = folder / f"x{times}.json.gz", folder / f"x{times}.array.json.gz"
    head = {} if isinstance(content, list) else content
    with gzip.open(paths[0], "wt", compresslevel=3) as whole, gzip.open(paths[1], "wt", compresslevel=3) as array:
        whole.write(json.dumps(head)[:-1] + (", " if head else "") + '"traceEvents": [\n')
        array.write("[\n")
        for copy in range(times):
            for number, event in enumerate(events):
                text = ("" if copy == number == 0 else ",\n") + json.dumps(_shifted(event, copy, span))
                whole.write(text)
                array.write(text)
        whole.write("\n]}\n")
        array.write("\n]\n")
    return Scaled(*paths, f"{len(events) * times:,} events")


def _xplane(trace: Path, times: int, folder: Path) -> Scaled:
    with (gzip.open if trace.suffix == ".gz" else open)(trace, "rb") as file:
        space = list(_fields(file.read()))
    planes = [list(_fields(value)) for number, value, _ in space if number == SPACE_PLANE]
    lines = [list(_fields(value)) for plane in planes for number, value, _ in plane if number == PLANE_LINE]
    events = [_event(value) for line in lines for number, value, _ in line if number == LINE_EVENT]
    length = max(offset + duration for offset, duration, _ in events) + 1_000_000_000
    path = folder / f"x{times}.xplane.pb"
    with path.open("wb") as file:
        for number, value, whole in space:
            if number != SPACE_PLANE:
                file.write(whole)
                continue
            parts = [_repeated(part, times, length) if of == PLANE_LINE else raw for of, part, raw in _fields(value)]
            file.write(field(SPACE_PLANE, b"".join(parts)))
    return Scaled(path, None, f"{len(events) * times:,} events")


def _repeated(line: bytes, times: int, length: int) -> bytes:
    """A line of an XPlane with its events so many times, each time `length` picoseconds later."""
    fields = list(_fields(line))
    events = [_event(value) for number, value, _ in fields if number == LINE_EVENT]
    body = bytearray().join(raw for number, _, raw in fields if number != LINE_EVENT)
    for copy in range(times):
        for offset, _, rest in events:
            body += field(LINE_EVENT, field(EVENT_OFFSET, offset + copy * length) + rest)
    return field(PLANE_LINE, bytes(body))


def _event(event: bytes) -> tuple[int, int, bytes]:
    """Offset and duration of an event, and all of it but the offset."""
    fields = list(_fields(event))
    numbers = {number: value for number, value, _ in fields if isinstance(value, int)}
    rest = b"".join(raw for number, _, raw in fields if number != EVENT_OFFSET)
    return numbers.get(EVENT_OFFSET, 0), numbers.get(EVENT_DURATION, 0), rest


def _fields(message: bytes) -> Iterator[tuple[int, Any, bytes]]:
    """The fields of a protobuf message: number, value (an integer, or bytes) and all its bytes."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = read_varint(message, at)
        value: Any
        if tag & 7 == VARINT:
            value, at = read_varint(message, at)
        else:
            size, at = read_varint(message, at) if tag & 7 == LENGTH else (8 if tag & 7 == FIXED64 else 4, at)
            value, at = message[at : at + size], at + size
        yield tag >> 3, value, message[begin:at]


def _shifted(event: dict[str, Any], copy: int, span: float) -> dict[str, Any]:
    """One event of one repetition: times, flows, correlation and sequence numbers moved on."""
    moved = dict(event)
    if copy and "ts" in moved:
        moved["ts"] = type(event["ts"])(float(event["ts"]) + copy * span)
    if copy and isinstance(moved.get("id"), int):
        moved["id"] += copy * ID_STEP
    if copy and moved.get("args"):
        moved["args"] = {
            key: value + copy * ID_STEP
            if key in ("correlation", "External id", "Sequence number") and isinstance(value, int)
            else value
            for key, value in moved["args"].items()
        }
    return moved


def _nsys(trace: Path, times: int, folder: Path) -> Scaled:
    path = folder / f"x{times}.sqlite"
    with (gzip.open if trace.suffix == ".gz" else open)(trace, "rb") as file, path.open("wb") as target:
        shutil.copyfileobj(file, target)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        tables = [name for name in TIMED if name in present]
        spans = [connection.execute(f"SELECT min(start), max(end), count(*) FROM {name}").fetchone() for name in tables]
        length = max(last for _, last, n in spans if n) - min(first for first, _, n in spans if n) + 1_000_000
        for name in tables:
            connection.execute(f"CREATE TEMP TABLE original_{name} AS SELECT * FROM {name}")
        for copy in range(1, times):
            for name in tables:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
                shifts = {"start": copy * length, "end": copy * length, "correlationId": copy << 24}
                values = [f'"{column}"' + (f" + {shifts[column]}" if column in shifts else "") for column in columns]
                into = ", ".join(f'"{column}"' for column in columns)
                connection.execute(f"INSERT INTO {name} ({into}) SELECT {', '.join(values)} FROM original_{name}")
            connection.commit()
    return Scaled(path, None, f"{sum(n for _, _, n in spans) * times:,} rows")
