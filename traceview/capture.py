"""Opens a capture folder as a DuckDB connection with the public views.

The one law: opening reads and never writes; a locked connection sees the capture's files and nothing else.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from traceview.attribution import attribute
from traceview.errors import InputError
from traceview.paths import content
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
    "matmul_shapes",
    "conv_trials",
    "exchanges",
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

OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""Settings of every connection: machines are offline, so an extension is never fetched."""


def connect(folder: Path) -> duckdb.DuckDBPyConnection:
    """A connection to an in-memory database with the capture's tables as `raw.*` and the public views.

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
            files = [_literal(rank / f"{table.name}.parquet") for rank in ranks]
            # A variable, because a view cannot be prepared; SQL is never put together from a path.
            connection.execute(f"SET VARIABLE raw_{table.name} = $1", [files])
            connection.execute(
                f"CREATE VIEW raw.{table.name} AS SELECT * FROM read_parquet(getvariable('raw_{table.name}'))"
            )
        attribute(connection)
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException):
        raise
    except duckdb.Error as error:
        raise InputError(f"{folder} is damaged ({str(error).splitlines()[0]}); convert it again.") from error
    held = HELD if _is_small(connection) else frozenset()
    for view in VIEWS:
        text = (content("queries") / "views" / f"{view}.sql").read_text(encoding="utf-8")
        connection.execute(f"CREATE {'TABLE' if view in held else 'VIEW'} {view} AS {text}")
    return connection


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
    connection.execute("SET allowed_paths = $1", [files])
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
