"""A capture: make one out of trace files, and open one as a DuckDB connection with the public views.

The one law: what is on disk is whole or absent. A capture is built under another name and renamed; a cache beside a raw
trace carries the identity of the file, the schema and the code that read it, and is rebuilt when any of them differs.
What converts is imported only when something is converted: a cached trace opens without it.
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
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from traceview.decode.files import files_in, peek
from traceview.errors import InputError, UsageError
from traceview.ingest.options import Options as Options
from traceview.paths import PACKAGE, content, digest, temporary_folder
from traceview.store import integrity, materialized, views
from traceview.tables import SCHEMA_VERSION

if TYPE_CHECKING:
    import duckdb

CACHE_SUFFIX = ".traceview"
CONVERTERS = ("readers/*", "decode/*.py", "ingest/**/*.py", "store/conversion.py", "tables.py", "sql.py")
KEY_FILE = "converted.json"
"""Written last: a folder without it is no capture."""


def convert(inputs: Sequence[Path], target: Path, options: Options | None = None) -> Path:
    """Read trace files (or folders of them) into a new capture folder.

    Raises `UsageError` when the folder exists and is not empty, `InputError` when no file can be read.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already; choose another name with -o.")
    _check_name(target)
    from traceview.store.conversion import group_by_rank, read_groups, sources_of

    groups = group_by_rank(sources_of([file for path in inputs for file in trace_files(path)]))
    with _building(target) as folder:
        read_groups(groups, folder, options or Options())
        _write_key(folder, [source.path for group in groups for source in group.sources])
    return target


def convert_raw(folder: Path, options: Options | None = None) -> Path:
    """Read the files in `capture/raw` into `capture/rank-NNNN`, one for each process."""
    from traceview.store.conversion import group_raw, read_groups

    files = [path for path in sorted((folder / "raw").iterdir()) if path.is_file()]
    traces = {path: _reader(path) for path in files if not path.name.endswith((".meta.json", ".tmp"))}
    if not traces:
        raise InputError(f"{folder}/raw holds no trace.")
    wanted = [path for path, reader in traces.items() if reader is None or not _has_better(path, reader, traces)]
    groups = group_raw(wanted, _read_json(folder / "capture.json"))
    (folder / KEY_FILE).unlink(missing_ok=True)
    for stale in [*folder.glob("rank-*"), folder / "converted"]:
        shutil.rmtree(stale, ignore_errors=True)
    with _building(folder / "converted") as built:
        read_groups(groups, built, options or Options())
        _write_key(built, [])
    for part in sorted((folder / "converted").iterdir(), key=lambda path: path.name == KEY_FILE):
        part.rename(folder / part.name)
    (folder / "converted").rmdir()
    return folder


def resolve(path: Path, options: Options | None = None) -> Path:
    """The capture folder behind any input: a capture, a trace file or a folder of traces, converted if need be."""
    _check_name(path)
    has_raw = (path / "raw").is_dir() and (path / "capture.json").exists()
    if is_capture(path):
        if _read_key(path).get("schema") == SCHEMA_VERSION:
            return path
        if not has_raw:
            raise InputError(f"{path} was written by another version of traceview; convert its trace again.")
    if has_raw:
        with _lock(path.resolve()):
            is_done = is_capture(path) and _read_key(path).get("schema") == SCHEMA_VERSION
            return path if is_done else convert_raw(path, options)
    files = trace_files(path)
    cache = _cache_place(path)
    if _is_fresh(cache, files):
        return cache
    with _lock(cache):
        if _is_fresh(cache, files):
            return cache
        from traceview.store.conversion import group_by_rank, read_groups, sources_of

        _sweep(cache)
        groups = group_by_rank(sources_of(files))
        with _building(cache) as folder:
            read_groups(groups, folder, options or Options())
            _write_key(folder, files)
    return cache


def open_capture(path: Path, options: Options | None = None, asked: str | None = None) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the public views over any input, converted on the way if need be.

    `asked`: the text of the queries to come, when it is known; only the views they rest on are made.
    """
    folder = resolve(path, options)
    if not materialized.is_there(folder):
        folder = _whole(path, folder, options)
        views.keep(folder, options)
    return views.connect(folder, asked)


def forget(path: Path) -> None:
    """Remove what is kept of an input, whether it is a capture or a trace: the next report works it out again."""
    for folder in (path, _cache_place(path)):
        materialized.forget(folder)


def _whole(path: Path, folder: Path, options: Options | None) -> Path:
    """The capture of an input, read once more where its files are not what was written. Parquet has no checksums."""
    damaged = integrity.damaged(folder, _read_key(folder).get("sums"))
    if not damaged:
        return folder
    if folder == path and not (path / "raw").is_dir():
        raise InputError(f"{path} is damaged ({damaged.name} is not what was written there); convert it again.")
    try:
        (folder / KEY_FILE).unlink()
    except OSError as error:
        raise InputError(
            f"{damaged} is not what was written there, and cannot be replaced: {error.strerror}."
        ) from error
    return resolve(path, options)


lock = views.lock


def is_capture(path: Path) -> bool:
    """Whether a folder holds converted tables."""
    return (path / KEY_FILE).is_file() and any(path.glob("rank-*/captures.parquet"))


def trace_files(path: Path) -> list[Path]:
    """The traces behind an input: files, and folders that are one trace. Raises `InputError` when there is none."""
    _check_name(path)
    if path.is_file() or (path.is_dir() and _reader(path)):
        return [path]
    if path.is_dir():
        files: dict[Path, ModuleType] = {}
        for file in sorted(path.rglob("*")):
            _check_name(file)
            hidden = any(part.startswith(".") or part.endswith(CACHE_SUFFIX) for part in file.relative_to(path).parts)
            inside = any(folder in file.parents for folder in files)
            reader = None if hidden or inside else _reader(file)
            if reader:
                files[file] = reader
        if files:
            return [file for file, reader in files.items() if not _has_better(file, reader, files)]
        raise InputError(f"{path} holds no trace that traceview knows; `traceview list formats` shows what it reads.")
    raise InputError(f"{path} does not exist.")


def _check_name(path: Path) -> None:
    """Raises `InputError` for a path that is no text: DuckDB can neither open nor store it."""
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"the name {path} is no UTF-8 text, so that it cannot be opened; rename it.") from error


def _reader(path: Path) -> ModuleType | None:
    from traceview import readers

    try:
        return readers.detect(peek(path))
    except InputError:
        return None


def _has_better(path: Path, reader: ModuleType, files: Collection[Path]) -> bool:
    """Whether another of the files is the same trace in a form that says more or is easier to read."""
    return hasattr(reader, "better") and any(better in files for better in reader.better(path))


@contextlib.contextmanager
def _building(place: Path) -> Iterator[Path]:
    """A folder to fill that becomes `place` when all went well and disappears when it did not."""
    prefix = f".{place.name}.traceview-"
    with contextlib.ExitStack() as stack:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(temporary_folder(prefix, place.parent))
        except OSError as error:
            raise UsageError(f"cannot write to {place.parent}: {error.strerror}.") from error
        try:
            folder.chmod(0o755)
            yield folder
            if place.exists():
                place.rename(stack.enter_context(temporary_folder(prefix, place.parent)) / "old")
            folder.rename(place)
        except OSError as error:
            raise InputError(f"cannot write {place}: {error.strerror}.") from error


def _cache_place(path: Path) -> Path:
    """Beside the trace; in the user's cache folder when that place cannot be written."""
    path = path.resolve()
    # To root everything is writable: a folder that nobody may write to is left alone all the same.
    if os.access(path.parent, os.W_OK) and path.parent.stat().st_mode & 0o222:
        return path.parent / f"{path.name}{CACHE_SUFFIX}"
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    return _user_cache() / "captures" / f"{path.name}-{digest}{CACHE_SUFFIX}"


def _user_cache() -> Path:
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
def _lock(cache: Path) -> Iterator[None]:
    """One conversion of the same trace at a time; the lock dies with its process."""
    digest = hashlib.sha256(str(cache).encode()).hexdigest()[:16]
    locks = _user_cache() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / f"{digest}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise UsageError(f"cannot lock a file in {locks}: {error.strerror}; set XDG_CACHE_HOME.") from error
        yield


def _sweep(cache: Path) -> None:
    """Remove what killed conversions of this trace left behind; the lock is held, so nobody else is at work."""
    for left in cache.parent.glob(f".{glob.escape(cache.name)}.*"):
        shutil.rmtree(left, ignore_errors=True)


def _key(files: Sequence[Path]) -> dict[str, object]:
    """What a cache depends on: the files, the tables, and the code that reads one into the other."""
    identity = []
    for file in [inner for trace in files for inner in files_in(trace)]:
        status = file.stat()
        identity.append([file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    return {"files": identity, "schema": SCHEMA_VERSION, "code": _code()}


@cache
def _code() -> str:
    """A hash of everything that turns a file into tables."""
    files = [path for name in CONVERTERS for path in PACKAGE.glob(name) if path.is_file()]
    queries = [path for folder in ("ingest", "derive") for path in (content("queries") / folder).rglob("*.sql")]
    return digest([*files, *queries])


def _read_key(folder: Path) -> dict[str, Any]:
    return _read_json(folder / KEY_FILE)


def _read_json(path: Path) -> dict[str, Any]:
    """The object in a small file of ours; empty when it is absent or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_key(folder: Path, files: Sequence[Path]) -> None:
    sums = integrity.sums(folder, folder.glob("rank-*/*.parquet"))
    (folder / KEY_FILE).write_text(json.dumps({**_key(files), "sums": sums}), encoding="utf-8")


def _is_fresh(place: Path, files: Sequence[Path]) -> bool:
    found = _read_key(place)
    return bool(found) and {name: value for name, value in found.items() if name != "sums"} == _key(files)
