"""Small answers that take long to work out, remembered for each capture in this user's cache.

Invariant: as for what is materialized, nothing that comes with a capture is taken for an answer. A folder's name is
made of the capture's files, that of a file in it of the question, of everything that decides the answer and of this
DuckDB.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
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
"""Maximum size of one answer."""
BYTES = 200_000_000
"""Maximum size of all answers; those about captures that were used longest ago are removed first."""


def recall(folder: Path, name: str) -> Any:
    """An answer about a capture; None where it has not been worked out, or cannot be read."""
    with contextlib.suppress(OSError, InputError, ValueError, RecursionError):
        path = _place(folder) / _file(name)
        text = path.read_bytes() if path.lstat().st_size <= MOST_BYTES else b"null"
        answer = json.loads(text)
        os.utime(path.parent)
        return answer
    return None


def remember(folder: Path, name: str, answer: Any) -> None:
    """Store an answer that JSON can hold. One that is long, or cannot be written, is worked out again next time."""
    with contextlib.suppress(OSError, InputError):
        text = json.dumps(answer)
        if len(text) > MOST_BYTES:  # All of it is ASCII.
            return
        place = _place(folder)
        is_new = not place.exists()
        handle, building = tempfile.mkstemp(prefix=".making-", dir=own_folder(place))
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        Path(building).replace(place / _file(name))
        if is_new:
            materialized.make_room(place, BYTES)


def forget(folder: Path) -> None:
    """Remove what is remembered of a capture; nothing where the folder is none."""
    with contextlib.suppress(OSError, InputError):
        shutil.rmtree(_place(folder), ignore_errors=True)


def _place(folder: Path) -> Path:
    """Return the folder of the answers about a capture, as its files are now."""
    return own_folder(user_cache() / "answers") / _hash(str(recorded.identity(folder)))


def _file(name: str) -> str:
    return f"{_hash(f'{_makers()} {name}')}.json"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@once
def _makers() -> str:
    return f"{digest(MAKERS)}-{duckdb.__version__}"
