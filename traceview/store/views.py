"""Opens a capture folder as a DuckDB connection with the public views.

Invariant: opening never changes what was recorded, and runs nothing that a capture brings along: views are those of
`queries/views`, over tables that were checked (`recorded.py`), on a connection that was confined before (`confine.py`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from traceview.classify import facts
from traceview.errors import InputError
from traceview.paths import content
from traceview.store import confine, materialized, recorded

if TYPE_CHECKING:
    from concurrent.futures import Future

    from traceview.ingest.options import Options

VIEWS = (
    "links",
    "counters",
    "events",
    "summaries",
    "layer_times",
    "ranks",
    "devices",
    "captures",
    "processes",
    "kernels",
    "memcpys",
    "primitives",
    "ops",
    "ranges",
    "api_calls",
    "collectives",
    "quality",
    "host_activities",
    "host_rows",
    "activities",
    "step_times",
    "stretches",
    "steps",
    "scope",
    "conv_shapes",
    "busy",
    "counted",
    "totals",
    "recorded",
    "layers",
    "conv_calls",
    "counted_conv_calls",
    "device_peaks",
    "conv_methods",
    "conv_costs",
    "conv_totals",
    "conv_admissible",
    "conv_floors",
    "matmul_shapes",
    "conv_trials",
    "exchanges",
    "input_gradients",
    "unfused",
    "late_launches",
    "removable",
    "op_totals",
    "launch_totals",
    "range_totals",
    "windows",
)
"""Every view in `queries/views`, each after the ones it rests on."""

HELD = frozenset(
    (
        "kernels",
        "memcpys",
        "primitives",
        "host_rows",
        "busy",
        "step_times",
        "steps",
        "scope",
        "layers",
        "conv_shapes",
        "conv_calls",
        "counted_conv_calls",
    )
)
"""Views that a small capture holds as tables: a report asks them many times, and asking costs more than holding."""

SMALL_ROWS = 300_000
"""Kernels, copies, primitives and operators up to which a capture is small; a larger one stays on disk."""

KEEP_BYTES = 600_000_000
"""Memory with which it is tried to work out what is kept of a large capture; the rest waits on disk."""

KEPT = HELD | frozenset(
    (
        "ranks",
        "devices",
        "captures",
        "summaries",
        "layer_times",
        "quality",
        "totals",
        "recorded",
        "conv_methods",
        "conv_costs",
        "conv_totals",
        "conv_trials",
        "exchanges",
        "op_totals",
        "launch_totals",
        "range_totals",
        "removable",
        "windows",
    )
)
"""Views that are kept of a capture, because working them out takes longer than reading them."""

_COMMENT = re.compile(r"--[^\n]*")
_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+([a-z_]+(?:\.[a-z_]+)?)\b")
ATTRIBUTED = (
    "names.kernel",
    "names.op",
    "names.primitive",
    *(f"names.{name}" for name in facts.TABLES),
    "attributed.conv_op",
    "attributed.op",
    "attributed.part",
)
"""What `attribution` makes and views join."""


def connect(folder: Path, asked: str | None = None, options: Options | None = None) -> duckdb.DuckDBPyConnection:
    """A confined connection with the capture's tables as `raw.*` and the public views, in a database in memory.

    `asked`: the text of the queries to come; then only what they rest on is made, which is sooner. Of the `options`
    threads and memory count: they cannot be set any more. Raises `InputError` when the folder is not a capture, or one
    of its files is damaged.
    """
    found = materialized.find(folder)
    connection = _confined(folder, options, materialized.readable(found) if found else ())
    try:
        given = KEPT if found and materialized.attach(connection, found) else frozenset[str]()
        wanted = list(VIEWS) if asked is None else resting_on(asked, given)
        made = [view for view in wanted if view not in given]
        with _damage(folder):
            if given:
                sources = None if asked is None else _sources(asked).union(*(_sources(_view(view)) for view in made))
                recorded.bind(connection, folder, sources)
                _read_kept(connection, [view for view in wanted if view in given], sources)
            else:
                recorded.check(connection, folder)
                recorded.bind(connection, folder)
                _attribute(connection)
            _make(connection, made, HELD if not given and _is_small(connection) else ())
    except BaseException:
        connection.close()
        raise
    return connection


def keep(folder: Path, options: Options | None = None) -> None:
    """Keep what the rules say about a capture in this user's cache, so that it is worked out once.

    Nothing is kept where nothing can be written, or where the capture is damaged: opening it says so.
    """
    if materialized.find(folder):
        return
    with (
        contextlib.suppress(OSError, InputError),
        materialized.making(folder) as file,
        _damage(folder),
        contextlib.closing(_confined(folder, options, database=file)) as connection,
    ):
        recorded.check(connection, folder)
        recorded.bind(connection, folder)
        _fill(connection)


def _confined(
    folder: Path, options: Options | None, more: Iterable[Path] = (), database: Path | None = None
) -> duckdb.DuckDBPyConnection:
    files = (path for paths in recorded.files(folder).values() for path in paths)
    return confine.connect([*files, *more], options, database)


def _fill(connection: duckdb.DuckDBPyConnection) -> None:
    """Leave what is kept of a capture in the database as tables, and nothing else."""
    from traceview.ingest.memory import Sparing

    views = resting_on(" ".join(f"FROM {view}" for view in KEPT))
    if _is_small(connection):
        _make_at_once(connection, views, KEPT)
    else:
        with Sparing(connection, KEEP_BYTES) as attempt:
            attempt(partial(_all_or_nothing, connection, _attribute))
            for view in views:
                attempt(partial(_make, connection, [view], KEPT))
    for view in views:
        if view not in KEPT:
            connection.execute(f"DROP VIEW {view}")
    connection.execute("DROP SCHEMA raw CASCADE")


def resting_on(text: str, given: Collection[str] = ()) -> list[str]:
    """The views that queries rest on, directly or through another view, each after what it uses.

    Those `given` rest on nothing.
    """
    needed: set[str] = set()
    used = _sources(text)
    for view in reversed(VIEWS):
        if view in used:
            needed.add(view)
            used |= set() if view in given else _sources(_view(view))
    return [view for view in VIEWS if view in needed]


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


def _sources(text: str) -> set[str]:
    return {name.lower() for name in _SOURCE.findall(_COMMENT.sub("", text))}


def _view(name: str) -> str:
    return (content("queries") / "views" / f"{name}.sql").read_text(encoding="utf-8")


def _read_kept(connection: duckdb.DuckDBPyConnection, views: Iterable[str], sources: Collection[str] | None) -> None:
    """What is kept, under the names that it has where it is worked out."""
    tables = [table for table in ATTRIBUTED if sources is None or table in sources]
    for schema in {table.split(".")[0] for table in tables}:
        connection.execute(f"CREATE SCHEMA {schema}")
    for name in [*tables, *(view for view in views if view in KEPT)]:
        connection.execute(f"CREATE VIEW {name} AS FROM {materialized.CATALOG}.{name}")


def _attribute(connection: duckdb.DuckDBPyConnection) -> None:
    from traceview.classify.attribution import attribute

    attribute(connection)
    for schema, table in connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name = 'attributed'"
    ).fetchall():
        if f"{schema}.{table}" not in ATTRIBUTED:
            connection.execute(f"DROP TABLE {schema}.{table}")


def _all_or_nothing(connection: duckdb.DuckDBPyConnection, work: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
    """Do work that makes several tables; where it fails none of them is left, and it can be done again."""
    connection.begin()
    try:
        work(connection)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _make(connection: duckdb.DuckDBPyConnection, views: Iterable[str], tables: Collection[str] = ()) -> None:
    for view in views:
        connection.execute(f"CREATE {'TABLE' if view in tables else 'VIEW'} {view} AS {_view(view)}")


def _make_at_once(connection: duckdb.DuckDBPyConnection, views: Iterable[str], tables: Collection[str]) -> None:
    """The same, and what they rest on, by two workers, each when it can be: to plan a small one takes longest."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    left: dict[str, Callable[[duckdb.DuckDBPyConnection], None]] = {"attributed": _attribute}
    left |= {view: partial(_make, views=[view], tables=tables) for view in views}
    needs = {
        view: {"attributed" if source in ATTRIBUTED else source for source in _sources(_view(view))} & left.keys()
        for view in views
    }
    files = connection.execute("SELECT getvariable('raw')").fetchall()[0]
    with contextlib.closing(connection.cursor()) as second, ThreadPoolExecutor(2) as pool:
        second.execute("SET VARIABLE raw = $1", files)
        idle = [connection, second]
        begun: dict[Future[None], tuple[str, duckdb.DuckDBPyConnection]] = {}
        while left or begun:
            for job in [job for job in left if not needs.get(job)][: len(idle)]:
                worker = idle.pop()
                begun[pool.submit(left.pop(job), worker)] = job, worker
            for work in wait(begun, return_when=FIRST_COMPLETED).done:
                work.result()
                made, worker = begun.pop(work)
                idle.append(worker)
                for sources in needs.values():
                    sources.discard(made)


def _is_small(connection: duckdb.DuckDBPyConnection) -> bool:
    counts = [
        connection.execute(f"SELECT count(*) FROM raw.{table}").fetchall()[0][0]
        for table in ("kernels", "memcpys", "primitives", "ops")
    ]
    return bool(sum(counts) <= SMALL_ROWS)
