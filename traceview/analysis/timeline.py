"""The timeline of a capture: slices of the chosen ranks and step, each on a track on which nothing overlaps wrongly.

Invariant: on a track that nests (calls of a host thread) a slice lies wholly inside the one around it, on every other
no two overlap; what does not fit stands on a further track of the same thread or stream. Tools draw it wrong otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import duckdb

from traceview.analysis import chosen, critical
from traceview.analysis.lanes import Lanes
from traceview.ingest.derive.nesting import Spans
from traceview.ingest.derive.spans import fetch, publish
from traceview.paths import content
from traceview.sql import Query, load

BATCH_ROWS = 1 << 17
"""Slices that are laid out at a time."""
LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""Before and after every time."""
CHOSEN = {
    "export_chosen": ("VIEW", "chosen"),
    "export_text": ("TABLE", "texts"),
    "export_thread": ("TABLE", "threads"),
    "export_row": ("TABLE", "rows"),
    "export_slice": ("VIEW", "numbered"),
    "export_lane": ("TABLE", "no_lanes"),
}
"""What is made of the slices, each with its query, before they are laid out."""
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


def asked() -> str:
    """The text of every query here, which says what views the timeline rests on."""
    paths = sorted((content("queries") / "timeline").glob("*.sql"))
    return "\n".join([critical.asked(), asked_of_window(), *(load(path).body for path in paths)])


def asked_of_window() -> str:
    """The same of `choose_window` alone."""
    # What can be chosen is asked for, too.
    return "\n".join(["FROM ranks", "FROM steps", query("window").body])


def choose(connection: duckdb.DuckDBPyConnection, rank: int | None = None, step: int | None = None) -> int:
    """Make the temporary tables and views `export_*`, of which the queries of the formats select.

    Returns how many slices there are. Raises `UsageError` for a rank or a step that the capture has not.
    """
    choose_window(connection, rank, step)
    critical.lane(connection, step)
    connection.execute(f"CREATE TEMP VIEW slices AS {query('slices').body}")
    _make(connection, CHOSEN)
    n_slices = int(connection.execute("SELECT count(*) FROM export_slice").fetchall()[0][0])
    _lay_out(connection, n_slices)
    _make(connection, PLACED)
    return n_slices


def choose_window(connection: duckdb.DuckDBPyConnection, rank: int | None, step: int | None) -> None:
    """Make `export_window` alone: the chosen ranks, and of each the time of the chosen step."""
    chosen.check(connection, "ranks", "rank", rank, None)
    chosen.check(connection, "steps", "step", step, rank)
    window: Mapping[str, object] = {"rank": rank, "step": step}
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
