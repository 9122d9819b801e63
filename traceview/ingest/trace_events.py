"""Fills the staging tables from a file of JSON trace events, by the queries of one folder.

Each part of the file becomes the table `event`, one row per event; each query of the folder named like a table selects
from it. Events of the most frequent kinds may take a fast path (`fast_path.py`). Ends that arrive apart (`B`/`E`,
`b`/`e`) are joined when the file has been read. Invariant: every event is accounted for: stored, dropped with a reason,
or repaired.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from traceview import sql
from traceview.decode.files import Stream, ahead
from traceview.decode.json_events import EventSplitter, Part, Settled, lines_table
from traceview.decode.json_repair import has_phase
from traceview.ingest.derive.spans import fetch
from traceview.ingest.fast_path import KEYS, Clock, Route, insert, on_a_clock, routed, schema, without_second
from traceview.ingest.parallel import Unexpected, Workers
from traceview.ingest.sink import LONG, NEGATIVE, Account, Sink
from traceview.lazy import duckdb
from traceview.paths import content

# From 2^43 microseconds on a double holds no three decimals, so the number becomes text.
_LONG_TIME = re.compile(rb'"ts"\s*:\s*((?:8[789]\d{11}|9\d{12}|\d{14,})\.\d+)')
SHARED = {"counters": "events/samples", "events": "events/everything_else"}
OPENED = 'file that ends before its last events: "begin" without "end"'
INVALID = "events that are not valid JSON"
TOO_LONG = "events of more than 4 MiB or nested too deep, left out"
UNREAD = "values beside the events that are not valid JSON or too long, left out"
UNREADABLE = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException, UnicodeDecodeError)
"""Errors of a query for text that is not JSON (even if its message is not text), and for large numbers."""
FEW = 2048
"""Events of no route in a part that are deferred: one by one they cost less than nine queries."""
FEW_BYTES = 1 << 20
SHORT = FEW
"""Events of a part, as the last of a file may be, that are all deferred."""
RATIO = 16
"""Bytes of a trace for each compressed one, as a rule."""
SMALL_BYTES = 96 << 20
TEXTS = dict.fromkeys(("ph", "cat", "name", "pid", "tid", "ts", "dur", "id"), "VARCHAR")


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
    values: Mapping[str, object] = field(default_factory=dict)
    """Parameters that this query has of its own. A map is given as its keys and values."""
    ids: int = 2
    """Ids that an event takes: it may fill rows of several tables."""
    prepare: tuple[str, ...] = ()
    """Queries of the folder that make temporary tables of their name out of `event`, in this order."""
    rewrite: Callable[[bytes], bytes] = quote_long_times
    """Writes a spelling that SQL cannot read as one that it can; used only in files that need it."""
    routes: tuple[Route, ...] = ()
    """Fast paths for frequent events, by the query `plain` of the folder."""


@cache
def _load(name: str) -> sql.Query:
    return sql.load(content("queries") / "ingest" / f"{name}.sql")


def fill(stream: Stream, sink: Sink, form: Form) -> dict[str, Any]:
    """Read a whole file; returns the keys that stand beside its events."""
    for name in ("label", "half"):
        sink.connection.execute(f"DROP TABLE IF EXISTS {name}")
    splitter = EventSplitter(ahead(stream), last_apart=bool(form.routes))
    filler = _Filler(sink.connection, form)
    if form.routes:
        if sink.folder:
            sink.folder.mkdir(exist_ok=True)

        def quickly(connection: duckdb.DuckDBPyConnection, part: Part, first: int) -> Account:
            return _quickly(_Filler(connection, form), part, first, None if _is_small(stream) else sink.folder)

        workers = Workers(sink, quickly)
        workers.run(splitter, lambda part: _apart(filler, sink, splitter, part))
        filler.store_deferred(sink)
    else:
        while (part := splitter.part()) is not None:
            _carefully(filler, sink, splitter, part)
    is_followed = splitter.finish()
    filler.join_ends(sink)
    sink.connection.execute("DROP TABLE IF EXISTS event")
    sink.next_id *= form.ids
    if splitter.unread:
        sink.problem(UNREAD, len(splitter.unread), splitter.unread)
    if stream.damage:
        sink.problem(stream.damage)
    if splitter.found and not splitter.ended:
        sink.problem("the file is cut off: its array of events does not end")
    if is_followed:
        sink.problem("something else follows the end of the events, as where files were joined: it was not read")
    return splitter.metadata


def _is_small(stream: Stream) -> bool:
    """Whether the rows of a file need not be spilled: to write files and read them again takes longer."""
    return stream.path.stat().st_size * (RATIO if stream.compression else 1) < SMALL_BYTES


def _carefully(filler: _Filler, sink: Sink, splitter: EventSplitter, part: Part) -> None:
    """Read a part with everything that may be wrong in it. It must be the splitter's current one."""
    if not len(part):
        return
    filler.parse(part.table(), sink.next_id)
    if splitter.rewrite is None and filler.is_spelled_otherwise():
        part = splitter.again(filler.form.rewrite)
        filler.parse(part.table(), sink.next_id)
    parse = partial(filler.parse, first=sink.next_id, into="INSERT INTO event")
    settled = settle(sink, splitter, sql.texts("ingest/events"), len(part), parse, rewrite=filler.form.rewrite)
    filler.store(sink)
    sink.next_id += len(part) + len(settled.events)


def _apart(filler: _Filler, sink: Sink, splitter: EventSplitter, part: Part) -> None:
    """Read a part carefully; the last event, where it is a part of its own, is deferred with the others."""
    if len(part) == 1 and part.last:
        settled = splitter.settle([0])
        _drop(sink, settled.bad)
        _drop(sink, settled.too_long, TOO_LONG)
        sink.count("n_repaired", settled.n_repaired)
        sink.deferred |= {
            number: filler.form.rewrite(event) for number, event in enumerate(settled.events, sink.next_id)
        }
        sink.next_id += len(settled.events)
    else:
        _carefully(filler, sink, splitter, part)


def _quickly(filler: _Filler, part: Part, first: int, folder: Path | None) -> Account:
    """Read a part in which every event is as expected. Raises `Unexpected` where one is not."""
    try:
        return _read_routes(filler, part, first, folder)
    except UNREADABLE as error:
        raise Unexpected from error


def _read_routes(filler: _Filler, part: Part, first: int, folder: Path | None) -> Account:
    account = Account()
    is_short = len(part) < SHORT and int(part.ends[-1] - part.starts[0]) < FEW_BYTES
    by_route, rest = routed(part, () if is_short else filler.form.routes)
    timed, clock = on_a_clock(part)
    for route, rows in by_route:
        file = folder / f"{route.tables[0]}-{route.phases[0]}-{first}.parquet" if folder and route.spills else None
        if filler.take(without_second(part, rows, route), timed.table(rows), first, clock, file) < len(rows):
            raise Unexpected
        if file:
            account.spilled.setdefault(route.tables[0], []).append(file)
        account.count("n_events", len(rows))
        account.count("n_kept", len(rows))
    rewrite = filler.form.rewrite
    deferred = {first + int(row): rewrite(part.text[part.starts[row] : part.ends[row]]) for row in rest[:FEW]}
    if len(rest) < FEW and sum(map(len, deferred.values())) < FEW_BYTES:
        if not all(map(has_phase, deferred.values())):
            raise Unexpected
        account.deferred = deferred
    elif len(rest):
        filler.parse(part.table(rest), first)
        if filler.is_doubtful() or filler.is_spelled_otherwise():
            raise Unexpected
        filler.store(account)
    return account


class _Filler:
    def __init__(self, connection: duckdb.DuckDBPyConnection, form: Form) -> None:
        self.form = form
        self.connection = connection
        self.args = {table: self._query(table).extra.get("args", {}) for table in form.tables}

    def parse(self, lines: pa.Table, first: int, into: str = "CREATE OR REPLACE TEMP TABLE event AS") -> None:
        """Make `event` out of one part of the file."""
        self.connection.register("lines", lines)
        body = sql.text(f"ingest/{self.form.parse}")
        values: dict[str, object] = {"first": first, "ids": self.form.ids, **self.form.values}
        if "$schema" in body:
            every = {name: kind for args in self.args.values() for name, kind in args.items()}
            values["schema"] = schema(every, TEXTS)
        self.connection.execute(f"{into} {body}", values)

    def take(self, route: Route, lines: pa.Table, first: int, clock: Clock, file: Path | None) -> int:
        """Fill the tables of a route; returns how many events are what it expects."""
        self.connection.register("lines", lines)
        args = {name: kind for table in route.tables for name, kind in self.args[table].items()}
        bodies = [self._query(table).body for table in route.tables]
        values = {
            "first": first,
            "schema": schema(args, {**KEYS, "ts": "BIGINT"} if clock.in_ns else KEYS),
            "ids": self.form.ids,
            "phases": list(route.phases),
            "goes_to": route.tables[0],
            "categories": list(route.categories) or None,
            "name": route.name,
            "on_thread": route.on_thread,
            "least": clock.least,
            "most": clock.most,
            "in_ns": clock.in_ns,
        }
        return insert(self.connection, route, sql.text(f"ingest/{self.form.folder}/plain"), bodies, values, file)

    def is_spelled_otherwise(self) -> bool:
        """Whether this part of the file has a spelling that needs rewriting."""
        return bool(self.connection.execute("SELECT bool_or(is_spelled_otherwise) FROM event").fetchall()[0][0])

    def is_doubtful(self) -> bool:
        """Whether a piece of this part is not an event, or one end of a span."""
        is_doubtful = "SELECT bool_or(ph IS NULL OR ph IN ('B', 'E', 'b', 'e')) FROM event"
        return bool(self.connection.execute(is_doubtful).fetchall()[0][0])

    def store_deferred(self, sink: Sink) -> None:
        """Read the deferred events, each under its own number."""
        deferred, sink.deferred = sink.deferred, {}
        if deferred:
            self.parse(lines_table(list(deferred.values()), list(deferred)), 0)
            unread = self.connection.execute(sql.text("ingest/events/unread")).fetchall()
            _drop(sink, [_beginning(deferred[number]) for (number,) in unread])
            self.store(sink)

    def store(self, account: Account) -> None:
        """Spread the events of this part over the tables, and keep what waits for its other end."""
        counted = self.connection.execute(sql.text("ingest/events/count")).fetchall()[0]
        n_events, n_untimed, examples, n_negative, negative, n_long, long, n_ends = counted
        account.count("n_events", n_events)
        account.count("n_kept", n_events - n_untimed)
        account.count("n_dropped", n_untimed)
        if n_untimed:
            account.problem("events without a readable time", n_untimed, examples or ())
        if n_negative:
            account.problem(NEGATIVE, n_negative, negative or ())
            account.count("n_repaired", n_negative)
            self.connection.execute(sql.text("ingest/events/negative"))
        if n_long:
            account.problem(LONG, n_long, long or ())
        if self.form.prepare:
            self._keep("label", sql.text("ingest/events/labels"))
        if n_ends:
            self._keep("half", sql.text("ingest/events/halves"))
            self.connection.execute(sql.text("ingest/events/ends"))
        self._spread()

    def join_ends(self, account: Account) -> None:
        """Spans out of their ends, when all have been seen."""
        if not self._exists("half"):
            return
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE event AS {sql.text('ingest/events/pairs')}")
        lonely = self.connection.execute(sql.text("ingest/events/lonely")).fetchall()[0]
        if lonely[0]:
            account.problem(OPENED, lonely[0], lonely[1] or ())
            if self.form.routes:
                self.connection.execute(sql.text(f"ingest/{self.form.folder}/lonely"))
        self._spread()

    def _query(self, name: str) -> sql.Query:
        return _load(self.form.shared.get(name, f"{self.form.folder}/{name}"))

    def _spread(self) -> None:
        for name in self.form.prepare:
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {self._query(name).body}")
        for table in self._filled():
            self.connection.execute(f"INSERT INTO stage.{table} BY NAME {self._query(table).body}")

    def _filled(self) -> list[str]:
        """The tables that get rows of these events: to ask for none takes nearly as long as for some."""
        if not self.form.routes:
            return list(self.form.tables)
        found = self.connection.execute("SELECT DISTINCT goes_to FROM event").fetchall()
        going = {table for (table,) in found}
        seconds = {table for route in self.form.routes if route.tables[0] in going for table in route.tables}
        return [table for table in self.form.tables if table in going | seconds]

    def _keep(self, table: str, body: str) -> None:
        make = f"INSERT INTO {table}" if self._exists(table) else f"CREATE TEMP TABLE {table} AS"
        self.connection.execute(f"{make} {body}")

    def _exists(self, table: str) -> bool:
        found = self.connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = $1", [table])
        return bool(found.fetchall()[0][0])


def settle(
    sink: Sink,
    splitter: EventSplitter,
    query: Callable[[str], str],
    n_rows: int,
    parse: Callable[[pa.Table], None],
    why: tuple[str, str] = (INVALID, TOO_LONG),
    rewrite: Callable[[bytes], bytes] = bytes,
    are_events: bool = True,
) -> Settled:
    """Replace pieces that are not objects by those that are really there, which `parse` adds as rows from `n_rows` on.

    What cannot be read is counted, as `why` says: what is not JSON, and what is too long; of events also those that
    were repaired. `query`: text of a query.
    """
    doubtful = fetch(sink.connection, query("doubtful"))["row"]
    if not len(doubtful):
        return Settled()
    settled = splitter.settle(doubtful)
    sink.connection.register("dropped", settled.drop)
    sink.connection.execute(query("dropped"))
    if events := [rewrite(event) for event in settled.events]:
        parse(lines_table(events, range(n_rows, n_rows + len(events))))
    # What only our own scanner takes for JSON.
    unread = sink.connection.execute(query("unread")).fetchall()
    refused = [_beginning(settled.events[row - n_rows]) for (row,) in unread if row >= n_rows]
    _drop(sink, settled.bad + refused, why[0])
    _drop(sink, settled.too_long, why[1])
    if are_events:
        sink.count("n_repaired", settled.n_repaired)
    return settled


def _drop(account: Account, bad: list[str], why: str = INVALID) -> None:
    """Count what could not be read."""
    if bad:
        account.problem(why, len(bad), bad)
        account.count("n_events", len(bad))
        account.count("n_dropped", len(bad))


def _beginning(event: bytes) -> str:
    return event[:200].decode("utf-8", "replace")
