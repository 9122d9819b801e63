"""Views and answers of advice that were worked out for a capture, in one folder of this user's cache: done once.

Invariant: nothing that comes with a capture is taken for one of them. A folder's name is made of the capture's files,
these rules and this DuckDB; a view is read only as it was written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import zlib
from collections import Counter
from collections.abc import Collection
from functools import cache as once
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.lazy import duckdb
from traceview.paths import digest, own_folder, patterns, temporary_folder, user_cache
from traceview.store import graph, integrity, recorded

RULES = patterns("answers")
"""Everything that decides what a name or a call is, what rules answer, and how that is stored."""
DAYS = 30
"""Days without use after which a folder is removed when the next is made."""
BYTES = 10_000_000_000
"""Maximum size of all folders; those that were used longest ago are removed first."""
ADVICE = "advice"
"""Name of the answers of advice; others are reports, by their names."""
MOST_BYTES = 1_000_000
"""Maximum size of what is remembered under one name."""
EMPTY = ".empty"
"""Extension of the file of a view without rows: its columns, as a table is made of them."""
SUM = ".sum"
"""Extension of the check sum of a file, beside it."""
_DAY_SECONDS = 24 * 3600


def place(folder: Path) -> Path:
    """Return the folder for what is worked out of a capture. Raises `OSError`, or `InputError` if it is not one."""
    parent = own_folder(user_cache() / "materialized")
    key = hashlib.sha256(f"{_rules()} {recorded.identity(folder)}".encode())
    return parent / key.hexdigest()[:32]


def find(folder: Path) -> frozenset[str]:
    """The names of the views that are there for a capture; of a large job also those that each of its shards has."""
    with contextlib.suppress(OSError, InputError):
        return there(place(folder), [place(shard) for shard in parts(folder)])
    return frozenset()


def parts(folder: Path) -> list[Path]:
    """The shards whose rows are those of the job. The tables of a job in one shard are those of the shard."""
    shards = recorded.shards(folder)
    return shards if len(shards) > 1 else []


def there(own: Path, of_shards: Collection[Path] = ()) -> frozenset[str]:
    """The names of the files in a folder of the cache, and of those in all folders of shards."""
    shared = frozenset.intersection(*map(_names, of_shards)) if of_shards else frozenset[str]()
    return _names(own) | frozenset(name for name in shared if is_of_shards(name))


def is_of_shards(name: str) -> bool:
    """Whether the rows of all shards are those of the job: where nothing is said of more than one rank."""
    return "." in name or not graph.is_of_job(name)


def file(own: Path, name: str) -> Path:
    """The file of a view in a folder of the cache."""
    return own / f"{name}.parquet"


def put(draft: Path, own: Path, name: str) -> None:
    """Give a file its place, and note its check sum."""
    target = file(own, name)
    target.with_suffix(SUM).write_text(str(integrity.check_sum(draft)), encoding="ascii")
    draft.replace(target.with_suffix(draft.suffix))


def columns(own: Path, name: str) -> str | None:
    """Columns of a view that is stored without rows; None where its rows are stored."""
    with contextlib.suppress(OSError):
        return file(own, name).with_suffix(EMPTY).read_text(encoding="utf-8")
    return None


def is_whole(path: Path) -> bool:
    """Whether the file of a view is what was written: Parquet has no check sums. One that is not is removed."""
    path = path if path.exists() else path.with_suffix(EMPTY)
    with contextlib.suppress(OSError, ValueError):
        if integrity.check_sum(path) == int(path.with_suffix(SUM).read_bytes()[:20]):
            return True
    integrity.remove(path)
    return False


def used(own: Path) -> None:
    """Note that a folder of the cache was used just now."""
    with contextlib.suppress(OSError):
        os.utime(own)


def forget(folder: Path) -> None:
    """Remove what is worked out of a capture; nothing where the folder is not one."""
    with contextlib.suppress(OSError, InputError):
        for capture in (folder, *recorded.shards(folder)):
            shutil.rmtree(place(capture), ignore_errors=True)


def recall(own: Path, name: str = ADVICE) -> Any:
    """Return what is remembered under a name in a folder; None where nothing is, or it is not as it was written."""
    found = integrity.read_json(own / f"{name}.json")
    answers = found.get("answers")
    with contextlib.suppress(RecursionError):
        if found.get("sum") == zlib.crc32(json.dumps(answers).encode()):
            used(own)
            return answers
    return None


def remember(own: Path, answers: Any, name: str = ADVICE) -> None:
    """Store answers. What is long, or cannot be written, is worked out again next time."""
    with contextlib.suppress(OSError, InputError, TypeError):
        if len(text := json.dumps(answers)) > MOST_BYTES:  # All of it is ASCII.
            return
        with temporary_folder(".making-", own_folder(own)) as building:
            draft = building / name
            draft.write_text(json.dumps({"sum": zlib.crc32(text.encode()), "answers": answers}), encoding="ascii")
            draft.replace(own / f"{name}.json")
        make_room(own, BYTES)


def make_room(newest: Path, most_bytes: int) -> None:
    """Remove folders beside `newest` that have not been used for long, or are too much together; that one stays.

    The sizes of those that nobody used since are noted beside them."""
    n_bytes, now, note = 0, time.time(), newest.parent.with_suffix(".sizes")
    known, sizes = integrity.read_json(note), dict[str, int]()
    noted = note.stat().st_mtime if known else 0
    with os.scandir(newest.parent) as entries:
        places = [(_used(entry), entry) for entry in entries if not entry.name.startswith(".")]
    for used, found in sorted(places, key=lambda each: (each[1].name == newest.name, each[0]), reverse=True):
        is_known = used < noted and isinstance(known.get(found.name), int)
        n_bytes += sizes.setdefault(found.name, known[found.name] if is_known else _size(found))
        is_old = now - used > DAYS * _DAY_SECONDS
        if found.name != newest.name and (is_old or n_bytes > most_bytes):
            shutil.rmtree(found, ignore_errors=True)
    if len(sizes) > 1:  # Of others; the newest one grows.
        with contextlib.suppress(OSError):
            note.write_text(json.dumps(sizes), encoding="ascii")


def _size(folder: os.DirEntry[str]) -> int:
    with contextlib.suppress(OSError), os.scandir(folder) as files:
        return sum(each.stat(follow_symlinks=False).st_size for each in files)
    return 0


def _used(entry: os.DirEntry[str]) -> float:
    """When a folder was last used; long ago where it is gone already."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _names(own: Path) -> frozenset[str]:
    """The views that have a file in a folder, and its check sum."""
    files = [path for path in own.glob("[!.]*") if path.suffix in (".parquet", EMPTY, SUM)]
    seen = Counter(path.stem for path in files)
    return frozenset(name for name, n in seen.items() if n == 2)


@once
def _rules() -> str:
    # The version as it was installed, without loading DuckDB for it.
    package = Path(str(getattr(find_spec("duckdb"), "origin", None))).parent
    installed = sorted(path.name for path in package.parent.glob("duckdb-*.dist-info"))
    return f"{digest(RULES)}-{installed or duckdb.__version__}"
