"""A capture: make one out of trace files, and open one as a DuckDB connection with the public views.

The one law: what is on disk is whole or absent. A capture is built under another name and renamed; a cache beside a raw
trace carries the identity of the file, the schema and the readers, and is rebuilt when any of them differs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
from filelock import FileLock

from traceview import capture, readers
from traceview.derive import derive
from traceview.errors import InputError, UsageError
from traceview.files import Stream, peek
from traceview.sink import Sink
from traceview.tables import SCHEMA_VERSION

Progress = Callable[[int, int], None]
"""Called with bytes read and bytes in all."""

CACHE_SUFFIX = ".traceview"
KEY_FILE = "converted.json"
"""Written last: a folder without it is no capture."""


@dataclass(frozen=True)
class Options:
    """How a conversion may use the machine."""

    threads: int | None = None
    memory_bytes: int | None = None
    strict: bool = False
    progress: Progress | None = None


@dataclass
class Source:
    """One file to read, and the reader that knows it."""

    path: Path
    reader: ModuleType
    part: Any = None
    """One process of a file that holds several (see `readers.parts`); None for a file of one process."""


@dataclass
class Group:
    """The files of one rank: a trace and the logs that belong to it."""

    sources: list[Source] = field(default_factory=list)
    rank: int | None = None


def convert(inputs: Sequence[Path], target: Path, options: Options | None = None) -> Path:
    """Read trace files (or folders of them) into a new capture folder.

    Raises `UsageError` when the folder exists and is not empty, `InputError` when no file can be read.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already; choose another name with -o.")
    groups = _group(_sources([file for path in inputs for file in trace_files(path)]))
    with _building(target) as folder:
        _read_groups(groups, folder, options or Options())
        _write_key(folder, [source.path for group in groups for source in group.sources])
    return target


def convert_raw(folder: Path, options: Options | None = None) -> Path:
    """Read the files in `capture/raw` into `capture/rank-NNNN`; files named `rank-NNNN.*` belong to that rank."""
    groups: dict[str, Group] = {}
    for path in sorted((folder / "raw").iterdir()):
        if path.is_file() and not path.name.endswith((".meta.json", ".tmp")):
            stem = path.name.split(".")[0]
            groups.setdefault(stem, Group(rank=_rank_of(stem))).sources.extend(_sources([path]))
    if not groups:
        raise InputError(f"{folder}/raw holds no trace.")
    for group in groups.values():
        group.sources.sort(key=lambda source: bool(getattr(source.reader, "COMPANION", False)))
    (folder / KEY_FILE).unlink(missing_ok=True)
    for stale in [*folder.glob("rank-*"), folder / "converted"]:
        shutil.rmtree(stale, ignore_errors=True)
    with _building(folder / "converted") as built:
        _read_groups(list(groups.values()), built, options or Options())
        _write_key(built, [])
    for part in sorted((folder / "converted").iterdir(), key=lambda path: path.name == KEY_FILE):
        part.rename(folder / part.name)
    (folder / "converted").rmdir()
    return folder


def resolve(path: Path, options: Options | None = None) -> Path:
    """The capture folder behind any input: a capture itself, a trace file or a folder of traces, converted if need be."""
    has_raw = (path / "raw").is_dir() and (path / "capture.json").exists()
    if is_capture(path):
        if _is_current(_read_key(path)):
            return path
        if not has_raw:
            raise InputError(f"{path} was written by another version of traceview; convert its trace again.")
    if has_raw:
        return convert_raw(path, options)
    files = trace_files(path)
    cache = _cache_place(path)
    if _is_fresh(cache, files):
        return cache
    with _lock(cache):
        if _is_fresh(cache, files):
            return cache
        _sweep(cache)
        groups = _group(_sources(files))
        with _building(cache) as folder:
            _read_groups(groups, folder, options or Options())
            _write_key(folder, files)
    return cache


def open_capture(path: Path, options: Options | None = None) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the public views over any input, converted on the way if need be."""
    return capture.connect(resolve(path, options))


lock = capture.lock


def is_capture(path: Path) -> bool:
    """Whether a folder holds converted tables."""
    return (path / KEY_FILE).is_file() and any(path.glob("rank-*/captures.parquet"))


def trace_files(path: Path) -> list[Path]:
    """The trace files behind an input. Raises `InputError` when there is nothing to read."""
    if path.is_file():
        return [path]
    if path.is_dir():
        files = []
        for file in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") or part.endswith(CACHE_SUFFIX) for part in file.relative_to(path).parts)
            if file.is_file() and not hidden and _is_trace(file):
                files.append(file)
        if files:
            return files
        raise InputError(f"{path} holds no trace that traceview knows; `traceview list formats` shows what it reads.")
    raise InputError(f"{path} does not exist.")


def _is_trace(path: Path) -> bool:
    try:
        readers.detect(peek(path))
    except InputError:
        return False
    return True


def _sources(files: Sequence[Path]) -> list[Source]:
    sources = []
    for path in files:
        reader = readers.detect(peek(path))
        sources += [Source(path, reader, part) for part in readers.parts(reader, path)]
    return sources


def _group(sources: list[Source]) -> list[Group]:
    """One group per trace; logs that accompany a trace join the only one, or the one whose name begins alike."""
    traces = [source for source in sources if not getattr(source.reader, "COMPANION", False)]
    companions = [source for source in sources if source not in traces]
    groups = [Group([source]) for source in traces]
    for companion in companions:
        stem = companion.path.name.split(".")[0]
        alike = [group for group in groups if group.sources[0].path.name.split(".")[0] == stem]
        home = alike or groups
        if len(home) == 1:
            home[0].sources.append(companion)
        else:
            groups.append(Group([companion]))
    return groups


def _read_groups(groups: list[Group], folder: Path, options: Options) -> None:
    """Read every rank into `folder/rank-NNNN`, all on the clock of the first."""
    total = sum(source.path.stat().st_size for group in groups for source in group.sources)
    done = 0
    taken: set[int] = set()
    origin_unix_ns: int | None = None
    for group in groups:
        with _staging(folder, options) as connection:
            sink = Sink(connection)
            for source in group.sources:
                _read_source(source, sink, options, done, total)
                done += source.path.stat().st_size
            derive(connection)
            sink.rank = _free_rank(group.rank if group.rank is not None else sink.recorded_rank, taken)
            origin = sink.earliest_ns() or 0
            if sink.zero_unix_ns is not None:
                if origin_unix_ns is None:
                    origin_unix_ns = sink.zero_unix_ns + origin
                origin = origin_unix_ns - sink.zero_unix_ns
            known = origin_unix_ns if sink.zero_unix_ns is not None else None
            sink.export(folder / f"rank-{sink.rank:04d}", origin, known)


def _read_source(source: Source, sink: Sink, options: Options, done: int, total: int) -> None:
    progress = options.progress
    report = (lambda n_read: progress(done + n_read, total)) if progress else None
    stream = Stream(source.path, progress=report)
    sink.fact(source=source.path.name, format=source.reader.NAME)
    if source.part is None:
        source.reader.read(stream, sink)
    else:
        source.reader.read(stream, sink, source.part)
    troubles = [problem.kind for problem in sink.problems.values()]
    if options.strict and troubles:
        raise InputError(f"{source.path}: {'; '.join(troubles)} (--strict).")
    if not sink.facts.get("n_kept"):
        reason = troubles[0] if troubles else "it holds no events"
        raise InputError(f"{source.path} cannot be used: {reason}.")
    sink.end_source()


def _free_rank(wanted: int | None, taken: set[int]) -> int:
    rank = wanted if wanted is not None and wanted >= 0 and wanted not in taken else None
    if rank is None:
        rank = next(number for number in range(len(taken) + 1) if number not in taken)
    taken.add(rank)
    return rank


def _rank_of(stem: str) -> int | None:
    digits = stem.removeprefix("rank-")
    return int(digits) if digits.isdigit() else None


@contextlib.contextmanager
def _staging(folder: Path, options: Options) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database for one rank: in memory as long as it fits, beside the capture when it does not."""
    spill = folder / "spill"
    connection = duckdb.connect(":memory:", config=capture.OFFLINE)
    try:
        connection.execute("SET temp_directory = $1", [str(spill)])
        connection.execute("SET preserve_insertion_order = true")
        if options.threads:
            connection.execute("SET threads = $1", [options.threads])
        if options.memory_bytes:
            connection.execute("SET memory_limit = $1", [f"{options.memory_bytes // 1_000_000}MB"])
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise InputError(f"not enough memory or disk for this trace ({error}); see --memory.") from error
    finally:
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)


@contextlib.contextmanager
def _building(place: Path) -> Iterator[Path]:
    """A folder to fill that becomes `place` when all went well and disappears when it did not."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{place.name}.{os.getpid()}.", dir=place.parent))
    except OSError as error:
        raise UsageError(f"cannot write to {place.parent}: {error.strerror}.") from error
    try:
        folder.chmod(0o755)
        yield folder
        if place.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{place.name}.{os.getpid()}.", dir=place.parent))
            place.rename(old / "old")
            folder.rename(place)
            shutil.rmtree(old)
        else:
            folder.rename(place)
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cache_place(path: Path) -> Path:
    """Beside the trace; in the user's cache folder when that place cannot be written."""
    path = path.resolve()
    if os.access(path.parent, os.W_OK):
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
    with FileLock(locks / f"{digest}.lock"):
        yield


def _sweep(cache: Path) -> None:
    """Remove what killed conversions of this trace left behind; the lock is held, so nobody else is at work."""
    for left in cache.parent.glob(f".{_escaped(cache.name)}.*"):
        shutil.rmtree(left, ignore_errors=True)


def _escaped(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _key(files: Sequence[Path]) -> dict[str, object]:
    """What a cache depends on."""
    identity = []
    for file in files:
        status = file.stat()
        identity.append([file.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino])
    versions = {reader.NAME: reader.VERSION for reader in readers.READERS}
    return {"files": identity, "schema": SCHEMA_VERSION, "readers": versions}


def _read_key(folder: Path) -> dict[str, Any]:
    try:
        key = json.loads((folder / KEY_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return key if isinstance(key, dict) else {}


def _is_current(key: dict[str, Any]) -> bool:
    """Whether the schema and every reader that existed then are still of that version."""
    now = {reader.NAME: reader.VERSION for reader in readers.READERS}
    then = key.get("readers")
    same = isinstance(then, dict) and all(now.get(name) == version for name, version in then.items())
    return key.get("schema") == SCHEMA_VERSION and same


def _write_key(folder: Path, files: Sequence[Path]) -> None:
    (folder / KEY_FILE).write_text(json.dumps(_key(files)), encoding="utf-8")


def _is_fresh(cache: Path, files: Sequence[Path]) -> bool:
    key = _read_key(cache)
    return _is_current(key) and key.get("files") == json.loads(json.dumps(_key(files)["files"]))
