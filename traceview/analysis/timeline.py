"""The timeline of a capture: slices of the chosen ranks and step, each on a track on which nothing overlaps wrongly.

Invariant: on a track that nests (calls of a host thread) a slice lies wholly inside the one around it, on every other
no two overlap; what does not fit stands on a further track of the same thread or stream. Tools draw it wrong otherwise.
Memory is that of a batch of slices and of what is open at one time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from traceview.analysis import critical
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, publish
from traceview.lazy import duckdb
from traceview.paths import content
from traceview.sql import Query, load

BATCH_ROWS = 1 << 17
"""Slices that are laid out at a time."""
LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""Before and after every time."""
Span = tuple[int | None, int | None]
"""First and last of steps; all of the recording where they are None."""
CHOSEN = {
    "export_chosen": ("VIEW", "chosen"),
    "export_text": ("TABLE", "texts"),
    "export_thread": ("TABLE", "threads"),
    "export_row": ("TABLE", "rows"),
    "export_slice": ("VIEW", "numbered"),
    "export_lane": ("TABLE", "no_lanes"),
}
"""Tables made of the slices, each with its query, before they are laid out."""
PLACED = {
    "export_track": ("TABLE", "tracks"),
    "export_placed": ("VIEW", "placed"),
    "export_named": ("VIEW", "named"),
    "export_flow": ("TABLE", "flows"),
}
"""And afterwards."""


def query(name: str) -> Query:
    """`queries/timeline/<name>.sql`."""
    return load(content("queries") / "timeline" / f"{name}.sql")


def choose(
    connection: duckdb.DuckDBPyConnection, rank: int | None = None, step: int | None = None, span: Span | None = None
) -> int:
    """Make the temporary tables and views `export_*`, of which the queries of the formats select.

    `step` is the one whose critical path is there, and the only one without `span`. Returns how many slices there are.
    Raises `UsageError` for a rank or a step that the capture has not.
    """
    choose_window(connection, rank, step, span)
    critical.lane(connection, step)
    connection.execute(f"CREATE TEMP VIEW slices AS {query('slices').body}")
    _make(connection, CHOSEN)
    n_slices = int(connection.execute("SELECT count(*) FROM export_slice").fetchall()[0][0])
    _lay_out(connection, n_slices)
    _make(connection, PLACED)
    return n_slices


def choose_window(
    connection: duckdb.DuckDBPyConnection, rank: int | None, step: int | None, span: Span | None = None
) -> None:
    """Make `export_window` alone: the chosen ranks, and of each the time of the chosen steps."""
    critical.check(connection, "ranks", "rank", rank, None)
    critical.check(connection, "steps", "step", step, rank)
    first, last = span or (step, step)
    window: Mapping[str, object] = {"rank": rank, "step": first, "last": last}
    connection.execute(f"CREATE TEMP TABLE export_window AS {query('window').body}", window)


def _make(connection: duckdb.DuckDBPyConnection, made: Mapping[str, tuple[str, str]]) -> None:
    for name, (kind, file) in made.items():
        connection.execute(f"CREATE TEMP {kind} {name} AS {query(file).body}")


def _lay_out(connection: duckdb.DuckDBPyConnection, n_slices: int) -> None:
    """Give every slice that does not fit on its track another one, batch after batch."""
    lanes = Lanes()
    for first in range(1, n_slices + 1, BATCH_ROWS):
        connection.execute("SET VARIABLE export_first = $1", [first])
        connection.execute("SET VARIABLE export_last = $1", [first + BATCH_ROWS - 1])
        columns = fetch(connection, query("spans").body)
        spans = Spans(columns["number"], columns["thread"], columns["start_ns"], columns["end_ns"])
        numbers, found = lanes.add(spans, columns["nests"] > 0)
        if len(numbers):
            publish(connection, "found_lanes", {"number": numbers, "lane": found})
            connection.execute("INSERT INTO export_lane SELECT number, lane FROM found_lanes")


def parts(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let the view `export_ends` be one part of all starts and ends after the other, in their order.

    A part is several tracks, or some time of a large one, so that each is sorted in little memory.
    """
    connection.execute(f"CREATE OR REPLACE TEMP VIEW export_ends AS {query('ends').body}")
    cuts: dict[int, list[int]] = {}
    for thread, at in query("cuts").run(connection, {"rows": BATCH_ROWS}):
        cuts.setdefault(thread, []).append(at)
    for first, last, thread in _groups(connection):
        times = [LEAST, *cuts.get(thread, ()), MOST]
        for from_ns, until_ns in pairwise(times):
            values = {"first": first, "last": last, "from_ns": from_ns, "until_ns": until_ns}
            for name, value in values.items():
                connection.execute(f"SET VARIABLE export_{name} = $1", [value])
            yield


def _groups(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, int, int]]:
    """The first and last of tracks that are written at once; a large one is alone, with the number of its thread."""
    tracks = connection.execute("SELECT tid, thread_number, n_slices FROM export_track ORDER BY tid").fetchall()
    first, held = 1, 0
    for tid, thread, n_slices in tracks:
        if held and held + n_slices > BATCH_ROWS:
            yield first, tid - 1, 0
            first, held = tid, 0
        held += n_slices
        if held > BATCH_ROWS:
            yield tid, tid, thread
            first, held = tid + 1, 0
    if held:
        yield first, len(tracks), 0


ROUNDS = 8
"""Times that a track is looked at again without what did not fit; what still does not goes too."""
FITS = ROUNDS + 1
"""The round in which a span that fits was taken away."""


class Lanes:
    """Lays out one batch after the other."""

    def __init__(self) -> None:
        none = np.empty(0, np.int64)
        self._open, self._gone = Spans(none, none, none, none), none
        self._thread = -1
        self._free: list[tuple[int, int]] = []
        """When each further track of the thread is free, and its number."""

    def add(self, spans: Spans, nests: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """The numbers of the spans of a batch that need a further track, and which one, from 1.

        On a track where calls nest, that is one which lies only partly inside another; elsewhere one that overlaps.
        """
        if not len(spans):
            return spans.id, spans.id
        before = len(self._open)
        both = Spans(
            np.concatenate([self._open.id, spans.id]),
            np.concatenate([self._open.thread, spans.thread]),
            np.concatenate([self._open.start, spans.start]),
            np.concatenate([self._open.end, spans.end]),
        )
        gone = np.concatenate([self._gone, np.full(len(spans), FITS)])
        _take_away(both, np.concatenate([np.ones(before, np.bool_), nests]), gone, before)
        self._keep(both, gone)
        rows = np.flatnonzero(gone[before:] < FITS)
        return spans.id[rows], self._packed(spans, rows)

    def _keep(self, spans: Spans, gone: Ints) -> None:
        """Keep spans a later one may lie inside: they have not ended where the last one begins, or began with it."""
        rows = np.flatnonzero((spans.thread == spans.thread[-1]) & (spans.end > spans.start[-1]))
        self._open, self._gone = _some(spans, rows), gone[rows]

    def _packed(self, spans: Spans, rows: Ints) -> Ints:
        """Each takes the further track that is free first, so that none overlap there.

        A loop over what does not fit, which is little in real traces; a million of them take a second.
        """
        lanes = np.empty(len(rows), np.int64)
        for at, row in enumerate(rows.tolist()):
            if spans.thread[row] != self._thread:
                self._thread, self._free = int(spans.thread[row]), []
            start, end = int(spans.start[row]), int(spans.end[row])
            if self._free and self._free[0][0] <= start:
                lanes[at] = self._free[0][1]
                heapq.heapreplace(self._free, (end, int(lanes[at])))
            else:
                lanes[at] = len(self._free) + 1
                heapq.heappush(self._free, (end, int(lanes[at])))
        return lanes


def _take_away(spans: Spans, nests: NDArray[np.bool_], gone: Ints, before: int) -> None:
    """Note in `gone` the round in which each span is found not to fit; those of earlier batches have theirs.

    What overlaps a span that itself does not fit may fit without it: so the track is looked at again.
    """
    is_new = np.arange(len(spans)) >= before
    for turn in range(ROUNDS):
        left = np.flatnonzero(gone >= turn)
        some = _some(spans, left)
        around = some.open_until(some.start + 1)
        wrong = is_new[left] & (around >= 0) & (~nests[left] | (some.end > some.end[around]))
        gone[left[wrong]] = turn
        if not wrong.any() and not (gone[:before][gone[:before] < FITS] >= turn).any():
            return
    left = np.flatnonzero(gone >= ROUNDS)
    some = _some(spans, left)
    inside = is_new[left] & (some.open_until(some.start + 1) >= 0)
    gone[left[inside]] = ROUNDS


def _some(spans: Spans, rows: Ints) -> Spans:
    return Spans(spans.id[rows], spans.thread[rows], spans.start[rows], spans.end[rows])
