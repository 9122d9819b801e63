"""Opens a capture folder as a DuckDB connection with the public views.

The one law: opening never changes what was recorded; a locked connection sees the files of the capture and no others.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import duckdb

from traceview import scratch
from traceview.errors import InputError
from traceview.paths import PACKAGE, content, digest, literal
from traceview.tables import TABLES

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
    "busy",
    "step_times",
    "steps",
    "scope",
    "counted",
    "layers",
    "conv_shapes",
    "conv_calls",
    "counted_conv_calls",
    "device_peaks",
    "conv_methods",
    "conv_costs",
    "conv_admissible",
    "conv_floors",
    "matmul_shapes",
    "conv_trials",
    "exchanges",
    "input_gradients",
    "removable",
    "op_totals",
    "launch_totals",
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
        "counted",
        "layers",
        "conv_shapes",
        "conv_calls",
        "counted_conv_calls",
    )
)
"""Views that a small capture holds as tables: a report asks them many times, and asking costs more than holding."""

SMALL_ROWS = 300_000
"""Kernels, copies, primitives and operators up to which a capture is small; a larger one stays on disk."""

KEPT = HELD | frozenset(
    ("conv_methods", "conv_costs", "conv_trials", "exchanges", "op_totals", "launch_totals", "windows")
)
"""Views that are kept beside a large capture, because working them out takes longer than reading them."""

_COMMENT = re.compile(r"--[^\n]*")
_SOURCE = re.compile(r"(?i)\b(?:FROM|JOIN)\s+([a-z_]+)\b(?!\s*\.)")
ATTRIBUTION = "attribution"
ATTRIBUTED = (
    "names.kernel",
    "names.op",
    "names.primitive",
    "names.algorithm",
    "names.tendency",
    "attributed.conv_op",
    "attributed.op",
    "attributed.part",
)
"""What `attribution` makes and views join."""

QUALITY = "quality"
"""Under every report, and kept beside every capture: a small result of much work on nothing but the recorded tables."""

OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""Settings of every connection: machines are offline, so an extension is never fetched."""


def connect(folder: Path, asked: str | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to an in-memory database with the capture's tables as `raw.*` and the public views.

    `asked`: the text of the queries to come; then only the views that they rest on are made, which is sooner.
    Raises `InputError` when the folder is no capture or one of its files is damaged.
    """
    ranks = sorted(path for path in folder.glob("rank-*") if path.is_dir())
    if not ranks:
        raise InputError(f"{folder} is no capture: it has no rank-* folder.")
    connection = duckdb.connect(":memory:", config=OFFLINE)
    connection.execute("CREATE SCHEMA raw")
    plain = [str(rank / f"{table.name}.parquet") for rank in ranks for table in TABLES]
    connection.execute("SET VARIABLE raw_files = $1", [plain])
    try:
        for table in TABLES:
            files = [literal(rank / f"{table.name}.parquet") for rank in ranks]
            # A variable, because a view cannot be prepared; SQL is never put together from a path.
            connection.execute(f"SET VARIABLE raw_{table.name} = $1", [files])
            connection.execute(
                f"CREATE VIEW raw.{table.name} AS SELECT * FROM read_parquet(getvariable('raw_{table.name}'))"
            )
        if not _load_attribution(connection, folder):
            from traceview.attribution import attribute

            attribute(connection)
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException):
        raise
    except duckdb.Error as error:
        raise InputError(f"{folder} is damaged ({str(error).splitlines()[0]}); convert it again.") from error
    kept = _kept_views(folder)
    held = HELD if _is_small(connection) else frozenset()
    for view in VIEWS if asked is None else resting_on(asked, kept.keys()):
        if view in kept:
            _read_kept(connection, view, kept[view])
        else:
            connection.execute(f"CREATE {'TABLE' if view in held else 'VIEW'} {view} AS {_view(view)}")
    return connection


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


def _sources(text: str) -> set[str]:
    return set(_SOURCE.findall(_COMMENT.sub("", text)))


def _view(name: str) -> str:
    return (content("queries") / "views" / f"{name}.sql").read_text(encoding="utf-8")


def keep(connection: duckdb.DuckDBPyConnection, folder: Path) -> bool:
    """Keep what the rules say about a capture beside its tables, so that it is worked out once.

    Of a large capture its views are kept too. The folder's name carries a hash of the rules: others replace it. Nothing
    is kept where nothing can be written. Returns whether a new connection finds views that this one does not.
    """
    place = _place(folder)
    try:
        if scratch.sealed(place) is None:
            with _building(folder, place) as building:
                for table in ATTRIBUTED:
                    _copy(connection, f"FROM {table}", building / f"{table}.parquet")
                _copy(connection, _view(QUALITY), building / f"{QUALITY}.parquet")
            for stale in folder.glob(f"{ATTRIBUTION}-*"):
                if stale != place:
                    shutil.rmtree(stale)
        if _is_small(connection) or scratch.sealed(place / "views") is not None:
            return False
        with _building(place, place / "views") as building, connect(folder) as views:
            views.execute("SET temp_directory = $1", [str(building / "spill")])
            for view in VIEWS:
                if view in KEPT:
                    _copy(views, f"FROM {view}", building / f"{view}.parquet")
                    # What rests on it is made of the file, which is faster, and of nothing that may not be there.
                    _read_kept(views, view, building / f"{view}.parquet")
            shutil.rmtree(building / "spill", ignore_errors=True)
    except (OSError, duckdb.IOException):
        return False
    return True


@contextlib.contextmanager
def _building(parent: Path, place: Path) -> Iterator[Path]:
    """A folder to fill that becomes `place`, sealed, when all went well; what is damaged there goes.

    Where another process was first, its folder stays and this one cannot be renamed.
    """
    with scratch.folder(f".{ATTRIBUTION}.", parent) as building:
        yield building
        scratch.seal(building)
        if scratch.sealed(place) is None:
            shutil.rmtree(place, ignore_errors=True)
        building.rename(place)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, file: Path) -> None:
    # Parquet has no integers of 128 bits, which sums are: they would come back as doubles.
    described = connection.execute(f"DESCRIBE {query}").fetchall()
    sums = ", ".join(f"{name}::BIGINT AS {name}" for name, kind, *_ in described if kind == "HUGEINT")
    replaced = f"REPLACE ({sums})" if sums else ""
    connection.execute(f"COPY (SELECT * {replaced} FROM ({query}\n)) TO $path (FORMAT parquet)", {"path": str(file)})


def _read_kept(connection: duckdb.DuckDBPyConnection, name: str, file: Path, kind: str = "VIEW") -> None:
    variable = "kept_" + name.replace(".", "_")
    connection.execute(f"SET VARIABLE {variable} = $1", [literal(file)])
    if kind == "VIEW":
        connection.execute("SET VARIABLE raw_files = list_append(getvariable('raw_files'), $1)", [str(file)])
    connection.execute(f"CREATE OR REPLACE {kind} {name} AS SELECT * FROM read_parquet(getvariable('{variable}'))")


def _kept_views(folder: Path) -> dict[str, Path]:
    place = _place(folder)
    kept = scratch.sealed(place)
    if kept is None:
        return {}
    return {QUALITY: kept[QUALITY]} | (scratch.sealed(place / "views") or {})


def _place(folder: Path) -> Path:
    return folder / f"{ATTRIBUTION}-{_rules()}"


def _load_attribution(connection: duckdb.DuckDBPyConnection, folder: Path) -> bool:
    kept = scratch.sealed(_place(folder))
    if kept is None:
        return False
    files = {table: kept[table] for table in ATTRIBUTED}
    connection.execute("CREATE SCHEMA names")
    connection.execute("CREATE SCHEMA attributed")
    is_small = _is_small(connection)
    for table, file in files.items():
        _read_kept(connection, table, file, "TABLE" if is_small else "VIEW")
    return True


@cache
def _rules() -> str:
    """A hash of everything that decides what a name or a call is."""
    rules = [path for path in (PACKAGE / "classify").iterdir() if path.suffix in (".py", ".toml")]
    views = (content("queries") / "views").glob("*.sql")
    return digest([*rules, PACKAGE / "attribution.py", *(content("queries") / "attribution").glob("*.sql"), *views])


def _is_small(connection: duckdb.DuckDBPyConnection) -> bool:
    counts = [
        connection.execute(f"SELECT count(*) FROM raw.{table}").fetchall()[0][0]
        for table in ("kernels", "memcpys", "primitives", "ops")
    ]
    return bool(sum(counts) <= SMALL_ROWS)


def lock(connection: duckdb.DuckDBPyConnection, spill: Path | None = None) -> None:
    """Leave the connection able to read the capture's own files and to touch nothing else of the machine.

    `spill`: an empty folder for what does not fit memory, which queries can read too; none when left out.
    """
    files = connection.execute("SELECT getvariable('raw_files')").fetchall()[0][0]
    # By default a locked connection may still touch a spill folder in the current one.
    connection.execute("SET temp_directory = $1", [str(spill) if spill else ""])
    # A file with a bracket in its path is asked for by a pattern that means only itself, and has to be allowed as both.
    connection.execute("SET allowed_paths = $1", [[*files, *(literal(Path(file)) for file in files)]])
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
