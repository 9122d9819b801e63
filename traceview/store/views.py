"""Opens a capture folder as a DuckDB connection with the public views.

Invariant: opening never changes what was recorded, and runs nothing that a capture brings along: views are those of
`queries/views`, over tables that were checked (`recorded.py`), on a connection that was confined before (`confine.py`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from traceview.errors import InputError, UsageError
from traceview.store import confine, graph, materialized, merged, recorded

if TYPE_CHECKING:
    from concurrent.futures import Future

    from traceview.classify.attribution import Run
    from traceview.ingest.options import Options

SMALL_ROWS = 300_000
"""Kernels, copies, primitives and operators up to which a capture is small; a larger one stays on disk."""

SIZED = frozenset(("raw.kernels", "raw.memcpys", "raw.primitives", "raw.ops"))
"""Whose rows are counted for that."""

LEAST_BYTES, ROW_BYTES, MOST_BYTES = 600_000_000, 40, 2_000_000_000
"""Memory with which it is tried to materialize views of a large capture: for each of its rows, within bounds. The rest
is spilled to disk, which takes a quarter more time (10 million kernels with 0.6 instead of 2 GB)."""

CLASSIFYING = "classifying kernels"
"""What is done when nothing about a capture is stored yet, as users are told."""

ATTRIBUTION = "attributed"
"""Stands among views for what `attribution` makes: the schemas `names` and `attributed`, which views join."""
ATTRIBUTED = ("conv_op", "inside_linear", "linear", "op", "part", "pass")
"""What of the schema `attributed` is read afterwards."""


def connect(folder: Path, asked: str | None = None, options: Options | None = None) -> duckdb.DuckDBPyConnection:
    """A confined connection with the capture's tables as `raw.*` and the public views, in a database in memory.

    `asked`: the text of the queries to come; then only what they rest on is made, which is sooner. Of the `options`
    threads and memory count: they cannot be set any more. Raises `InputError` when the folder is not a capture, or one
    of its files is damaged.
    """
    chosen = options.ranks if options else ()
    # What is materialized is of all ranks.
    found = None if chosen else materialized.find(folder)
    if options and options.query_bytes and not options.memory_bytes:
        options = replace(options, memory_bytes=options.query_bytes)
    connection = _confined(folder, options, materialized.readable(found) if found else ())
    try:
        given = materialized.tables(found) if found and materialized.attach(connection, found) else frozenset[str]()
        if options and options.device:
            # What is materialized was worked out without it, and what rests on it is worked out anew.
            connection.execute("SET VARIABLE device = $1", [options.device])
            given -= graph.reading("known_devices")
        needed = _resting_on(asked, given)
        made = [name for name in needed if name not in given]
        read = graph.sources(asked or "").union(*(_sources(name) for name in made))
        with _damage(folder):
            if not given:
                recorded.check(connection, folder, chosen)
            recorded.bind(connection, folder, None if asked is None or ATTRIBUTION in made else read | SIZED, chosen)
            known = given if asked is None else given & read.union(needed)
            _read_materialized(connection, sorted(known))
            # Where nothing could be stored, views over views would be planned again by each query, for minutes.
            _make(_runs(connection), made, _shared(made) if not found or _is_small(connection, made) else ())
    except BaseException:
        connection.close()
        raise
    return connection


def materialize(folder: Path, options: Options | None = None, asked: str | None = None) -> None:
    """Work out what queries rest on (all views when left out) and store it in this user's cache, if not there yet.

    Nothing is stored where nothing can be written, or where the capture is damaged: opening it says so. Nothing about
    some of the ranks is stored either.
    """
    if (options and options.ranks) or not _missing(materialized.find(folder), asked):
        return
    with contextlib.suppress(OSError, InputError, UsageError), materialized.lock(folder):
        # Another process may have been at work meanwhile.
        found = materialized.find(folder)
        missing = _missing(found, asked)
        if not missing:
            return
        shards = _of_shards(folder, missing, options)
        readable = [path for shard in shards for path in materialized.readable(shard)]
        with (
            materialized.making(folder, found) as file,
            _damage(folder),
            contextlib.closing(_confined(folder, options, readable, file)) as connection,
        ):
            recorded.check(connection, folder)
            recorded.bind(connection, folder)
            united = merged.unite(connection, shards) if shards else frozenset()
            is_attributed = any(name.startswith("attributed.") for name in united)
            left = [name for name in missing if name not in united and not (name == ATTRIBUTION and is_attributed)]
            _fill(connection, left, options, merged.UNITE_BYTES if united else None)
            materialized.note(file, connection)


def _of_shards(folder: Path, missing: Sequence[str], options: Options | None) -> list[Path]:
    """The databases of a job's shards with what is missing of it; none where it is in one piece, or one has none."""
    shards, asked = recorded.shards(folder), merged.asked(missing)
    # The tables of a job in one shard are those of the shard, and so is its database.
    if len(shards) < 2 or not asked:
        return []
    lacking = [shard for shard in shards if _missing(materialized.find(shard), asked)]
    if options and options.many and len(lacking) > 1:
        # In processes of their own: what a shard takes in memory is given back with its process.
        options.many.each(_materialize_shard, [(shard, asked) for shard in lacking], options)
    else:
        for shard in lacking:
            materialize(shard, options, asked)
    found = [materialized.find(shard) for shard in shards]
    return [file for file in found if file] if all(found) else []


def _materialize_shard(task: tuple[tuple[Path, str], Options]) -> None:
    (shard, asked), options = task
    materialize(shard, options, asked)


def read_rules(asked: str | None = None) -> None:
    """Read the rules that say what names mean, if queries need them: they can be read while a trace is converted."""
    if ATTRIBUTION in _resting_on(asked, ()):
        from traceview.classify.attribution import read_rules

        read_rules()


def _missing(found: Path | None, asked: str | None) -> list[str]:
    """What to make so that all that queries rest on and is worth it is materialized; nothing where it is."""
    given = materialized.tables(found) if found else frozenset[str]()
    made = [name for name in _resting_on(asked, given) if name not in given]
    return made if any(name == ATTRIBUTION or graph.is_materialized(name) for name in made) else []


def _resting_on(asked: str | None, given: Collection[str]) -> list[str]:
    """The views that queries rest on, all when left out, each after what it reads; the attribution before all."""
    asked = graph.all_of_them() if asked is None else asked
    views = graph.resting_on(asked, given)
    read = graph.sources(asked).union(*(_sources(view) for view in views if view not in given))
    is_attributed = "attributed.part" in given
    needs_it = any(_maker(source) == ATTRIBUTION for source in read)
    return [ATTRIBUTION, *views] if needs_it and not is_attributed else views


def _sources(name: str) -> frozenset[str]:
    return frozenset() if name == ATTRIBUTION else graph.sources(graph.text(name))


def _confined(
    folder: Path, options: Options | None, more: Iterable[Path] = (), database: Path | None = None
) -> duckdb.DuckDBPyConnection:
    files = (path for paths in recorded.files(folder, options.ranks if options else ()).values() for path in paths)
    return confine.connect([*files, *more], options, database)


def _fill(connection: duckdb.DuckDBPyConnection, made: list[str], options: Options | None, room: int | None) -> None:
    """Leave what of these is worth it in the database as tables, and nothing else. `room` is tried with first, or what
    suits the capture."""
    from traceview.ingest.memory import Held, LowMemory

    def entering(done: int) -> None:
        if options:
            options.enter(CLASSIFYING, done, len(made))

    tables = frozenset(name for name in made if name != ATTRIBUTION and graph.is_materialized(name))
    if _is_small(connection, made):
        _make_at_once(connection, made, tables, entering)
    else:
        held, run = Held(), _runs(connection)
        with LowMemory(connection, room or _room(connection)) as attempt:
            for done, name in enumerate(made):
                entering(done)
                # Query by query: what the ones before made stays where one is done again.
                _make(lambda *query: attempt(partial(run, *query)), [name], tables)
                held.give_back()
    for name in reversed(made):
        if name not in tables and name != ATTRIBUTION:
            connection.execute(f"DROP VIEW {name}")
    connection.execute("DROP SCHEMA raw CASCADE")


def _shared(made: Collection[str]) -> frozenset[str]:
    """What a small capture holds as tables in memory: of what is worth storing, that which another view reads."""
    read = frozenset[str]().union(*map(_sources, made))
    return frozenset(name for name in made if name in read and graph.is_materialized(name))


@contextlib.contextmanager
def _damage(folder: Path) -> Iterator[None]:
    """Turns what DuckDB says of a damaged file into a sentence; what it says of a query of ours stays."""
    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException):
        raise
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"not enough memory or disk for {folder} ({str(error).splitlines()[0]}); see --memory."
        ) from error
    except duckdb.Error as error:
        raise recorded.damage(folder, str(error).splitlines()[0]) from error


def _read_materialized(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    """What is materialized, under the names that it has where it is worked out."""
    for name in names:
        if "." in name:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0]}")
        connection.execute(f"CREATE VIEW {name} AS FROM {materialized.CATALOG}.{name}")


def _make(run: Run, names: Iterable[str], tables: Collection[str] = ()) -> None:
    for name in names:
        if name == ATTRIBUTION:
            _attribute(run)
        else:
            run(f"CREATE {'TABLE' if name in tables else 'VIEW'} {name} AS {graph.text(name)}")


def _attribute(run: Run) -> None:
    from traceview.classify.attribution import attribute

    attribute(run)
    for (table,) in run("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'attributed'"):
        if table not in ATTRIBUTED:
            run(f"DROP TABLE attributed.{table}")


def _runs(connection: duckdb.DuckDBPyConnection) -> Run:
    """What runs a query here, with its parameters, and gives its rows."""
    return lambda *query: connection.execute(*query).fetchall()


def _make_at_once(
    connection: duckdb.DuckDBPyConnection, made: Iterable[str], tables: Collection[str], entering: Callable[[int], None]
) -> None:
    """The same, and what they rest on, by two workers, each when it can be: to plan a small one takes longest."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    left = {name: partial(_make, names=[name], tables=tables) for name in made}
    needs = {name: {_maker(source) for source in _sources(name)} & left.keys() for name in left}
    with contextlib.closing(beside(connection)) as second, ThreadPoolExecutor(2) as pool:
        idle = [connection, second]
        begun: dict[Future[None], tuple[str, duckdb.DuckDBPyConnection]] = {}
        n_made = len(left)
        while left or begun:
            entering(n_made - len(left) - len(begun))
            for job in [job for job in left if not needs.get(job)][: len(idle)]:
                worker = idle.pop()
                begun[pool.submit(left.pop(job), _runs(worker))] = job, worker
            for work in wait(begun, return_when=FIRST_COMPLETED).done:
                work.result()
                made, worker = begun.pop(work)
                idle.append(worker)
                for sources in needs.values():
                    sources.discard(made)


def _maker(source: str) -> str:
    """Which of the things to make has what a view reads."""
    return ATTRIBUTION if source.startswith(("names.", "attributed.")) else source


def _is_small(connection: duckdb.DuckDBPyConnection, made: Iterable[str]) -> bool:
    """Whether a capture is small, if anything is to be made of it that costs more to ask for than to hold."""
    if not any(name == ATTRIBUTION or graph.is_materialized(name) for name in made):
        return False
    return _n_rows(connection) <= SMALL_ROWS


def _room(connection: duckdb.DuckDBPyConnection) -> int:
    return min(max(LEAST_BYTES, ROW_BYTES * _n_rows(connection)), MOST_BYTES)


def _n_rows(connection: duckdb.DuckDBPyConnection) -> int:
    counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in sorted(SIZED)]
    return sum(counts)


def beside(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """One more connection to the same capture, for another thread; temporary tables are those of each alone."""
    second = connection.cursor()
    for name in ("raw", "device"):
        second.execute(f"SET VARIABLE {name} = $1", connection.execute(f"SELECT getvariable('{name}')").fetchall()[0])
    return second


def has_room(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether two queries at once are sooner than one after the other: more than one thread, and a small capture."""
    threads = connection.execute("SELECT current_setting('threads')").fetchall()[0][0]
    return threads > 1 and _n_rows(connection) <= SMALL_ROWS
