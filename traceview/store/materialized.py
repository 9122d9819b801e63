"""What the rules say about a capture, kept beside it in one database file, so that it is worked out once.

The one law: the file is whole, and of these rules and this DuckDB, or it is not used and made again.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb

from traceview.errors import CORRUPT
from traceview.paths import digest, temporary_folder
from traceview.store import integrity

CATALOG = "kept"
"""The name of the file, and of the database that it is in a connection."""
PREFIX = "attribution"
RULES = (
    "classify/*.py",
    "classify/*.toml",
    "queries/attribution/*.sql",
    "queries/views/*.sql",
    "store/views.py",
    "store/materialized.py",
)
"""Everything that decides what a name or a call is, and how that is stored."""


def attach(connection: duckdb.DuckDBPyConnection, folder: Path) -> bool:
    """Attach what is kept of a capture as the database `kept`; whether there is any."""
    files = integrity.sealed(_place(folder))
    if files is None:
        return False
    try:
        connection.execute(f"ATTACH $1 AS {CATALOG} (READ_ONLY)", [str(files[CATALOG].absolute())])
    except duckdb.Error as error:  # A file system without locks, or out of memory: it can do without.
        if CORRUPT in str(error):
            forget(folder)
        return False
    return True


def is_there(folder: Path) -> bool:
    """Whether something whole is kept of a capture."""
    return integrity.sealed(_place(folder)) is not None


def forget(folder: Path) -> None:
    """Remove what is kept of a capture."""
    for place in folder.glob(f"{PREFIX}-*"):
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def making(folder: Path) -> Iterator[Path]:
    """The path of a database to fill, kept when all went well; what other rules made, or is damaged, goes.

    Where another process was first, its file stays. Raises `OSError` where nothing can be written.
    """
    place = _place(folder)
    with temporary_folder(f".{PREFIX}.", folder) as building:
        yield building / f"{CATALOG}.duckdb"
        integrity.seal(building)
        if integrity.sealed(place) is None:
            shutil.rmtree(place, ignore_errors=True)
        building.rename(place)
    for stale in folder.glob(f"{PREFIX}-*"):
        if stale != place:
            shutil.rmtree(stale)


def _place(folder: Path) -> Path:
    return folder / f"{PREFIX}-{_rules()}"


@cache
def _rules() -> str:
    return f"{digest(RULES)}-{duckdb.__version__}"
