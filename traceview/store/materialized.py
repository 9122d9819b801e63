"""Materialized views of a capture, in one database file of this user, so that they are computed once.

Invariant: nothing that comes with a capture is taken for it. The file lies in the user's own cache, under a name made
of the capture's files, these rules and this DuckDB; it is whole, or it is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path

import duckdb

from traceview.errors import CORRUPT, InputError
from traceview.paths import digest, own_folder, temporary_folder, user_cache
from traceview.store import cache, integrity, recorded

TABLES = "tables.json"
"""Beside the database: what it holds, and how many rows."""
CATALOG = "materialized"
"""The name of the file, and of the database that it is in a connection."""
RULES = (
    "classify/*.py",
    "classify/*.toml",
    "queries/attribution/*.sql",
    "queries/views/*.sql",
    "store/views.py",
    "store/graph.py",
    "store/confine.py",
    "store/recorded.py",
    "store/materialized.py",
    "store/merged.py",
    "sql.py",
    "tables.py",
    "experiment_tables.py",
)
"""Everything that decides what a name or a call is, and how that is stored."""
DAYS = 30
"""What no command has used for so long is removed when the next is made."""
BYTES = 10_000_000_000
"""What all may take together; those that were used longest ago are removed first."""
_DAY_SECONDS = 24 * 3600


def find(folder: Path) -> Path | None:
    """The whole database of a capture; None where there is none."""
    with contextlib.suppress(OSError):
        files = integrity.sealed(_place(folder))
        if files is not None and CATALOG in files:
            return files[CATALOG]
    return None


def readable(file: Path) -> list[Path]:
    """What a connection has to be allowed to read for `attach`: DuckDB also looks for changes beside the file."""
    return [file, file.with_name(f"{file.name}.wal")]


def attach(connection: duckdb.DuckDBPyConnection, file: Path) -> bool:
    """Attach a database as `materialized`; whether it can be used."""
    try:
        connection.execute(f"ATTACH $1 AS {CATALOG} (READ_ONLY)", [str(file)])
    except duckdb.Error as error:  # A file system without locks, or out of memory: it can do without.
        if CORRUPT in str(error):
            shutil.rmtree(file.parent, ignore_errors=True)
        return False
    with contextlib.suppress(OSError):
        os.utime(file.parent)
    return True


def forget(folder: Path) -> None:
    """Remove what is materialized of a capture; nothing where the folder is none."""
    with contextlib.suppress(OSError, InputError):
        shutil.rmtree(_place(folder), ignore_errors=True)


def tables(file: Path) -> frozenset[str]:
    """What a database holds: views by name, and tables of other schemas as SCHEMA.NAME."""
    return frozenset(integrity.read_json(file.with_name(TABLES)))


def note(file: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Write down what a database holds, when it is complete, so that this is known before it is attached."""
    query = "SELECT if(schema_name = 'main', '', schema_name || '.') || table_name, estimated_size FROM duckdb_tables()"
    file.with_name(TABLES).write_text(json.dumps(dict(connection.execute(query).fetchall())), encoding="utf-8")


def lock(folder: Path) -> contextlib.AbstractContextManager[None]:
    """One process at a time adds views of a capture; the lock dies with its process. Raises as `making`."""
    return cache.lock(_place(folder))


@contextlib.contextmanager
def making(folder: Path, found: Path | None = None) -> Iterator[Path]:
    """The path of a database to fill, which replaces the one `found` when all went well, and begins as its copy.

    Who has that one open reads on. What has not been used for long makes room. Raises `OSError` where nothing can be
    written.
    """
    place = _place(folder)
    with contextlib.ExitStack() as stack:
        building = stack.enter_context(temporary_folder(".making-", place.parent))
        file = building / f"{CATALOG}.duckdb"
        if found:
            shutil.copyfile(found, file)
        yield file
        integrity.seal(building)
        if place.exists():
            place.rename(stack.enter_context(temporary_folder(".making-", place.parent)) / "old")
        building.rename(place)
    make_room(place, BYTES)


def _place(folder: Path) -> Path:
    """Where the database of a capture lies. Raises `OSError` without a cache, `InputError` if it is not a capture."""
    parent = own_folder(user_cache() / "materialized")
    key = hashlib.sha256(f"{_rules()} {recorded.identity(folder)}".encode())
    return parent / key.hexdigest()[:32]


def make_room(newest: Path, most_bytes: int) -> None:
    """Remove folders beside `newest` that have not been used for long, or are too much together; that one stays."""
    n_bytes, now = 0, time.time()
    with os.scandir(newest.parent) as entries:
        places = [(_used(entry), entry) for entry in entries if not entry.name.startswith(".")]
    for used, place in sorted(places, key=lambda each: (each[1].name == newest.name, each[0]), reverse=True):
        with contextlib.suppress(OSError), os.scandir(place) as files:
            n_bytes += sum(file.stat(follow_symlinks=False).st_size for file in files)
        is_old = now - used > DAYS * _DAY_SECONDS
        if place.name != newest.name and (is_old or n_bytes > most_bytes):
            shutil.rmtree(place, ignore_errors=True)


def _used(place: os.DirEntry[str]) -> float:
    """When a database was last attached; long ago where it is gone already."""
    try:
        return place.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


@once
def _rules() -> str:
    return f"{digest(RULES)}-{duckdb.__version__}"
