"""The timeline of a capture: slices of the chosen ranks and step, each on a track on which nothing overlaps wrongly.

Invariant: on a track that nests (calls of a host thread) a slice lies wholly inside the one around it, on every other
no two overlap; what does not fit stands on a further track of the same thread or stream. Tools draw it wrong otherwise.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import duckdb
import numpy as np

from traceview.errors import UsageError
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, publish
from traceview.paths import content
from traceview.sql import Query, load

ROUNDS = 8
"""Times that a track is looked at again without what did not fit; what still does not goes too."""


def query(name: str) -> Query:
    """`queries/timeline/<name>.sql`."""
    return load(content("queries") / "timeline" / f"{name}.sql")


def asked() -> str:
    """The text of every query here, which says what views the timeline rests on."""
    return "\n".join(load(path).body for path in sorted((content("queries") / "timeline").glob("*.sql")))


def choose(connection: duckdb.DuckDBPyConnection, rank: int | None = None, step: int | None = None) -> int:
    """Make the temporary tables and views `export_*`, of which the queries of the formats select.

    Returns how many slices there are. Raises `UsageError` for a rank or a step that the capture has not.
    """
    _check(connection, "ranks", "rank", rank, None)
    _check(connection, "steps", "step", step, rank)
    connection.execute(f"CREATE TEMP VIEW slices AS {query('slices').body}")
    window: Mapping[str, object] = {"rank": rank, "step": step}
    connection.execute(f"CREATE TEMP TABLE export_window AS {query('window').body}", window)
    connection.execute(f"CREATE TEMP TABLE export_slice AS {query('chosen').body}")
    connection.execute(f"CREATE TEMP TABLE export_text AS {query('texts').body}")
    connection.execute(f"CREATE TEMP TABLE export_lane AS {query('no_lanes').body}")
    for (one,) in connection.execute("SELECT DISTINCT rank FROM export_slice ORDER BY rank").fetchall():
        _lay_out(connection, one)
    connection.execute(f"CREATE TEMP TABLE export_track AS {query('tracks').body}")
    connection.execute(f"CREATE TEMP VIEW export_placed AS {query('placed').body}")
    connection.execute(f"CREATE TEMP VIEW export_ends AS {query('ends').body}")
    return int(connection.execute("SELECT count(*) FROM export_slice").fetchall()[0][0])


def _check(connection: duckdb.DuckDBPyConnection, view: str, column: str, value: int | None, rank: int | None) -> None:
    if value is None:
        return
    where = "WHERE $1 IS NULL OR rank = $1"
    there = connection.execute(f"SELECT DISTINCT {column} FROM {view} {where} ORDER BY 1", [rank]).fetchall()
    numbers = [number for (number,) in there]
    if value not in numbers:
        known = f"it has {column}s {numbers[0]} to {numbers[-1]}" if numbers else f"it has no {column}s"
        raise UsageError(f"the capture has no {column} {value}; {known}.")


def _lay_out(connection: duckdb.DuckDBPyConnection, rank: int) -> None:
    """Give every slice of a rank that does not fit on its track another one."""
    connection.execute("SET VARIABLE export_rank = $1", [rank])
    columns = fetch(connection, query("spans").body)
    spans = Spans(columns["number"], columns["thread"], columns["start_ns"], columns["end_ns"])
    misfits = _misfits(spans, columns["nests"] > 0)
    if len(misfits):
        lanes = _packed(spans, misfits)
        publish(connection, "found_lanes", {"number": spans.id[misfits], "lane": lanes})
        connection.execute("INSERT INTO export_lane SELECT number, lane FROM found_lanes")


def _misfits(spans: Spans, nests: np.ndarray) -> Ints:
    """Indices of the spans that overlap another one of their thread, or where calls nest, lie only partly inside."""
    left = np.arange(len(spans))
    for _ in range(ROUNDS):
        some = Spans(spans.id[left], spans.thread[left], spans.start[left], spans.end[left])
        wrong = (some.parent >= 0) & (~nests[left] | (some.end > some.end[some.parent]))
        if not wrong.any():
            break
        left = left[~wrong]
    else:
        left = left[Spans(spans.id[left], spans.thread[left], spans.start[left], spans.end[left]).parent < 0]
    return np.setdiff1d(np.arange(len(spans)), left, assume_unique=True)


def _packed(spans: Spans, rows: Ints) -> Ints:
    """Further tracks from 1 for these spans, so that none overlap there: each takes the one that is free first.

    A loop over what does not fit, which is little in real traces; a million of them take a second.
    """
    lanes = np.empty(len(rows), np.int64)
    thread, free, n_lanes = -1, list[tuple[int, int]](), 0
    for at, row in enumerate(rows.tolist()):
        if spans.thread[row] != thread:
            thread, free, n_lanes = int(spans.thread[row]), [], 0
        start, end = int(spans.start[row]), int(spans.end[row])
        if free and free[0][0] <= start:
            lane = free[0][1]
            heapq.heapreplace(free, (end, lane))
        else:
            n_lanes += 1
            lane = n_lanes
            heapq.heappush(free, (end, lane))
        lanes[at] = lane
    return lanes
