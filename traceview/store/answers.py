"""Small answers that take long to work out, remembered for each capture in this user's cache.

Invariant: as for what is materialized, nothing that comes with a capture is taken for an answer. A file's name is made
of the capture's files, of everything that decides the answer and of this DuckDB.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from functools import cache as once
from pathlib import Path
from typing import Any

import duckdb

from traceview.errors import InputError
from traceview.paths import digest, own_folder, user_cache
from traceview.store import materialized, recorded

MAKERS = (
    *materialized.RULES,
    *("analysis/*.py", "queries/*.sql", "queries/*.toml", "queries/*/*.sql", "queries/*/*.toml"),
    *("queries/advice/needs/*.sql", "queries/advice/removes/*.sql"),
)
"""Everything that decides an answer."""
MOST_BYTES = 1_000_000
ALL_BYTES = 200_000_000
"""What all answers may take together; those that were used longest ago are removed first."""
SWEPT = ".swept"
"""Whose time of modification says when that was looked after: once a day, since there may be many."""


def recall(folder: Path, name: str) -> Any:
    """An answer about a capture; None where it has not been worked out, or cannot be read."""
    with contextlib.suppress(OSError, InputError, ValueError, RecursionError):
        path = _path(folder, name)
        text = path.read_bytes() if path.lstat().st_size <= MOST_BYTES else b"null"
        answer = json.loads(text)
        os.utime(path)
        return answer
    return None


def remember(folder: Path, name: str, answer: Any) -> None:
    """Keep an answer that JSON can hold; where nothing can be written, it is worked out again next time."""
    with contextlib.suppress(OSError, InputError):
        path = _path(folder, name)
        handle, building = tempfile.mkstemp(prefix=".making-", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(answer, file)
        Path(building).replace(path)
        _make_room(path.parent)


def _make_room(place: Path) -> None:
    """Remove what has not been used for long, and what is too much."""
    now, day = time.time(), 24 * 3600
    with contextlib.suppress(FileNotFoundError):
        if now - (place / SWEPT).lstat().st_mtime < day:
            return
    (place / SWEPT).touch()
    found = [(path.lstat(), path) for path in place.iterdir()]
    n_bytes = 0
    for status, path in sorted(found, key=lambda each: each[0].st_mtime, reverse=True):
        n_bytes += status.st_size
        if now - status.st_mtime > materialized.DAYS * day or n_bytes > ALL_BYTES:
            path.unlink(missing_ok=True)


def _path(folder: Path, name: str) -> Path:
    key = hashlib.sha256(f"{_makers()} {name} {recorded.identity(folder)}".encode())
    return own_folder(user_cache() / "answers") / f"{key.hexdigest()[:32]}.json"


@once
def _makers() -> str:
    return f"{digest(MAKERS)}-{duckdb.__version__}"
