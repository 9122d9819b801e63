"""Track events of a Perfetto trace as columns: slices' starts and ends, instants, counters and their arguments.

Strings are interned, times may be differences, and both start anew where a sequence of packets says so. Invariant: a
packet's interned texts and defaults are those of its own sequence since that sequence last cleared its state. Format:
https://perfetto.dev/docs/reference/trace-packet-proto and track_event.proto there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode.protobuf import Fields, Ints, Wire
from traceview.decode.xspace import Vocabulary

PACKET = 1
CLOCKS, TIME, SEQUENCE, EVENT, INTERNED, FLAGS, CLOCK, DEFAULTS, TRACK = 6, 8, 10, 11, 12, 13, 58, 59, 60
CLEARED, NEEDS_STATE = 1, 2
"""Flags of a packet: its sequence starts anew, or what it interned before is needed."""
REALTIME, BOOTTIME, FIRST_OWN_CLOCK = 1, 6, 64
CATEGORIES, NAMES, KEYS, VALUES = 1, 2, 3, 29
"""Kinds of interned texts: categories, names of events, keys and texts of arguments."""
BEGIN, END, INSTANT, COUNTER, WHOLE = 1, 2, 3, 4, 5
"""Kinds of events: those of the format, and a slice that carries its duration."""
LEGACY = {ord("B"): BEGIN, ord("E"): END, ord("X"): WHOLE, ord("i"): INSTANT, ord("I"): INSTANT}
LOST = -2
_NONE = np.empty(0, np.int64)


@dataclass
class Batch:
    """Some events; `arguments` has a row for each of theirs, joined by `row`."""

    events: pa.Table
    arguments: pa.Table
    n_damaged: int


@dataclass
class Tracks:
    """Tracks of the file by uuid: parent, name, process and thread."""

    parent: dict[int, int] = field(default_factory=dict)
    name: dict[int, str] = field(default_factory=dict)
    process: dict[int, int] = field(default_factory=dict)
    thread: dict[int, tuple[int, int]] = field(default_factory=dict)
    counter: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """Factor of its samples, and whether each adds to the last."""


@dataclass
class _Clock:
    """A sequence's own clock: where it stood at its last snapshot, in its units and on the trace's clock."""

    own: int
    trace_ns: int
    unit_ns: int
    is_incremental: bool
    passed: int = 0
    """Sum of the differences since then."""


class TrackEvents:
    """Reads the packets of one file in order."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.tracks = Tracks()
        self.realtime_ns: int | None = None
        """Offset from the trace's clock to the time since 1970."""
        self.words = Vocabulary()
        self.is_cut = False
        """Whether a packet was not whole, at which reading ended."""
        self._generation: dict[int, int] = {}
        self._texts: dict[tuple[int, int, int, int], int] = {}
        self._defaults: dict[tuple[int, int], tuple[int, int]] = {}
        self._clocks: dict[tuple[int, int], _Clock] = {}
        self._offsets: dict[int, int] = {}
        self._row = 0

    def batches(self) -> Iterator[Batch]:
        """The events of the file, as far as it is whole."""
        for found in self.wire.windows(0, self.wire.size):
            self.is_cut |= found.n_damaged > 0
            _, starts, ends = found.spans(PACKET)
            if len(starts):
                yield self._batch(starts, ends, found.n_damaged)

    def _batch(self, starts: Ints, ends: Ints, n_damaged: int) -> Batch:
        count = len(starts)
        packets = self.wire.fields(starts, ends)
        sequence = packets.numbers(SEQUENCE, count)
        flags = packets.numbers(FLAGS, count)
        generation = self._generations(sequence, flags & CLEARED)
        self._intern(packets, sequence, generation)
        self._describe(packets)
        self._default(packets, sequence, generation)
        at = self._times(packets, sequence, generation)
        # What a ring buffer overwrote held the clock, the track and the names of these.
        at[(flags & NEEDS_STATE != 0) & (generation == 0)] = np.iinfo(np.int64).min
        return self._events(packets, sequence, generation, at, n_damaged + packets.n_damaged)

    def _generations(self, sequence: Ints, cleared: Ints) -> Ints:
        """How often the sequence of each packet had cleared its state by then."""
        order = np.argsort(sequence, kind="stable")
        sums = np.cumsum(cleared[order])
        firsts = np.flatnonzero(np.diff(sequence[order], prepend=sequence[order][0] - 1))
        lengths = np.diff(np.append(firsts, len(order)))
        before = np.array([self._generation.get(each, 0) for each in sequence[order][firsts].tolist()], np.int64)
        base = np.repeat(before - (sums[firsts] - cleared[order][firsts]), lengths)
        found = np.empty(len(order), np.int64)
        found[order] = sums + base
        lasts = order[firsts + lengths - 1]
        self._generation.update(zip(sequence[lasts].tolist(), found[lasts].tolist(), strict=True))
        return found

    def _intern(self, packets: Fields, sequence: Ints, generation: Ints) -> None:
        packet, starts, ends = packets.spans(INTERNED)
        data = self.wire.fields(starts, ends)
        for kind in (CATEGORIES, NAMES, KEYS, VALUES):
            holder, a, b = data.spans(kind)
            entries = self.wire.fields(a, b)
            iids = entries.numbers(1, len(a)).tolist()
            of = packet[holder]
            for each, start, end in entries.places(2):
                key = int(sequence[of[each]]), int(generation[of[each]]), kind, iids[each]
                self._texts[key] = self.words.code(self.wire.text(start, end))

    def _describe(self, packets: Fields) -> None:
        for _, start, end in packets.places(TRACK):
            told = self._message(start, end)
            uuid = told.get(1, 0)
            if isinstance(told.get(5), int):
                self.tracks.parent[uuid] = told[5]
            name = told.get(2) or told.get(10) or told.get(13)
            if isinstance(name, tuple):
                self.tracks.name[uuid] = self.wire.text(*name)
            if isinstance(told.get(3), tuple):
                process = self._message(*told[3])
                self.tracks.process[uuid] = _integer(process.get(1))
                self._named(uuid, process.get(6))
            if isinstance(told.get(4), tuple):
                thread = self._message(*told[4])
                self.tracks.thread[uuid] = _integer(thread.get(1)), _integer(thread.get(2))
                self._named(uuid, thread.get(5))
            if isinstance(told.get(8), tuple):
                counter = self._message(*told[8])
                self.tracks.counter[uuid] = _integer(counter.get(4)) or 1, bool(counter.get(5))

    def _named(self, uuid: int, place: Any) -> None:
        if isinstance(place, tuple) and uuid not in self.tracks.name:
            self.tracks.name[uuid] = self.wire.text(*place)

    def _message(self, start: int, end: int) -> dict[int, Any]:
        """The fields of one small message: numbers, and places of texts and messages; of several the last."""
        found = self.wire.message(start, end)
        entries = zip(found.number.tolist(), found.value.tolist(), found.end.tolist(), strict=True)
        return {number: value if stop < 0 else (value, stop) for number, value, stop in entries}

    def _default(self, packets: Fields, sequence: Ints, generation: Ints) -> None:
        for each, start, end in packets.places(DEFAULTS):
            told = self._message(start, end)
            event = self._message(*told[11]) if isinstance(told.get(11), tuple) else {}
            key = int(sequence[each]), int(generation[each])
            self._defaults[key] = _integer(told.get(CLOCK)), _integer(event.get(11))

    def _defaulted(self, sequence: Ints, generation: Ints, place: int) -> Ints:
        """One of the defaults of each packet's sequence, 0 for none."""
        if not self._defaults:
            return np.zeros(len(sequence), np.int64)
        pairs, inverse = np.unique(np.stack([sequence, generation]), axis=1, return_inverse=True)
        known = [self._defaults.get((s, g), (0, 0))[place] for s, g in pairs.T.tolist()]
        return np.array(known, np.int64)[inverse.reshape(-1)]

    def _times(self, packets: Fields, sequence: Ints, generation: Ints) -> Ints:
        """Every packet's time on the trace's clock in nanoseconds; the least number where it has none."""
        count = len(sequence)
        least = np.iinfo(np.int64).min
        raw = packets.numbers(TIME, count, least)
        clock = packets.numbers(CLOCK, count)
        clock = np.where(clock == 0, self._defaulted(sequence, generation, 0), clock)
        own = np.flatnonzero((clock >= FIRST_OWN_CLOCK) & (raw != least))
        at = raw.copy()
        first = 0
        for place, start, end in [*packets.places(CLOCKS), (count, 0, 0)]:
            from_, until = np.searchsorted(own, [first, place])
            self._own_times(own[from_:until], sequence, clock, raw, at)
            if place < count:
                self._snapshot(int(sequence[place]), start, end)
                # A packet's own snapshot counts for its own time too.
                first = place
        for number, offset in self._offsets.items():
            at = np.where((clock == number) & (raw != least), raw + offset, at)
        return at

    def _own_times(self, rows: Ints, sequence: Ints, clock: Ints, raw: Ints, at: Ints) -> None:
        """Times of packets on the own clocks of their sequences, between two snapshots."""
        rows = rows[np.lexsort((rows, clock[rows], sequence[rows]))]
        changes = (np.diff(sequence[rows]) != 0) | (np.diff(clock[rows]) != 0)
        for mine in np.split(rows, np.flatnonzero(changes) + 1) if len(rows) else ():
            state = self._clocks.get((int(sequence[mine[0]]), int(clock[mine[0]])))
            if state is None:
                continue
            passed = state.passed + np.cumsum(raw[mine]) if state.is_incremental else raw[mine] - state.own
            at[mine] = state.trace_ns + passed * state.unit_ns
            state.passed = int(passed[-1])

    def _snapshot(self, sequence: int, start: int, end: int) -> None:
        clocks = [self._message(a, b) for _, a, b in self.wire.message(start, end).places(1)]
        times = {_integer(each.get(1)): _integer(each.get(2)) for each in clocks}
        # Some systems have no BOOTTIME: there one of the clocks that all share takes its place.
        shared = [BOOTTIME] if BOOTTIME in times else [number for number in times if number < FIRST_OWN_CLOCK]
        base = max(shared, key=lambda number: (number in self._offsets, number), default=BOOTTIME)
        now = times.get(base, 0) + (self._offsets.setdefault(base, 0) if base != BOOTTIME else 0)
        if self.realtime_ns is None and REALTIME in times:
            self.realtime_ns = times[REALTIME] - now
        for each in clocks:
            number, value = _integer(each.get(1)), _integer(each.get(2))
            if number >= FIRST_OWN_CLOCK:
                unit = min(max(1, _integer(each.get(4))), 10**9)
                self._clocks[sequence, number] = _Clock(value, now, unit, bool(each.get(3)))
            elif number != BOOTTIME and number not in self._offsets:
                self._offsets[number] = now - value

    def _events(self, packets: Fields, sequence: Ints, generation: Ints, at: Ints, n_damaged: int) -> Batch:
        packet, starts, ends = packets.spans(EVENT)
        count = len(packet)
        found = self.wire.fields(starts, ends)
        kind, length = self._kinds(found, count)
        sequence, generation = sequence[packet], generation[packet]
        track = found.numbers(11, count)
        track = np.where(track == 0, self._defaulted(sequence, generation, 1), track)
        real = found.numbers(44, count).view(np.float64)
        value = np.where(real != 0, real, found.numbers(30, count).astype(np.float64))
        rows = self._row + np.arange(count)
        self._row += count
        known = at[packet] != np.iinfo(np.int64).min
        names = self._named_by(found, count, 23, 10, NAMES, sequence, generation)
        categories = self._named_by(found, count, 22, 3, CATEGORIES, sequence, generation)
        columns = {
            "row": rows,
            "track": track,
            "kind": kind,
            "at_ns": pa.array(at[packet], mask=~known),
            "dur_ns": length,
            "generation": generation,
            "value": np.where(np.isfinite(value), value, 0.0),
            "name": self.words.column(names),
            "category": self.words.column(categories),
            "is_lost": np.minimum(names, categories) == LOST,
        }
        return Batch(pa.table(columns), self._arguments(found, rows, sequence, generation), n_damaged + found.n_damaged)

    def _kinds(self, found: Fields, count: int) -> tuple[Ints, Ints]:
        """The kind of each event, and the duration of those that carry one."""
        kind, length = found.numbers(9, count), np.zeros(count, np.int64)
        event, starts, ends = found.spans(6)
        if len(event):
            legacy = self.wire.fields(starts, ends)
            phase = legacy.numbers(2, len(event))
            told = np.zeros(len(event), np.int64)
            for letter, meant in LEGACY.items():
                told[phase == letter] = meant
            kind[event] = np.where(kind[event] == 0, told, kind[event])
            length[event] = np.clip(legacy.numbers(3, len(event)), 0, 10**15) * 1000
        return kind, length

    def _named_by(
        self, found: Fields, count: int, literal: int, number: int, kind: int, sequence: Ints, generation: Ints
    ) -> Ints:
        """Codes of a text that stands in the event or is interned; -1 for none, LOST for one that is not there."""
        codes = np.full(count, -1, np.int64)
        chosen = np.flatnonzero((found.number == number) & (found.end < 0))
        of, iid = found.message[chosen], found.value[chosen]
        packed = found.spans(number)[0]
        if len(packed):
            firsts = [next(iter(self.wire.packed(a, b)), 0) for _, a, b in found.places(number)]
            of, iid = np.append(of, packed), np.append(iid, np.array(firsts, np.int64))
        codes[of] = self._interned(sequence[of], generation[of], kind, iid)
        for event, start, end in found.places(literal):
            codes[event] = self.words.code(self.wire.text(start, end))
        return codes

    def _interned(self, sequence: Ints, generation: Ints, kind: int, iid: Ints) -> Ints:
        if not len(iid):
            return _NONE
        keys, inverse = np.unique(np.stack([sequence, generation, iid]), axis=1, return_inverse=True)
        known = [self._texts.get((s, g, kind, i), LOST if i else -1) for s, g, i in keys.T.tolist()]
        return np.array(known, np.int64)[inverse.reshape(-1)]

    def _arguments(self, found: Fields, rows: Ints, sequence: Ints, generation: Ints) -> pa.Table:
        """Arguments that are numbers or texts; what is nested in them is left out."""
        event, starts, ends = found.spans(4)
        count = len(event)
        told = self.wire.fields(starts, ends)
        sequence, generation = sequence[event], generation[event]
        has = {number: np.zeros(count, bool) for number in (2, 3, 4, 5)}
        for number, flags in has.items():
            flags[told.message[(told.number == number) & (told.end < 0)]] = True
        whole = np.where(
            has[4], told.numbers(4, count), np.where(has[3], told.numbers(3, count), told.numbers(2, count))
        )
        real = told.numbers(5, count).view(np.float64)
        return pa.table(
            {
                "row": rows[event],
                "key": self.words.column(self._named_by(told, count, 10, 1, KEYS, sequence, generation)),
                "text": self.words.column(self._named_by(told, count, 6, 17, VALUES, sequence, generation)),
                "whole": pa.array(whole, mask=~(has[2] | has[3] | has[4])),
                "real": pa.array(np.where(np.isfinite(real), real, 0.0), mask=~has[5]),
            }
        )


def _integer(value: Any) -> int:
    return value if isinstance(value, int) else 0
