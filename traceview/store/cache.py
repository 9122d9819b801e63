"""Where the tables of a raw trace are kept, what they depend on, and how they are written.

Invariant: what is on disk is whole or absent. Tables are built under another name and renamed; they carry the identity
of the files, the schema and the code that read them, and are made again when any of these differs.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from traceview.decode.files import files_in
from traceview.errors import InputError, UsageError
from traceview.paths import digest, temporary_folder
from traceview.store import integrity
from traceview.tables import SCHEMA_VERSION

CACHE_SUFFIX = ".traceview"
CONVERTERS = (
    "readers/*.py",
    "readers/*.csv",
    "decode/*.py",
    "ingest/**/*.py",
    "store/conversion.py",
    "store/discovery.py",
    "tables.py",
    "sql.py",
    "queries/ingest/**/*.sql",
    "queries/derive/**/*.sql",
)
"""Everything that turns a file into tables, and nothing that only shows them."""
KEY_FILE = "converted.json"
"""Written last: a folder without it is not a capture."""


def place(path: Path) -> Path:
    """Beside the trace; in the user's cache folder when that place cannot be written."""
    path = path.resolve()
    # To root everything is writable: a folder that nobody may write to is left alone all the same.
    if os.access(path.parent, os.W_OK) and path.parent.stat().st_mode & 0o222:
        return path.parent / f"{path.name}{CACHE_SUFFIX}"
    return user_cache() / "captures" / f"{path.name}-{_short(path)}{CACHE_SUFFIX}"


def user_cache() -> Path:
    """The folder in which this user's results are kept, where they cannot lie beside the trace."""
    root = os.environ.get("XDG_CACHE_HOME")
    home = Path(root) if root else Path.home() / ".cache"
    candidate = home / "traceview"
    try:
        candidate.mkdir(parents=True, exist_ok=True)
        if os.access(candidate, os.W_OK):
            return candidate
    except OSError:
        pass
    fallback = Path(tempfile.gettempdir()) / f"traceview-{os.getuid()}"
    fallback.mkdir(mode=0o700, exist_ok=True)
    return fallback


@contextlib.contextmanager
def lock(target: Path) -> Iterator[None]:
    """One conversion of the same trace at a time; the lock dies with its process."""
    locks = user_cache() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / f"{_short(target)}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise UsageError(f"cannot lock a file in {locks}: {error.strerror}; set XDG_CACHE_HOME.") from error
        yield


@contextlib.contextmanager
def building(target: Path) -> Iterator[Path]:
    """A folder to fill that becomes `target` when all went well and disappears when it did not."""
    prefix = f".{target.name}.traceview-"
    with contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(temporary_folder(prefix, target.parent))
        except OSError as error:
            raise UsageError(f"cannot write to {target.parent}: {error.strerror}.") from error
        try:
            folder.chmod(0o755)
            yield folder
            if target.exists():
                target.rename(stack.enter_context(temporary_folder(prefix, target.parent)) / "old")
            folder.rename(target)
        except OSError as error:
            raise InputError(f"cannot write {target}: {error.strerror}.") from error


def sweep(target: Path) -> None:
    """Remove what killed conversions of this trace left behind; the lock is held, so nobody else is at work."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*"):
        shutil.rmtree(left, ignore_errors=True)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a small file of ours; empty when it is absent or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_key(folder: Path) -> dict[str, Any]:
    """What a folder of tables was made of and with; empty when it is not one."""
    return read_json(folder / KEY_FILE)


def write_key(folder: Path, files: Sequence[Path]) -> None:
    """Complete a folder of tables: what it was made of and with, and a check sum of each table."""
    sums = integrity.sums(folder, folder.glob("rank-*/*.parquet"))
    (folder / KEY_FILE).write_text(json.dumps({**key(files), "sums": sums}), encoding="utf-8")


def is_fresh(folder: Path, files: Sequence[Path]) -> bool:
    """Whether a folder holds the tables of these files as they are now."""
    found = read_key(folder)
    return bool(found) and {name: value for name, value in found.items() if name != "sums"} == key(files)


def key(files: Sequence[Path]) -> dict[str, object]:
    """What a cache depends on: the files, the tables, and the code that reads one into the other."""
    identity = []
    for file in [inner for trace in files for inner in files_in(trace)]:
        status = file.stat()
        identity.append([file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    return {"files": identity, "schema": SCHEMA_VERSION, "code": _code()}


@cache
def _code() -> str:
    return digest(CONVERTERS)


def _short(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]
