"""XSpace files as columns: planes with their dictionaries, and events as Arrow tables with the stats one asks for.

The schema is a handful of field numbers of `xplane.proto` of the XLA project. An event is
never an object here; a plane that is cut off gives its whole lines, and a line its whole events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode.protobuf import Ints, Wire
from traceview.decode.text_bounds import MAX_NAME_BYTES

SPACE_PLANE, SPACE_ERROR, SPACE_WARNING, SPACE_HOST = 1, 2, 3, 4
PLANE_ID, PLANE_NAME, PLANE_LINE, PLANE_EVENTS, PLANE_STATS, PLANE_OWN = 1, 2, 3, 4, 5, 6
LINE_ID, LINE_NAME, LINE_NS, LINE_EVENT, LINE_DISPLAY = 1, 2, 3, 4, 11
EVENT_META, EVENT_OFFSET, EVENT_DURATION, EVENT_STAT, EVENT_TIMES = 1, 2, 3, 4, 5
META_NAME, META_DISPLAY, META_STAT = 2, 4, 5
STAT_META, STAT_DOUBLE, STAT_UINT, STAT_INT, STAT_TEXT, STAT_BYTES, STAT_REF = 1, 2, 3, 4, 5, 6, 7
BATCH_EVENTS = 50_000
UNIX_NS = 10**17
"""A line's time stamp beyond this is on the wall clock: three years would be a long profile."""
HLO_MODULE, HLO_BUFFERS, BUFFER = 1, 3, 3
BUFFER_NUMBERS = {"buffer": 1, "size_bytes": 2, "is_thread_local": 3, "is_argument": 5, "parameter": 6, "is_output": 7}
BUFFER_NUMBERS |= {"memory_space": 8, "is_constant": 12}
MOST_BUFFERS, MOST_BYTES = 1 << 20, 1 << 50
"""Buffers of a file that are read, of which real programs have thousands; and bytes of one."""
_NUMBERED = re.compile(r"(?s)(.*?)(?:\((\d{1,18})\))?\Z")
"""A program is called by its module and its number: `jit_step(56)`."""


@dataclass
class Plane:
    """One plane: where its lines lie in the file, and its dictionaries."""

    name: str = ""
    id: int = 0
    lines: list[tuple[int, int]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    """Event metadata id -> name."""
    displays: dict[int, str] = field(default_factory=dict)
    """Event metadata id -> short name, where there is one."""
    shared: tuple[Ints, Ints, Ints, Ints] | None = None
    """Stats that all events of a metadata id have: those ids, and for each stat the position of its id and its span."""
    stats: dict[int, str] = field(default_factory=dict)
    """Stat metadata id -> name of a stat, or text that a stat refers to."""
    facts: dict[str, Any] = field(default_factory=dict)
    """The plane's own stats."""
    is_whole: bool = True


@dataclass
class Batch:
    """Events of one plane: `table` has one row each; `n_damaged` lines or events were cut."""

    table: pa.Table
    n_damaged: int
    n_rounded: int
    """Events with a start or end that is not a whole nanosecond."""


def planes(wire: Wire) -> list[Plane]:
    """The planes of a file, the last one as far as it goes."""
    space = wire.message(0, wire.size, clip=True)
    found = [_plane(wire, start, end) for _, start, end in space.places(SPACE_PLANE)]
    if space.n_damaged and found:
        found[-1].is_whole = False
    return found


def texts(wire: Wire, number: int) -> list[str]:
    """Texts of the file itself: errors, warnings, host names."""
    return [wire.text(start, end) for _, start, end in wire.message(0, wire.size).places(number)]


def first_plane_name(wire: Wire) -> str | None:
    """Name of the first plane, also in the beginning of a file; None when this is not an XSpace."""
    space = wire.message(0, min(wire.size, 1 << 16), clip=True)
    for _, start, end in space.places(SPACE_PLANE)[:1]:
        for _, first, last in wire.message(start, end, clip=True).places(PLANE_NAME)[:1]:
            return wire.text(first, last) if last - first < 200 else None
    return None


def batches(
    wire: Wire, plane: Plane, numbers: Sequence[str], texts: Sequence[str], zero_ns: int = 0
) -> Iterator[Batch]:
    """The events of a plane with their line, name, times, numeric stats and text stats.

    Some writers stamp lines with Unix time, others with the time since the profile's start, which is at `zero_ns`.
    """
    vocabulary = Vocabulary()
    shared = _shared(wire, plane, numbers, texts, vocabulary)
    parts: list[_Part] = []
    n_events = 0
    for start, end in plane.lines:
        line = _line(wire, start, end, zero_ns)
        for found in wire.windows(start, end):
            _, starts, ends = found.spans(LINE_EVENT)
            parts.append(_Part(*line, starts, ends, found.n_damaged))
            n_events += len(starts)
            if n_events >= BATCH_EVENTS:
                yield _batch(wire, plane, parts, shared, vocabulary)
                parts, n_events = [], 0
    if parts:
        yield _batch(wire, plane, parts, shared, vocabulary)


@dataclass(frozen=True)
class _Part:
    """Some events of a line, what they share, and whether what follows them is cut."""

    id: int
    ns: int
    """Zero of their times."""
    name: str
    starts: Ints
    ends: Ints
    n_damaged: int


def _line(wire: Wire, start: int, end: int, zero_ns: int) -> tuple[int, int, str]:
    """Read a line's number, zero and name from before and behind its events, which are passed over."""
    number, stamp = 0, 0
    names: dict[int, list[str]] = {LINE_NAME: [], LINE_DISPLAY: []}
    for found in wire.windows(start, end):
        number = int(found.numbers(LINE_ID, 1, number)[0])
        stamp = int(found.numbers(LINE_NS, 1, stamp)[0])
        for of, texts in names.items():
            texts += [wire.text(*span) for _, *span in found.places(of)]
    name = next((text for texts in names.values() for text in texts if text), "")
    return number, stamp - zero_ns if stamp > UNIX_NS else stamp, name


@dataclass(frozen=True)
class Program:
    """A compiled program: name and number, where its HloModuleProto lies, and where its buffer assignments do."""

    module: str
    number: int | None
    start: int
    end: int
    buffers: tuple[tuple[int, int], ...] = ()


def programs(wire: Wire, plane: Plane) -> list[Program]:
    """The compiled programs that /host:metadata holds."""
    found: list[Program] = []
    if plane.shared is not None:
        keys, message, starts, ends = plane.shared
        for holder, start, end in wire.fields(starts, ends).places(STAT_BYTES):
            module, number = _NUMBERED.findall(plane.names.get(int(keys[message[holder]]), ""))[0]
            hlo = wire.message(start, end)
            buffers = tuple((a, b) for _, a, b in hlo.places(HLO_BUFFERS))
            places = hlo.places(HLO_MODULE)
            found += [Program(module, int(number) if number else None, a, b, buffers) for _, a, b in places]
    return found


def buffers(wire: Wire, programs: list[Program]) -> Batch:
    """The memory that XLA's compiler assigned to programs: numbers of each BufferAllocationProto of `hlo.proto`."""
    places = np.array([(at, *place) for at, one in enumerate(programs) for place in one.buffers], np.int64)
    of, starts, ends = places.reshape(-1, 3).T
    assignments = wire.fields(starts, ends)
    holder, starts, ends = assignments.spans(BUFFER)
    found = wire.fields(starts[:MOST_BUFFERS], ends[:MOST_BUFFERS])
    numbers = {name: found.numbers(at, min(len(starts), MOST_BUFFERS)) for name, at in BUFFER_NUMBERS.items()}
    fits = np.flatnonzero((numbers["size_bytes"] >= 0) & (numbers["size_bytes"] <= MOST_BYTES))
    columns: dict[str, Any] = {name: values[fits] for name, values in numbers.items()}
    known = [programs[at] for at in of[holder[fits]].tolist()]
    columns["module"] = pa.array([one.module for one in known], pa.string())
    columns["program"] = pa.array([one.number for one in known], pa.int64())
    return Batch(pa.table(columns), assignments.n_damaged + found.n_damaged + len(starts) - len(fits), 0)


class Vocabulary:
    """Texts of a plane by number, so that a column of texts is a column of numbers until the end."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def code(self, text: str) -> int:
        """The number of a text."""
        code = self._known.get(text)
        if code is None:
            code = self._known[text] = len(self.texts)
            self.texts.append(text)
        return code

    def column(self, codes: Ints) -> pa.Array:
        """Text for numbers, NULL for -1."""
        indices = pa.array(codes.astype(np.int32), mask=codes < 0)
        return pa.DictionaryArray.from_arrays(indices, pa.array(self.texts, pa.string()))


@dataclass
class _Stats:
    """Stats of some messages: for each name asked for one value per message."""

    numbers: dict[str, tuple[Ints, Any]]
    texts: dict[str, Ints]


@dataclass
class _Shared:
    order: Ints
    """Ids of the event metadata, sorted."""
    stats: _Stats
    names: Ints
    displays: Ints


def _plane(wire: Wire, start: int, end: int) -> Plane:
    found = wire.message(start, end, clip=True)
    names = found.places(PLANE_NAME)
    stats = dict(_named(wire, *_entries(wire, *found.spans(PLANE_STATS)[1:]), META_NAME))
    keys, starts, ends = _entries(wire, *found.spans(PLANE_EVENTS)[1:])
    message, stat_start, stat_end = wire.fields(starts, ends).spans(META_STAT)
    return Plane(
        name=wire.text(*names[-1][1:]) if names else "",
        id=int(found.numbers(PLANE_ID, 1)[0]),
        lines=[(start, end) for _, start, end in found.places(PLANE_LINE)],
        names=dict(_named(wire, keys, starts, ends, META_NAME)),
        displays=dict(_named(wire, keys, starts, ends, META_DISPLAY)),
        shared=(keys, message, stat_start, stat_end) if len(keys) else None,
        stats=stats,
        facts=_facts(wire, found.places(PLANE_OWN), stats),
        is_whole=not found.n_damaged,
    )


def _entries(wire: Wire, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Entries of a protobuf map with messages as values: keys and places of the values."""
    found = wire.fields(starts, ends)
    keys = found.numbers(1, len(starts))
    message, value_starts, value_ends = found.spans(2)
    return keys[message], value_starts, value_ends


def _named(wire: Wire, keys: Ints, starts: Ints, ends: Ints, number: int) -> Iterator[tuple[int, str]]:
    for at, start, end in wire.fields(starts, ends).places(number):
        if text := wire.text(start, end):
            yield int(keys[at]), text


def _facts(wire: Wire, places: list[tuple[int, int, int]], stats: dict[int, str]) -> dict[str, Any]:
    """A few stats as Python values."""
    facts: dict[str, Any] = {}
    for _, start, end in places:
        found = wire.message(start, end)
        name = stats.get(int(found.numbers(STAT_META, 1)[0]), "")
        for number, value, stop in zip(found.number.tolist(), found.value, found.end.tolist(), strict=True):
            if number == STAT_DOUBLE:
                facts[name] = float(value.view(np.float64))
            elif number in (STAT_UINT, STAT_INT):
                facts[name] = int(value)
            elif number == STAT_REF:
                facts[name] = stats.get(int(value))
            elif number == STAT_TEXT and stop >= 0:
                facts[name] = wire.text(int(value), stop)
    return facts


def _read_stats(
    wire: Wire,
    plane: Plane,
    count: int,
    spans: tuple[Ints, Ints, Ints],
    numbers: Iterable[str],
    texts: Iterable[str],
    vocabulary: Vocabulary,
) -> _Stats:
    """The stats asked for of `count` messages, from the places of all their stats."""
    message, starts, ends = spans
    ids = {name: [key for key, text in plane.stats.items() if text == name] for name in (*numbers, *texts)}
    chosen = wire.led_by(starts, STAT_META, [key for keys in ids.values() for key in keys])
    message, starts, ends = message[chosen], starts[chosen], ends[chosen]
    found = wire.fields(starts, ends)
    key, of = found.numbers(STAT_META, len(starts))[found.message], message[found.message]
    is_number = ((found.number == STAT_UINT) | (found.number == STAT_INT)) & (found.end < 0)
    is_reference = (found.number == STAT_REF) & (found.end < 0)
    is_text = (found.number == STAT_TEXT) & (found.end >= 0)
    stats = _Stats({}, {})
    for name in numbers:
        values, known = np.zeros(count, np.int64), np.zeros(count, bool)
        if ids[name]:
            mine = np.flatnonzero(is_number & np.isin(key, ids[name]))
            values[of[mine]], known[of[mine]] = found.value[mine], True
        stats.numbers[name] = values, known
    for name in texts:
        codes = np.full(count, -1, np.int64)
        if ids[name]:
            is_mine = np.isin(key, ids[name])
            refs = np.flatnonzero(is_mine & is_reference)
            unique, inverse = np.unique(found.value[refs], return_inverse=True)
            meant = [plane.stats.get(ref) for ref in unique.tolist()]
            meanings = np.array([-1 if text is None else vocabulary.code(text) for text in meant], np.int64)
            codes[of[refs]] = meanings[inverse] if len(refs) else _EMPTY
            own = np.flatnonzero(is_mine & is_text)
            places = zip(found.value[own].tolist(), found.end[own].tolist(), strict=True)
            literal = [vocabulary.code(wire.text(a, b)) if b - a <= MAX_NAME_BYTES else -1 for a, b in places]
            codes[of[own]] = np.array(literal, np.int64)
        stats.texts[name] = codes
    return stats


_EMPTY = np.empty(0, np.int64)


def _shared(wire: Wire, plane: Plane, numbers: Sequence[str], texts: Sequence[str], vocabulary: Vocabulary) -> _Shared:
    """Read the event metadata, in order of its ids."""
    keys, *spans = plane.shared or (_EMPTY, _EMPTY, _EMPTY, _EMPTY)
    stats = _read_stats(wire, plane, len(keys), (spans[0], spans[1], spans[2]), numbers, texts, vocabulary)
    order = np.argsort(keys, kind="stable")
    codes = {
        kind: np.array([vocabulary.code(names[key]) if key in names else -1 for key in keys.tolist()], np.int64)
        for kind, names in (("name", plane.names), ("display", plane.displays))
    }
    stats.numbers = {name: (values[order], known[order]) for name, (values, known) in stats.numbers.items()}
    stats.texts = {name: values[order] for name, values in stats.texts.items()}
    return _Shared(keys[order], stats, codes["name"][order], codes["display"][order])


def _batch(wire: Wire, plane: Plane, parts: list[_Part], shared: _Shared, words: Vocabulary) -> Batch:
    """One table from parts of lines."""
    lengths = np.array([len(part.starts) for part in parts])
    starts = np.concatenate([part.starts for part in parts])
    ends = np.concatenate([part.ends for part in parts])
    count = len(starts)
    found = wire.fields(starts, ends)
    offset, duration = found.numbers(EVENT_OFFSET, count), found.numbers(EVENT_DURATION, count)
    stats = _read_stats(wire, plane, count, found.spans(EVENT_STAT), shared.stats.numbers, shared.stats.texts, words)
    at = np.searchsorted(shared.order, found.numbers(EVENT_META, count))
    at[at == len(shared.order)] = 0
    is_known = shared.order[at] == found.numbers(EVENT_META, count) if len(shared.order) else np.zeros(count, bool)

    def common(values: Ints, missing: int = -1) -> Ints:
        return np.where(is_known, values[at], missing) if len(values) else np.full(count, missing, np.int64)

    def per_line(values: list[int]) -> Ints:
        return np.repeat(np.array(values, np.int64), lengths)

    line_names = per_line([words.code(part.name) for part in parts])
    codes = {name: np.where(own >= 0, own, common(shared.stats.texts[name])) for name, own in stats.texts.items()}
    codes |= {"line_name": line_names, "event_name": common(shared.names), "display_name": common(shared.displays)}
    # The sum of two times that 64 bits hold may not fit them.
    (start, after), (length, rest) = np.divmod(offset, 1000), np.divmod(duration, 1000)
    start_ns, end_ns = start + (after + 500) // 1000, start + length + (after + rest + 500) // 1000
    columns: dict[str, Any] = {
        "row": np.arange(count),
        "line_id": per_line([part.id for part in parts]),
        "start_ns": per_line([part.ns for part in parts]) + start_ns,
        "dur_ns": end_ns - start_ns,
        "times": found.numbers(EVENT_TIMES, count),
    }
    for name, (values, known) in stats.numbers.items():
        shared_values, shared_known = shared.stats.numbers[name]
        also = common(shared_known.astype(np.int64), 0).astype(bool)
        columns[name] = pa.array(np.where(known, values, common(shared_values, 0)), mask=~(known | also))
    columns |= {f"{name}_text" if name in columns else name: words.column(value) for name, value in codes.items()}
    rounded = int(np.count_nonzero((offset % 1000 != 0) | (duration % 1000 != 0)))
    return Batch(pa.table(columns), found.n_damaged + sum(part.n_damaged for part in parts), rounded)
