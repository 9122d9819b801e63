"""Fills the staging tables from a file of JSON trace events, by the queries of one folder.

Each part of the file becomes the table `event`, one row per event; each query of the folder named like a table selects
from it. Ends that arrive apart (`B`/`E`, `b`/`e`) are joined when the file has been read. The one law: every event is
accounted for: kept, dropped with a reason, or repaired.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pyarrow as pa

from traceview.files import Stream
from traceview.jsonevents import EventSplitter, lines_table
from traceview.paths import content
from traceview.sink import LONG, NEGATIVE, Sink

# A double holds 2^53: decimals after this many digits of microseconds would be lost, so the number becomes text.
_LONG_TIME = re.compile(rb'"ts"\s*:\s*((?:9\d{12}|\d{14,})\.\d+)')
SHARED = {"counters": "events/samples", "events": "events/everything_else"}
OPENED = 'file that ends before its last events: "begin" without "end"'


def quote_long_times(text: bytes) -> bytes:
    """Quote the times that a double cannot hold exactly."""
    return _LONG_TIME.sub(rb'"ts": "\1"', text) if _LONG_TIME.search(text) else text


@dataclass(frozen=True)
class Form:
    """How one format's events become rows."""

    folder: str
    """Folder of queries in `queries/ingest`."""
    tables: tuple[str, ...]
    """Tables an event can go to, each by the query of that name."""
    shared: Mapping[str, str] = field(default_factory=dict)
    """Tables for which a query of another folder serves, and which."""
    parse: str = "events/parse"
    """The query that makes `event` out of texts."""
    ids: int = 2
    """Ids that an event takes: it may fill rows of several tables."""
    prepare: tuple[str, ...] = ()
    """Queries of the folder that make temporary tables of their name out of `event`, in this order."""
    has_ends: bool = True
    """Whether spans may come as two events."""
    rewrite: Callable[[bytes], bytes] = quote_long_times
    """Writes a spelling that SQL cannot read as one that it can; used only in files that need it."""


@cache
def query(name: str) -> str:
    """The text of `queries/ingest/<name>.sql`."""
    return (content("queries") / "ingest" / f"{name}.sql").read_text(encoding="utf-8")


def fill(stream: Stream, sink: Sink, form: Form) -> dict[str, Any]:
    """Read a whole file; returns the keys that stand beside its events."""
    filler = _Filler(sink, form)
    splitter = EventSplitter(stream)
    rewriting = False
    for first in splitter:
        lines = first
        filler.parse(lines)
        if not rewriting and filler.is_spelled_otherwise():
            rewriting = True
            lines = splitter.again(form.rewrite)
            filler.parse(lines)
        n_rows = len(lines) + filler.settle(splitter, len(lines))
        filler.store()
        sink.next_id += n_rows
    filler.join_ends()
    sink.connection.execute("DROP TABLE IF EXISTS event")
    sink.next_id *= form.ids
    if stream.damage:
        sink.problem(stream.damage)
    if splitter.found and not splitter.ended:
        sink.problem("the file is cut off: its array of events does not end")
    return splitter.metadata


class _Filler:
    def __init__(self, sink: Sink, form: Form) -> None:
        self.sink = sink
        self.form = form
        self.connection = sink.connection
        for name in ("label", "half"):
            self.connection.execute(f"DROP TABLE IF EXISTS {name}")

    def parse(self, lines: pa.Table) -> None:
        """Make `event` out of one part of the file."""
        self.connection.register("lines", lines)
        values = {"first": self.sink.next_id, "ids": self.form.ids}
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {query(self.form.parse)}", values)

    def is_spelled_otherwise(self) -> bool:
        """Whether this part of the file has a spelling that needs rewriting."""
        return bool(self.connection.execute("SELECT bool_or(is_spelled_otherwise) FROM event").fetchall()[0][0])

    def settle(self, splitter: EventSplitter, n_rows: int) -> int:
        """Replace pieces that are no events by the events that are really there; returns how many were added."""
        doubtful = self.connection.execute('SELECT "row" FROM event WHERE ph IS NULL').fetchall()
        if not doubtful:
            return 0
        sink = self.sink
        settled = splitter.settle([row for (row,) in doubtful])
        dropped = {"rows": list(settled.drop)}
        self.connection.execute('DELETE FROM event WHERE "row" IN (SELECT unnest($rows))', dropped)
        if settled.events:
            events = [self.form.rewrite(event) for event in settled.events]
            self.connection.register("lines", lines_table(events, n_rows))
            values = {"first": sink.next_id, "ids": self.form.ids}
            self.connection.execute(f"INSERT INTO event {query(self.form.parse)}", values)
        # What only our own scanner takes for JSON.
        unread = self.connection.execute('DELETE FROM event WHERE ph IS NULL RETURNING "row"').fetchall()
        refused = [settled.events[row - n_rows] for (row,) in unread if row >= n_rows]
        bad = settled.bad + [event[:200].decode("utf-8", "replace") for event in refused]
        if bad:
            sink.problem("event that is no valid JSON", len(bad), bad)
            sink.count("n_events", len(bad))
            sink.count("n_dropped", len(bad))
        sink.count("n_repaired", settled.n_repaired)
        return len(settled.events)

    def store(self) -> None:
        """Spread the events of this part over the tables, and keep what waits for its other end."""
        sink = self.sink
        counted = self.connection.execute(query("events/count")).fetchall()[0]
        n_events, n_untimed, examples, n_negative, negative, n_long, long = counted
        sink.count("n_events", n_events)
        sink.count("n_kept", n_events - n_untimed)
        sink.count("n_dropped", n_untimed)
        if n_untimed:
            sink.problem("event without a readable time", n_untimed, examples or ())
        if n_negative:
            sink.problem(NEGATIVE, n_negative, negative or ())
            self.connection.execute("UPDATE event SET dur_ns = 0 WHERE dur_ns < 0")
        if n_long:
            sink.problem(LONG, n_long, long or ())
        if self.form.has_ends:
            self._keep("label", query("events/labels"))
            self._keep("half", query("events/halves"))
            self.connection.execute("DELETE FROM event WHERE ph IN ('B', 'E', 'b', 'e') AND start_ns IS NOT NULL")
        self._spread()

    def join_ends(self) -> None:
        """Spans out of their ends, when all have been seen."""
        if not self.form.has_ends or not self._exists("half"):
            return
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {query('events/pairs')}")
        lonely = self.connection.execute(query("events/lonely")).fetchall()[0]
        if lonely[0]:
            self.sink.problem(OPENED, lonely[0], lonely[1] or ())
        self._spread()

    def _spread(self) -> None:
        for name in self.form.prepare:
            body = query(self.form.shared.get(name, f"{self.form.folder}/{name}"))
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {body}")
        for table in self.form.tables:
            body = query(self.form.shared.get(table, f"{self.form.folder}/{table}"))
            self.connection.execute(f"INSERT INTO stage.{table} BY NAME {body}")

    def _keep(self, table: str, body: str) -> None:
        make = f"INSERT INTO {table}" if self._exists(table) else f"CREATE TEMP TABLE {table} AS"
        self.connection.execute(f"{make} {body}")

    def _exists(self, table: str) -> bool:
        found = self.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = $1", [table])
        return bool(found.fetchall()[0][0])
