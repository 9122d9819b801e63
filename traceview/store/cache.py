"""Folders that store the tables of a raw trace, what they depend on, and how they are written.

Invariant: what is on disk is whole or absent. Tables are built under another name and renamed; they carry the identity
of the files, the schema and the code that read them, and are made again when any of these differs.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from traceview.decode.files import files_in
from traceview.errors import InputError, UsageError
from traceview.paths import digest, own_folder, patterns, sweep, temporary_folder, user_cache
from traceview.store import integrity, recorded
from traceview.tables import SCHEMA_VERSION

CACHE_SUFFIX = ".traceview"
CONVERTERS = patterns("conversion")
"""Everything that turns a file into tables, and nothing that only shows them."""
NAME_BYTES, PATH_BYTES, NAME_CHARACTERS = 230, 3900, 40
"""Limits for the name of a cache beside its trace: a system takes 255 and 4095, and names within it are longer."""
RESULTS = ("sums", "left_out")
"""Keys for results of the conversion: check sums, and traces of a job that could not be read, with the reason."""
KEY_FILE = "converted.json"
"""Written last: a folder without it is not a capture."""


def place(path: Path, capture: Path | None = None) -> Path:
    """Beside the trace; in a folder of the user's own when that place cannot be written or its name gets too long.

    With the `capture` of its graphs a trace has other tables, in another folder. Raises `UsageError` where there is no
    such folder either.
    """
    path = path.resolve()
    mark = f"-{_short(capture.resolve())}" if capture else ""
    beside = path.parent / f"{path.name}{mark}{CACHE_SUFFIX}"
    fits = len(os.fsencode(beside.name)) <= NAME_BYTES and len(os.fsencode(beside)) <= PATH_BYTES
    # os.access is always true for root, so the mode is checked too.
    if fits and os.access(path.parent, os.W_OK) and path.parent.stat().st_mode & 0o222:
        return beside
    return _own() / "captures" / f"{path.name[:NAME_CHARACTERS]}-{_short(path)}{mark}{CACHE_SUFFIX}"


def _own() -> Path:
    """The user's cache, or a new private folder that is gone with the process."""
    try:
        return user_cache()
    except OSError:
        return _private()


@cache
def _private() -> Path:
    try:
        return _until_exit.enter_context(temporary_folder("traceview-private-"))
    except OSError as error:
        raise UsageError(
            "no folder can be written for the tables of this trace; set XDG_CACHE_HOME or TMPDIR to one of your own."
        ) from error


_until_exit = contextlib.ExitStack()
atexit.register(_until_exit.close)


@contextlib.contextmanager
def lock(target: Path) -> Iterator[None]:
    """One conversion of the same trace at a time; the lock dies with its process.

    Where there are no locks it goes on without: two at once do the same work, and the later result stays.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            file = own_folder(user_cache() / "locks") / f"{_short(target.resolve())}.lock"
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
            sweep(prefix(target), target.parent, young_seconds=0)
        yield


@contextlib.contextmanager
def building(target: Path, replaces: bool = False) -> Iterator[Path]:
    """A folder to fill that becomes `target` when all went well and disappears when it did not.

    Raises `UsageError` when somebody else was first, unless it `replaces` what is there. An empty folder is free.
    """
    with contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(temporary_folder(prefix(target), target.parent))
        except OSError as error:
            raise UsageError(f"cannot write to {target.parent}: {error.strerror}.") from error
        try:
            folder.chmod(0o755)
            yield folder
            while not _is_moved(folder, target):
                if not replaces:
                    raise UsageError(f"{target} exists already; choose another name with -o.")
                with contextlib.suppress(FileNotFoundError):
                    target.rename(stack.enter_context(temporary_folder(prefix(target), target.parent)) / "old")
        except OSError as error:
            raise InputError(f"cannot write {target}: {error.strerror}.") from error


def _is_moved(folder: Path, target: Path) -> bool:
    """Rename a folder, unless something stands there: the system says so in the same step, so that one of two wins."""
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            return False
        raise
    return True


def prefix(target: Path) -> str:
    """How the folders begin in which `target` is built."""
    return f".{target.name}.traceview-"


def read_key(folder: Path) -> dict[str, Any]:
    """Return the key that a folder of tables was made with; empty when it is not one."""
    return integrity.read_json(folder / KEY_FILE)


def write_key(folder: Path, key: dict[str, object]) -> None:
    """Complete a folder of tables: what it was made of and with, and a check sum of each table; shards have theirs."""
    shards = recorded.shards(folder)
    tables = (path for rank in recorded.ranks(folder) if rank.parent == folder for path in rank.glob("*.parquet"))
    sums = integrity.sums(folder, tables)
    for shard in shards:
        sums |= {f"{shard.name}/{name}": value for name, value in read_key(shard).get("sums", {}).items()}
    (folder / KEY_FILE).write_text(json.dumps({**key, "sums": sums}), encoding="utf-8")


def is_fresh(folder: Path, files: Sequence[Path], is_strict: bool = False) -> bool:
    """Whether a folder holds the tables of these files as they are now; if `is_strict`, read without any repair."""
    found = read_key(folder)
    names = found.get("beside")
    beside = [files[0].parent / Path(str(name)).name for name in names] if isinstance(names, list) else []
    now = key(files, beside, bool(found.get("strict")))
    is_same = bool(found) and {name: value for name, value in found.items() if name not in RESULTS} == now
    return is_same and (bool(now["strict"]) or not is_strict)


def key(files: Sequence[Path], beside: Sequence[Path] = (), is_strict: bool = False) -> dict[str, object]:
    """Return the key that a cache depends on: the files, the tables, and the code that reads one into the other.

    `beside`: where files may lie that are read instead of the only one. `is_strict`: damage was refused, not repaired.
    """
    return {
        "files": identity([*files, *beside]),
        "beside": [path.name for path in beside],
        "strict": is_strict,
        "schema": SCHEMA_VERSION,
        "code": _code(),
    }


def identity(files: Sequence[Path]) -> list[list[str | int]]:
    """Return facts that show whether traces are unchanged; a change that keeps size and modification time shows too."""
    found: list[list[str | int]] = []
    for trace in files:
        with contextlib.suppress(OSError, ValueError):  # Gone, so that the list is another one.
            for file in files_in(trace):
                status = file.stat()
                found.append([file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    return found


def contents(files: Sequence[Path]) -> dict[str, list[int | None]]:
    """Size, time of modification and check sum of each file of a folder, by name: a copy of the folder has them too."""
    found: dict[str, list[int | None]] = {}
    for file in files:
        status = file.stat()
        found[file.name] = [status.st_size, status.st_mtime_ns, *integrity.sums(file.parent, [file]).values()]
    return found


def is_same(noted: object, files: Sequence[Path]) -> bool:
    """Whether files are those whose `contents` were noted; true where nothing was. Noted files may be gone."""
    if not isinstance(noted, dict):
        return True
    for file in files:
        status, was = file.stat(), noted.get(file.name)
        if not isinstance(was, list) or was[:1] != [status.st_size]:
            return False
        if was[1:2] != [status.st_mtime_ns] and [*integrity.sums(file.parent, [file]).values()] != was[2:]:
            return False
    return True


@contextlib.contextmanager
def unchanged(files: Sequence[Path]) -> Iterator[None]:
    """Raises `InputError` where a trace was written to while it was read, whatever the result of reading it."""
    before = [identity([file]) for file in files]
    try:
        yield
    except (OSError, InputError) as error:
        _check(files, before, error)
        raise
    _check(files, before)


def _check(files: Sequence[Path], before: Sequence[object], error: Exception | None = None) -> None:
    for file, was in zip(files, before, strict=True):
        if identity([file]) != was:
            raise InputError(f"{file} changed while it was read; try again when nothing writes to it.") from error


@cache
def _code() -> str:
    return digest(CONVERTERS)


def _short(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]
