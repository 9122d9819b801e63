"""A capture: make one out of trace files, and open one as a DuckDB connection with the public views.

What converts is imported only when something is converted: a cached trace opens without it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import readers
from traceview.errors import InputError, Refused, UsageError
from traceview.ingest.options import Options as Options
from traceview.lazy import duckdb
from traceview.store import cache, discovery, integrity, materialized, recorded, views
from traceview.store.cache import KEY_FILE as KEY_FILE
from traceview.tables import SCHEMA_VERSION

if TYPE_CHECKING:
    from traceview.store.conversion import Group


def convert(inputs: Sequence[Path], target: Path, options: Options | None = None) -> Path:
    """Read trace files (or folders of them) into a new capture folder.

    Raises `UsageError` when the folder exists and is not empty, `InputError` when no file can be read.
    """
    discovery.check_name(target)
    if not _is_free(target):
        raise UsageError(f"{target} exists already; choose another name with -o.")
    # An empty folder is replaced by the capture: nobody should stand in it.
    if target.exists() and target.samefile("."):
        raise UsageError(f"{target} is the current folder; choose the name of a new one with -o.")
    traces = discovery.not_superseded(trace for path in inputs for trace in discovery.find(path))
    with cache.building(target.resolve()) as folder:
        _read(traces, folder, target.resolve(), options)
    _clean(target.resolve(), options)
    return target


def _is_free(target: Path) -> bool:
    try:
        return not any(target.iterdir())
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return False
    except OSError as error:
        raise UsageError(f"cannot write to {target}: {error.strerror}.") from error


def convert_raw(folder: Path, options: Options | None = None) -> Path:
    """Read the files in `capture/raw` into `capture/rank-NNNN`, one for each process."""
    with cache.lock(folder):
        return _convert_raw(folder, options)


def _convert_raw(folder: Path, options: Options | None) -> Path:
    from traceview.store.conversion import group_raw, sources_of

    files = _raw_files(folder)
    if not files:
        raise InputError(f"{folder}/raw holds no trace.")
    converted = folder / "converted"
    if (folder / KEY_FILE).is_dir():
        raise recorded.in_the_way(folder / KEY_FILE)
    earlier = [
        path for place in (converted, folder) for path in (place / KEY_FILE, *recorded.made(place, _sums(place)))
    ]
    with cache.unchanged(files):
        raw = cache.contents(files)
        options = options or Options()
        traces = discovery.not_superseded([discovery.Trace(path) for path in files])
        known, unread = _recognised(traces, options)
        groups = group_raw(sources_of(known), integrity.read_json(folder / "capture.json"))
        for stale in (path for path in earlier if path.parent == converted):
            integrity.remove(stale)
        with cache.building(converted) as built:
            left_out = _read_groups(groups, unread, built, converted.resolve(), options)
            cache.write_key(built, {**cache.key([]), "raw": raw, **left_out})
    for stale in (path for path in earlier if path.parent == folder):
        integrity.remove(stale)
    for part in sorted(converted.iterdir(), key=lambda path: path.name == KEY_FILE):
        part.rename(folder / part.name)
    converted.rmdir()
    _clean(converted.resolve(), options)
    return folder


def _sums(place: Path) -> dict[str, object]:
    """The check sums of the files that the conversion into a folder wrote, by name; empty where it says none."""
    found = cache.read_key(place).get("sums")
    return found if isinstance(found, dict) else {}


def _raw_files(folder: Path) -> list[Path]:
    """The traces of a collected run: regular files of its own, since a link may lead anywhere."""
    places = [] if (folder / "raw").is_symlink() else sorted((folder / "raw").iterdir())
    files = [path for path in places if integrity.is_plain(path)]
    return [path for path in files if not path.name.endswith((".meta.json", ".tmp"))]


def resolve(path: Path, options: Options | None = None, meanwhile: Sequence[threading.Thread] = ()) -> Path:
    """The capture folder behind any input: a capture, a trace file or a folder of traces, converted if need be.

    `meanwhile` is started when a trace is about to be read.
    """
    discovery.check_name(path)
    captured = discovery.find(options.capture) if options and options.capture else []
    if captured and (is_capture(path) or (path / "raw").is_dir()):
        raise UsageError(f"{path} is converted already; give --capture with the trace file of the replay.")
    if (path / "raw").is_dir() and (path / "capture.json").exists():
        if _is_current(path):
            return path
        with cache.lock(path):
            return path if _is_current(path) else _convert_raw(path, options)
    if is_capture(path):
        schema = cache.read_key(path).get("schema")
        if schema == SCHEMA_VERSION:
            return path
        is_other = isinstance(schema, str)
        fault = "was made by another version of traceview" if is_other else f"is damaged: its {KEY_FILE} cannot be read"
        raise InputError(f"{path} {fault}; convert its trace again.")
    traces = discovery.find(path)
    files = [trace.path for trace in (*traces, *captured)]
    place = cache.place(path, options.capture if options else None)
    is_strict = bool(options and options.strict)
    if cache.is_fresh(place, files, is_strict):
        return place
    with cache.lock(place):
        if not cache.is_fresh(place, files, is_strict):
            with cache.building(place, replaces=True) as folder:
                _read(traces, folder, place, options, captured, meanwhile)
            _clean(place, options)
    return place


def _is_current(folder: Path) -> bool:
    """Whether the tables of a capture with raw traces are of this version and of these traces."""
    key = cache.read_key(folder)
    is_ours = is_capture(folder) and key.get("schema") == SCHEMA_VERSION
    return is_ours and cache.is_same(key.get("raw"), _raw_files(folder))


def open_capture(path: Path, options: Options | None = None) -> duckdb.DuckDBPyConnection:
    """A confined DuckDB connection to any input, converted on the way if need be.

    The public views are made when a query first reads them.
    """
    return views.connect(converted(path, options), options)


def prepare(path: Path, options: Options | None = None, text: str | None = None) -> Path:
    """The capture folder behind any input, with the views stored that a query names, all when left out: who may not
    write reads them."""
    folder = converted(path, options)
    with views.connect(folder, options) as connection:
        views.make(connection, text)
    return folder


def converted(path: Path, options: Options | None = None, meanwhile: Sequence[threading.Thread] = ()) -> Path:
    """As `resolve`, and read once more where files of the capture are not as they were written."""
    rules = threading.Thread(target=views.read_rules, daemon=True)
    folder = resolve(path, options, (rules, *meanwhile))
    if not materialized.find(folder):
        folder = _repaired(path, folder, options)
    if rules.ident:
        rules.join()
    return folder


def forget(path: Path) -> None:
    """Remove what is stored of an input, whether it is a capture or a trace: the next report works it out again."""
    for folder in (path, cache.place(path)):
        materialized.forget(folder)


def is_capture(path: Path) -> bool:
    """Whether a folder holds converted tables."""
    tables = ("rank*/captures.parquet", "*/rank*/captures.parquet")
    return (path / KEY_FILE).is_file() and any(found for pattern in tables for found in path.glob(pattern))


def _read(
    traces: Sequence[discovery.Trace],
    folder: Path,
    target: Path,
    options: Options | None,
    captured: Sequence[discovery.Trace] = (),
    meanwhile: Sequence[threading.Thread] = (),
) -> None:
    """Read traces into a new folder of tables, which is to become `target`; `captured` as `Options.capture`."""
    from traceview.store.conversion import group_by_rank, sources_of

    for thread in meanwhile:  # Behind the imports, which would compete with it for Python.
        thread.start()
    options = options or Options()
    files = [trace.path for trace in (*traces, *captured)]
    beside = readers.superseded_by(traces[0].reader, files[0]) if len(files) == 1 else []
    key = cache.key(files, beside, options.strict)
    with cache.unchanged([*files, *beside]):
        known, unread = _recognised(traces, options)
        groups = group_by_rank(sources_of(known))
        if captured and len(groups) > 1:
            raise UsageError("--capture takes the trace of one process as input.")
        groups[0].captured = sources_of(captured)
        left_out = _read_groups(groups, unread, folder, target, options)
    cache.write_key(folder, {**key, **left_out})


def _recognised(
    traces: Sequence[discovery.Trace], options: Options
) -> tuple[list[discovery.Trace], list[tuple[str, str]]]:
    """The traces of a job that a reader knows, and the others, each with the reason."""
    known, unread = [], []
    for trace in traces:
        try:
            if trace.reader:
                known.append(trace)
        except InputError as error:
            if len(traces) == 1:
                raise
            if options.strict:
                raise Refused(str(error)) from error
            unread.append((trace.path.name, str(error)))
    return known, unread


def _read_groups(
    groups: list[Group], unread: list[tuple[str, str]], folder: Path, target: Path, options: Options
) -> dict[str, object]:
    """Read every rank, several at a time of a large job; returns what the key says of those that cannot be read."""
    from traceview.store import conversion

    if options.many and options.many.takes(len(groups)):
        left_out = options.many.convert(groups, unread, folder, target, options)
    else:
        left_out = [*unread, *conversion.read_groups(groups, folder, options)]
        conversion.settle(left_out, len(unread) + len(groups), options)
        if left_out:
            conversion.count_left_out(min(folder.glob("rank-*/captures.parquet")), left_out)
    return {"left_out": left_out} if left_out else {}


def _clean(target: Path, options: Options | None) -> None:
    if options and options.many:
        options.many.clean(target)


def _repaired(path: Path, folder: Path, options: Options | None) -> Path:
    """The capture of an input, read once more where its files are not what was written. Parquet has no checksums."""
    if not _damaged(folder, options):
        return folder
    with cache.lock(folder):  # Who waited for another finds it repaired.
        if damaged := _damaged(folder, options):
            if folder == path and not (path / "raw").is_dir():
                raise InputError(f"{path} is damaged ({damaged.name} does not match its check sum); convert it again.")
            try:
                (folder / KEY_FILE).unlink(missing_ok=True)
            except OSError as error:
                fault = f"does not match its check sum and cannot be replaced: {error.strerror}."
                raise InputError(f"{damaged} {fault}") from error
    return resolve(path, options)


def _damaged(folder: Path, options: Options | None) -> Path | None:
    """The first file of a capture, of the chosen ranks, that is not as it was written; its key while it is replaced."""
    chosen = options.ranks if options else ()
    places = recorded.ranks(folder, chosen)
    files = [path for place in places for path in {*place.glob("*.parquet"), place / "captures.parquet"}]
    noted = _sums(folder)
    if not noted and not (folder / KEY_FILE).is_file():
        return folder / KEY_FILE
    known = {name: found for name, found in noted.items() if recorded.may_hold(Path(name).parent.name, chosen)}
    return integrity.damaged(folder, known, files)
