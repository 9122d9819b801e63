"""Opens a capture folder as a DuckDB connection, on which each public view is made when a query first reads it.

Invariant: opening never changes what was recorded, and runs nothing that a capture brings along: views are those of
`queries/views`, over tables that were checked (`recorded.py`), on a connection that was confined before (`confine.py`).
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from traceview import sql
from traceview.errors import InputError, NotEnoughMemory, shortage
from traceview.ingest.memory import HELD_BYTES, Held, LowMemory
from traceview.ingest.options import Options
from traceview.lazy import duckdb
from traceview.paths import literal, own_folder, temporary_folder
from traceview.store import confine, graph, materialized, recorded
from traceview.tables import TABLES

if TYPE_CHECKING:
    from concurrent.futures import Future

C = TypeVar("C")
S = TypeVar("S")
T = TypeVar("T")

SMALL_ROWS = 300_000
"""Kernels, copies, primitives and operators up to which a capture is small: what is made is held in memory, too."""

HELD_ROWS = 50_000
"""Rows of these up to which each view is held in memory for a report, with columns that nobody reads: a tenth of the
time of a first report of 2,500 rows; of 80,000 a twentieth, for a fifth more memory (30 November 2026)."""

SIZED = ("kernels", "memcpys", "ops", "primitives")
"""Whose rows are counted for that."""

SMALL_BYTES = 4 * SMALL_ROWS
"""Files of these tables up to which a capture is small in any case, as a row takes some 4 bytes or more; and of all
tables up to which its queries are planned for few rows."""

LEAST_BYTES, ROW_BYTES, MOST_BYTES = 600_000_000, 250, 4_000_000_000
"""Memory with which it is tried to make views of a large capture: for each row, within bounds; beyond half of the most
at most a quarter of what may be used. The rest is spilled. The least is a quarter where shards make most."""

CLASSIFYING = "classifying kernels"
"""Name of the phase when nothing about a capture is stored yet, as users see it."""

ATTRIBUTION = "attributed"
"""Stands among views for what `attribution` makes: the schemas `names` and `attributed`, which views join."""
JUDGED = frozenset(f"raw.{name}" for name in ("events", "kernels", "memcpys", "ops", "primitives", "ranges", "ranks"))
"""Recorded tables that it reads."""
NAMED = ("kernel", "op", "primitive")
"""Tables of the schema `names` that it makes; the others are of the rules."""
ATTRIBUTED = ("conv_op", "inside_linear", "linear", "op", "part", "pass")
"""Tables of the schema `attributed` that are read afterwards."""
LAST = "attributed.part"
"""Stored after all others that `attribution` makes: where it is there, they are."""
COSTS = "costed"
"""Stands among views for what `models` makes, the tables `costed.call`, `costed.cost` and `costed.primitive`."""
SCHEMAS = {"names": ATTRIBUTION, "attributed": ATTRIBUTION, "costed": COSTS}
"""The build step that makes the tables of a schema."""

_LISTING = re.compile(
    r"(?i)\b(?:duckdb_(?:columns|schemas|tables|views)|information_schema|pg_\w+|query_table|sqlite_master)\b"
    r"|^\s*(?:SHOW|PRAGMA|BEGIN|START|DESCRIBE\s*;?\s*$)"
)
"""Queries that may read every view: they list what there is, put names together, or begin a transaction, which sees
what there was before it."""
_WORD = re.compile(r"[a-z_]\w*")
_SAID = re.compile(r"""(?s)'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""")
"""Texts, quoted names and comments in a query."""


def connect(folder: Path, options: Options | None = None) -> duckdb.DuckDBPyConnection:
    """A confined connection on which a capture's tables `raw.*` and the public views are there when they are read.

    Of the `options` threads and memory count: they cannot be set any more. Raises `InputError` when the folder is not a
    capture, or one of its files is damaged.
    """
    options = options or Options()
    files = recorded.files(folder, options.ranks)
    # What is stored is of all ranks.
    places = [] if options.ranks else _places(folder)
    sizes = {name: sum(path.stat().st_size for path in paths) for name, paths in files.items()}
    is_large = sum(sizes[name] for name in SIZED) > SMALL_BYTES
    if options.query_bytes and not options.memory_bytes and not is_large:
        options = replace(options, memory_bytes=options.query_bytes)
    readable = (path for paths in files.values() for path in paths)
    # Two queries of one thread each are sooner than one of two, where to plan them takes longest.
    is_small = options.own_queries and sum(sizes.values()) <= SMALL_BYTES
    threads = 1 if is_small else options.threads
    connection = confine.connect(readable, replace(options, threads=threads), places, is_large, is_small)
    try:
        with _damage(folder):
            making = _Making(connection, folder, options, places, is_large, sizes)
    except BaseException:
        connection.close()
        raise
    return cast("duckdb.DuckDBPyConnection", Views(connection, making))


def make(connection: duckdb.DuckDBPyConnection, text: str | None = None) -> None:
    """Make every view that a text names anywhere, or all views: within a transaction that only reads none is made."""
    if isinstance(connection, Views):
        connection.make(_every() if text is None else _named(text))


def make_all(connection: duckdb.DuckDBPyConnection, queries: Iterable[str]) -> None:
    """Make what these queries read at once, which leaves no worker without work while one waits for a long one."""
    if isinstance(connection, Views):
        connection.make(frozenset[str]().union(*map(_read, queries)))


def keep(connection: duckdb.DuckDBPyConnection) -> None:
    """Store what was made for an answer that has been given (`own_queries`); Ctrl-C ends that without an error."""
    # DuckDB makes errors of its own of what the signal's handler raised.
    with contextlib.suppress(KeyboardInterrupt, RuntimeError, duckdb.InterruptException):
        if isinstance(connection, Views):
            connection.making.store(connection.own)


def plain(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """DuckDB's own connection, which makes nothing."""
    return connection.own if isinstance(connection, Views) else connection


def memory_of(connection: duckdb.DuckDBPyConnection) -> Path | None:
    """Folder of the cache for answers about a capture as it was when it was opened; None where none may be stored."""
    return connection.making.remembered if isinstance(connection, Views) else None


def notes(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Answers that were worked out on the connections to a capture and are asked for again."""
    return connection.making.notes if isinstance(connection, Views) else {}


def has_room(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether two queries at once are sooner than one after the other: more than one thread, and a small capture."""
    return isinstance(connection, Views) and connection.making.has_room(connection.own)


def ask_each(
    connection: duckdb.DuckDBPyConnection, ask: Callable[[duckdb.DuckDBPyConnection, S], T], items: Sequence[S]
) -> list[T]:
    """Ask for each item, in their order; by two threads, each with a connection of its own, where that is sooner."""
    if len(items) < 2 or not isinstance(connection, Views) or not has_room(connection):
        return [ask(connection, item) for item in items]
    with beside(connection) as second:
        return _by_two(connection, second, ask, items)


@contextlib.contextmanager
def beside(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A second connection, for work of another thread: what interrupts the first one ends that, too."""
    with connection.cursor() as second:
        others = connection.others if isinstance(connection, Views) else []
        others.append(plain(second))
        try:
            yield second
        finally:
            others.remove(plain(second))


def _by_two(first: C, second: C, work: Callable[[C, S], T], items: Sequence[S]) -> list[T]:
    """Do it with each item, as soon as one of the two connections is free."""
    from concurrent.futures import ThreadPoolExecutor
    from queue import SimpleQueue

    idle: SimpleQueue[C] = SimpleQueue()

    def do(item: S) -> T:
        own = idle.get()
        try:
            return work(own, item)
        finally:
            idle.put(own)

    with ThreadPoolExecutor(2) as pool:
        idle.put(first)
        idle.put(second)
        try:
            return list(pool.map(do, items))
        finally:
            pool.shutdown(cancel_futures=True)


def give_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Give back free memory that queries of a large capture left in the process."""
    if isinstance(connection, Views) and not connection.making.is_small(connection.own):
        connection.making.held.give_back()


def read_rules() -> None:
    """Read the rules that say what names mean: they can be read while a trace is converted."""
    from traceview.classify.attribution import read_rules

    read_rules()


class Views:
    """A connection to a capture that makes what a query reads before it runs; otherwise as DuckDB's own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, making: _Making) -> None:
        self.own = connection
        self.making = making
        self.others: list[duckdb.DuckDBPyConnection] = []
        """At work for this one in other threads."""

    def execute(self, query: Any, *given: Any, **options: Any) -> duckdb.DuckDBPyConnection:
        """As DuckDB's."""
        return self._run(self.own.execute, query, *given, **options)

    def sql(self, query: Any, **options: Any) -> duckdb.DuckDBPyRelation:
        """As DuckDB's."""
        return self._run(self.own.sql, query, **options)

    query = from_query = sql

    def table(self, name: str) -> duckdb.DuckDBPyRelation:
        """As DuckDB's."""
        self.make(_named(name))
        return self.own.table(name)

    def view(self, name: str) -> duckdb.DuckDBPyRelation:
        """As DuckDB's."""
        self.make(_named(name))
        return self.own.view(name)

    def begin(self) -> duckdb.DuckDBPyConnection:
        """As DuckDB's."""
        self.make(_every())
        return self.own.begin()

    def make(self, names: frozenset[str]) -> bool:
        """Make these views and what they read; whether anything was left to make."""
        return self.making.make(self.own, names)

    def cursor(self) -> Views:
        """As DuckDB's; variables are those of each connection alone."""
        second = self.own.cursor()
        self.making.tell(second)
        return Views(second, self.making)

    def interrupt(self) -> None:
        """End the query at work, and what is made for it."""
        for each in (self.own, *self.others, *filter(None, [self.making.second])):
            # One that has done its work may be closed by now.
            with contextlib.suppress(duckdb.ConnectionException):
                each.interrupt()

    def close(self) -> None:
        """As DuckDB's."""
        if self.own is self.making.connection and self.making.second:
            self.making.second.close()
        self.own.close()

    def __getattr__(self, name: str) -> Any:
        # Python asks for these of any object, also of one that is not whole yet.
        if name.startswith("__") or name in ("own", "making"):
            raise AttributeError(name)
        return getattr(self.own, name)

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self, run: Callable[..., T], query: Any, *given: Any, **options: Any) -> T:
        text = query if isinstance(query, str) else str(getattr(query, "query", ""))
        self.make(_read(text))
        try:
            return run(query, *given, **options)
        except duckdb.CatalogException:
            # A name stood elsewhere than behind FROM or JOIN.
            if not self.make(_named(text)):
                raise
        return run(query, *given, **options)


@cache
def _every() -> frozenset[str]:
    """All that can be made, by name."""
    return _facts().union(
        graph.names(),
        (f"raw.{table.name}" for table in TABLES),
        (f"names.{name}" for name in NAMED),
        (f"attributed.{name}" for name in ATTRIBUTED),
        ("costed.call", "costed.cost", "costed.primitive"),
    )


@cache
def _facts() -> frozenset[str]:
    """Tables of the rules, which are the same for every capture."""
    from traceview.classify import facts

    return frozenset(f"names.{name}" for name in facts.TABLES)


@lru_cache(4096)
def _read(text: str) -> frozenset[str]:
    """Return what a query reads, of what can be made."""
    if _LISTING.search(text):
        return _every()
    # Several statements: a second one is not tried again without the first.
    is_one = ";" not in _SAID.sub("", text).rstrip().removesuffix(";")
    return graph.sources(text) & _every() if is_one else _named(text)


def _named(text: str) -> frozenset[str]:
    """Return what a text names anywhere, of what can be made."""
    if _LISTING.search(text):
        return _every()
    words = frozenset(_WORD.findall(text.lower()))
    return frozenset(name for name in _every() if words.issuperset(name.split(".")))


def _places(folder: Path) -> list[Path]:
    """The folder of the cache for a capture, then those for its shards; none where there can be none."""
    with contextlib.suppress(OSError, InputError):
        return [materialized.place(each) for each in (folder, *materialized.parts(folder))]
    return []


@dataclass
class _Making:
    """State of the connections to one capture, and what makes the rest."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    options: Options
    places: list[Path]
    """Folders of the capture and of its shards in the cache; none where nothing is stored."""
    may_be_large: bool
    """Whether the memory limit of the connection can be set."""
    sizes: Mapping[str, int]
    """Bytes of the files of each recorded table."""
    there: set[str] = field(default_factory=set)
    """Names that can be read on the connections."""
    second: duckdb.DuckDBPyConnection | None = None
    """The connection of a second worker, if there was work for it."""
    notes: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: dict[str, int] = {}
        self._variables: dict[str, Any] = {}
        # What is stored was worked out without it, and what rests on it is worked out anew.
        self._by_hand = graph.reading("known_devices") if self.options.device else frozenset[str]()
        self._given = self._found()
        self._stored = frozenset(filter(graph.is_materialized, graph.names())) - self._by_hand
        self._unstored: list[str] = []
        # Known to have no row.
        self._empty: set[str] = set()
        self._n_timed: int | None = None
        self.held = Held()
        self.remembered = self.places[0] if self.places and not self.options.device else None
        if self._given:
            materialized.used(self.places[0])
        else:
            recorded.check(self.connection, self.folder, self.options.ranks)
        if self.options.device:
            self._variables["device"] = self.options.device
        if self.options.ranks:
            self._variables["chosen"] = sorted(self.options.ranks)
        # Of a small capture nothing is read that is stored later: it is there in memory.
        shown = _every() if self.may_be_large or len(self.places) > 1 else self._given
        self._variables["stored"] = {
            name: [literal(path) for path in self._files(name)] for name in sorted(shown) if self.places
        }
        self._raw = self._variables["raw"] = recorded.patterns(self.folder, self.options.ranks)
        # Where nothing is stored yet, most tables are read many times; so are views, which take longest to plan.
        is_held = self.options.own_queries and not self.may_be_large and not self._given
        self._held = {name for name, n_bytes in self.sizes.items() if is_held and n_bytes <= SMALL_BYTES}
        self._holds_all = is_held and self.n_rows(self.connection) <= HELD_ROWS
        if self.may_be_large:
            limit = "SELECT current_setting('memory_limit') AS limit_, parse_formatted_bytes(limit_)"
            ((self._limit, self._n_allowed),) = self.connection.execute(limit).fetchall()
            self._limit_queries(self.connection)
        self.tell(self.connection)
        self.connection.execute(f"CREATE SCHEMA raw; CREATE SCHEMA names; {graph.functions()}")
        if self.options.ranks:
            self._bind(self.connection, ["raw.captures"])
            recorded.choose(self.connection, self.options.ranks)

    def tell(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Set the variables that views read, on a connection of its own."""
        for name, value in self._variables.items():
            if value:
                connection.execute(f"SET VARIABLE {name} = $1", [value])

    def has_room(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Whether the capture is small, and there may be more than one thread."""
        return (self.options.threads or os.cpu_count() or 1) > 1 and self.is_small(connection)

    def is_small(self, connection: duckdb.DuckDBPyConnection) -> bool:
        """Whether what is made for it is held in memory."""
        return not self.may_be_large or self.n_rows(connection) <= SMALL_ROWS

    def n_rows(self, connection: duckdb.DuckDBPyConnection) -> int:
        """Rows that make a capture small or large."""
        return sum(self._counts(connection)[name] for name in SIZED)

    def _counts(self, connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
        """Rows in the files of each recorded table; of a capture that may be large, of those that decide that."""
        if not self._rows:
            counted = [name for name in self._raw if not self.may_be_large or name in SIZED]
            self._rows = recorded.counts(connection, {name: self._raw[name] for name in counted})
        return self._rows

    def make(self, connection: duckdb.DuckDBPyConnection, names: Collection[str]) -> bool:
        """Make what of these is not there, and what that reads; whether it was anything."""
        if self.there.issuperset(names):
            return False
        with self._lock, _damage(self.folder):
            left = [name for name in names if name not in self.there]
            if left:
                self._make(connection, left)
        return bool(left)

    def _make(self, connection: duckdb.DuckDBPyConnection, names: Collection[str]) -> None:
        if len(self.places) > 1 and any(map(graph.in_job, graph.resting_on(names, self.there))):
            # What their rows are in the job depends on the number of ranks.
            names = {*names, "scope"}
        made = self._missing(names)
        if len(self.places) > 1 and any(materialized.is_of_shards(name) and self._keeps(name) for name in made):
            self._make_of_shards()
            made = self._missing(names)
        read = frozenset(names).union(graph.resting_on(names, self.there | self._given), *map(_sources, made))
        self._bind(connection, (name for name in read if name.startswith("raw.")))
        self._keep(connection, (name for name in read if name in _facts()))
        self._show(connection, sorted(read & self._given - self.there))
        if not any(_is_step(name) or graph.kind(name) == "TABLE" for name in made):
            self._make_views(_runs(connection), *made)
        elif self.is_small(connection):
            self._make_small(connection, names)
        else:
            connection.execute("SET memory_limit = $1", [self._limit])
            try:
                self._make_large(connection, made)
            finally:
                self._limit_queries(connection)

    def _limit_queries(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let queries have less memory than what is made for them, where that was said."""
        if self.may_be_large and self.options.query_bytes and not self.options.memory_bytes:
            connection.execute("SET memory_limit = $1", [f"{self.options.query_bytes // 1_000_000}MB"])

    def _missing(self, names: Collection[str]) -> list[str]:
        """List what has to be made of these and of what they read, each after what it reads; schemas before all."""
        while True:
            known = self.there | self._given
            order = graph.resting_on(names, known)
            made = [name for name in order if name not in known]
            read = frozenset(names).union(order, *map(_sources, made))
            damaged = {name for name in read & self._given - self.there if not self._is_whole(name)}
            if not damaged:
                break
            self._given -= damaged
        steps = {_maker(source) for source in read - known}
        return [*(step for step in dict.fromkeys(SCHEMAS.values()) if step in steps), *made]

    def _found(self) -> frozenset[str]:
        """Names that are stored and hold here."""
        found = materialized.there(self.places[0], self.places[1:]) - self._by_hand if self.places else frozenset[str]()
        return found if LAST in found else found - frozenset(_tables(ATTRIBUTION))

    def _is_whole(self, name: str) -> bool:
        """Whether what is stored is as it was written; where that is not so it is made again."""
        return not [path for path in self._files(name) if not materialized.is_whole(path)]

    def _keeps(self, name: str) -> bool:
        """Whether it is stored, where anything can be."""
        return bool(self.places) and (_is_step(name) or "." in name or name in self._stored)

    def _files(self, name: str) -> list[Path]:
        """Files where it is stored: for a job in each of its shards, if rows of a shard are rows of the job."""
        of_shards = len(self.places) > 1 and materialized.is_of_shards(name)
        return [materialized.file(place, name) for place in (self.places[1:] if of_shards else self.places[:1])]

    def _bind(self, connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
        needed = frozenset(names) - self.there
        if not needed:
            return
        # Those without rows at once, from the counts of their files: each by itself would be a query.
        counts = self._counts(connection) if self._held else {}
        absent = {f"raw.{table}" for table, files in self._raw.items() if not files or counts.get(table) == 0}
        if needed & absent:
            connection.execute(recorded.without_rows(sorted(absent - self.there)))
            self._empty |= absent
            self.there |= absent
        tables = [name.removeprefix("raw.") for name in sorted(needed - absent)]
        if tables:
            made = [recorded.bound(name, self.options.ranks, name in self._held) for name in tables]
            self._run_all(connection, made)
            self.there |= needed

    def _keep(self, connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
        """Make tables of facts, which are those of the rules and of no capture."""
        from traceview.classify.attribution import keep_facts

        for name in sorted(frozenset(names) - self.there):
            keep_facts(_runs(connection), name.removeprefix("names."))
            self.there.add(name)

    def _show(self, connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
        """Show what is stored, under the names that it has where it is worked out."""
        for name in names:
            if "." in name:
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
            if (columns := materialized.columns(self.places[0], name)) is not None:
                connection.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
            else:
                # One name may be in several shards.
                distinct = "DISTINCT " if name.startswith("names.") and len(self.places) > 1 else ""
                files = f"getvariable('stored').\"{name}\""
                replaced = ""
                if len(self.places) > 1 and "." not in name and (column := graph.in_job(name)):
                    replaced = f" REPLACE ({column.format(n_ranks=self._timed_ranks(connection))})"
                rows = f"SELECT {distinct}*{replaced} FROM read_parquet({files}, hive_partitioning = false)"
                connection.execute(f"CREATE OR REPLACE VIEW {name} AS {rows}")
            # Not before: other threads read it then.
            self.there.add(name)

    def _timed_ranks(self, connection: duckdb.DuckDBPyConnection) -> int:
        """How many ranks of all shards have a time."""
        if self._n_timed is None:
            ((self._n_timed,),) = connection.execute(sql.text("timed_ranks")).fetchall()
        return self._n_timed

    def _make_views(self, run: sql.Run, *names: str) -> None:
        """Make these, each after what it reads, as views, or as tables where that is sooner."""
        if names:
            run("; ".join(map(self._statement, names)))
            self.there.update(names)

    def _statement(self, name: str) -> str:
        if self._is_empty(name):
            self._empty.add(name)
            return f"CREATE OR REPLACE TABLE {name} ({graph.types(name)})"
        return f"CREATE OR REPLACE {'TABLE' if self._holds_all else graph.kind(name)} {name} AS {graph.text(name)}"

    def _make_of_shards(self) -> None:
        """Work out what the shards of a job lack; several at a time in processes of their own, which give their memory
        back."""
        shards = materialized.parts(self.folder)
        names = frozenset(name for name in (*self._stored, LAST) if materialized.is_of_shards(name))
        lacking = [(shard, names) for shard in shards if not names <= materialized.find(shard)]
        if self.options.many and len(lacking) > 1:
            self.options.many.each(_store, lacking, self.options)
        else:
            for task in lacking:
                _store((task, replace(self.options, own_queries=False)))
        self._given |= self._found()

    def _make_small(self, connection: duckdb.DuckDBPyConnection, names: Collection[str]) -> None:
        """Hold what is worth it as tables in memory, made by two workers, each when it can be: to plan a small one
        takes longest; then store them."""
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        begun: dict[Future[None], tuple[list[str], duckdb.DuckDBPyConnection]] = {}
        needs: dict[str, set[str]] = {}
        done: list[str] = []

        def planned(run: sql.Run) -> list[str]:
            """Declare what is empty, for which nothing is read or made, and return what is left."""
            at_work = {name for jobs, _ in begun.values() for name in jobs}
            empty = []
            for name in self._missing(names):
                if self._is_empty(name) and name not in at_work:
                    self._empty.add(name)
                    empty.append(name)
            self._make_views(run, *empty)
            done.extend(empty)
            missing = self._missing(names)
            needs.update({name: set(map(_maker, _sources(name))).intersection(missing) for name in missing})
            return [name for name in missing if name not in at_work]

        with ThreadPoolExecutor(2) as pool:
            idle = [connection, self._other()]
            left = planned(_runs(connection))
            while left or begun:
                self._enter(len(done), len(done) + len(left) + len(begun))
                plain: list[str] = []
                for name in left:
                    is_made = _is_step(name) or graph.kind(name) == "TABLE"
                    if not is_made and needs[name].issubset(plain):
                        plain.append(name)
                ready = [[name] for name in left if not needs[name] and name not in plain]
                for jobs in ([plain, *ready] if plain else ready)[: len(idle)]:
                    left = [name for name in left if name not in jobs]
                    worker = idle.pop()
                    make: Callable[..., None] = self._make_views if jobs is plain else self._make_table
                    begun[pool.submit(make, _runs(worker), *jobs)] = jobs, worker
                for future in wait(begun, return_when=FIRST_COMPLETED).done:
                    future.result()
                    jobs, worker = begun.pop(future)
                    idle.append(worker)
                    done += jobs
                    for sources in needs.values():
                        sources.difference_update(jobs)
                    if ATTRIBUTION in jobs:
                        left = planned(_runs(worker))
        self._enter(0, 0)
        self._unstored += [table for name in done for table in _tables(name) if self._keeps(table)]
        if not self.options.own_queries:
            self.store(connection)

    def _other(self) -> duckdb.DuckDBPyConnection:
        """The connection of a second worker."""
        if self.second is None:
            # Not of the connection at hand: DuckDB closes with a connection those that were made from it.
            self.second = self.connection.cursor()
            self.tell(self.second)
        return self.second

    def _run_all(self, connection: duckdb.DuckDBPyConnection, statements: Sequence[str]) -> None:
        """Run statements that need nothing of one another; of a small capture by two workers."""
        if len(statements) > 1 and not self.may_be_large and self.has_room(connection):
            halves = ["; ".join(statements[first::2]) for first in range(2)]
            _by_two(connection, self._other(), lambda own, half: own.execute(half), halves)
        elif statements:
            connection.execute("; ".join(statements))

    def _make_table(self, run: sql.Run, name: str) -> None:
        if name == ATTRIBUTION:
            self._empty |= _attribute(run)
        elif name == COSTS:
            from traceview.classify.models import cost

            cost(run)
        elif run(self._statement(name)) == [(0,)]:
            self._empty.add(name)
        self.there.update(_tables(name))

    def _is_empty(self, name: str) -> bool:
        """Whether a view is known to have no row before it is worked out."""
        without = frozenset[str]() if _is_step(name) else graph.empty_without(name)
        return bool(without) and self._empty.issuperset(without)

    def store(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Store tables, which are read from memory here: a full disk takes no answer, but time of later commands."""
        names, self._unstored = self._unstored, []
        with contextlib.suppress(OSError, duckdb.IOException), self._building(bool(names)) as building:
            if building:
                # Of several shards one may have rows where another has none.
                is_shard = self.folder.name.startswith("shard-")
                empty = {} if is_shard else dict(connection.execute(sql.text("without_rows")).fetchall())
                run = partial(self._run_all, connection)
                self._write(run, building, {name: f"FROM {name}" for name in names}, empty)

    def _make_large(self, connection: duckdb.DuckDBPyConnection, made: Collection[str]) -> None:
        """Write what is worth it as it is made, one after the other, and read it from there."""
        run = _runs(connection)
        least = LEAST_BYTES // (4 if len(self.places) > 1 else 1)
        most = min(MOST_BYTES, max(MOST_BYTES // 2, self._n_allowed // 4))
        room = min(max(least, ROW_BYTES * self.n_rows(connection)), most)
        # What is given back and taken again costs 7 % of the time; that much the queries may hold anyway.
        self.held = Held(max(HELD_BYTES, room // 2))
        with self._building(True) as building, LowMemory(connection, room) as attempt:

            def trying(*query: Any) -> list[tuple[Any, ...]]:
                # One query at a time is tried again: what those before it made stays.
                return attempt(partial(run, *query))

            for done, name in enumerate(made):
                self._enter(done, len(made))
                if _is_step(name):
                    self._make_table(trying, name)
                    for table in _tables(name):
                        if not building:
                            break
                        self._write(lambda copies: trying(*copies), building, {table: f"FROM {table}"})
                        connection.execute(f"DROP TABLE {table}")
                        self._show(connection, [table])
                elif building and self._keeps(name):
                    self._write(lambda copies: trying(*copies), building, {name: graph.text(name)})
                    self._show(connection, [name])
                else:
                    self._make_table(trying, name)
                self.held.give_back()
        self._enter(0, 0)

    def _write(
        self,
        run: Callable[[list[str]], object],
        building: Path,
        queries: Mapping[str, str],
        empty: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Store the rows of queries, of those without any their columns; all files are whole when the first has its
        name, and have them in this order."""
        drafts = {name: building / f"{name}{materialized.EMPTY if name in empty else '.parquet'}" for name in queries}
        copies = []
        for name, draft in drafts.items():
            if name in empty:
                draft.write_text(empty[name], encoding="utf-8")
            else:
                quoted = str(draft).replace("'", "''")
                copies.append(f"COPY ({queries[name]}) TO '{quoted}' ({sql.PARQUET})")
        run(copies)
        for name, draft in drafts.items():
            materialized.put(draft, self.places[0], name)

    @contextlib.contextmanager
    def _building(self, is_needed: bool) -> Iterator[Path | None]:
        """A folder for files that are not whole yet; None where nothing can be stored."""
        with contextlib.ExitStack() as stack:
            building = None
            if is_needed and self.places:
                with contextlib.suppress(OSError):
                    own_folder(self.places[0])
                    building = stack.enter_context(temporary_folder(".making-", self.places[0]))
            yield building
        if building:
            materialized.make_room(self.places[0], materialized.BYTES)

    def _enter(self, done: int, total: int) -> None:
        self.options.enter(CLASSIFYING if total else "", done, total)


def _store(task: tuple[tuple[Path, frozenset[str]], Options]) -> None:
    """Work out and store views of a shard; nothing where it is damaged: reading it says so."""
    (shard, names), options = task
    # A small shard, of which all is held until it is stored, is held on disk in part.
    options = replace(options, query_bytes=LEAST_BYTES // 4)
    with contextlib.suppress(InputError), connect(shard, options) as connection:
        cast("Views", connection).make(names)


def _is_step(name: str) -> bool:
    """Whether a build step makes the tables of schemas, not a view."""
    return name in SCHEMAS.values()


def _sources(name: str) -> frozenset[str]:
    if name == COSTS:
        return frozenset(("raw.ops", "raw.kernels", "raw.primitives", "raw.ranges", "raw.api_calls"))
    # Parts of a query have names of their own.
    return JUDGED if name == ATTRIBUTION else graph.sources(graph.text(name)) & _every()


def _maker(source: str) -> str:
    """The build step that produces `source`."""
    schema, dot, _ = source.partition(".")
    return SCHEMAS.get(schema, source) if dot and source not in _facts() else source


def _tables(name: str) -> list[str]:
    """List what a build step makes, the sign of being whole at its end."""
    if not _is_step(name):
        return [name]
    return sorted((each for each in _every() if _maker(each) == name), key=lambda each: (each == LAST, each))


def _attribute(run: sql.Run) -> set[str]:
    """Make what `ATTRIBUTION` stands for; returns the names of its tables without rows."""
    from traceview.classify.attribution import attribute

    # Of the schema `names` only what is made anew: another thread may read a table of the rules.
    found = " UNION ALL ".join(
        f"SELECT '{kind} names.' || {kind}_name FROM duckdb_{kind}s() WHERE schema_name = 'names'"
        f" AND {kind}_name IN {NAMED}"
        for kind in ("view", "table")
    )
    run("; ".join([*(f"DROP {there}" for (there,) in run(found)), "DROP SCHEMA IF EXISTS attributed CASCADE"]))
    attribute(run)
    tables: dict[str, int] = dict(
        run("SELECT table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'attributed'")
    )
    run("; ".join(f"DROP TABLE attributed.{table}" for table in sorted(tables.keys() - frozenset(ATTRIBUTED))))
    return {f"attributed.{name}" for name, n_rows in tables.items() if not n_rows}


def _runs(connection: duckdb.DuckDBPyConnection) -> sql.Run:
    """Return a function that runs a query here, with its parameters, and gives its rows."""
    return lambda *query: connection.execute(*query).fetchall()


@contextlib.contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Turns what DuckDB says of a damaged file into a sentence; what it says of a query of ours stays."""
    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.InterruptException):
        raise
    # What ran out of memory may leave a change behind with which its next try is in conflict.
    except (duckdb.OutOfMemoryException, duckdb.TransactionException) as error:
        raise NotEnoughMemory(f"not enough memory or disk for {folder}; allow more memory with --memory.") from error
    except duckdb.Error as error:
        if shortage(error):
            raise
        raise recorded.damage(folder, str(error).splitlines()[0]) from error
