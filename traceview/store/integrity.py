"""Safe reading of a folder that somebody may have sent, and checks whether it is as it was written.

Only regular files are opened, never through a link at their end: a FIFO would wait for ever, a device never ends. Check
sums tell a file that was changed or cut after it was written before it is used.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

JSON_BYTES = 16 << 20
"""Maximum size of our JSON files: the sums of twenty thousand ranks. A larger one is refused before it is read."""
BLOCK_BYTES = 1 << 20


def is_plain(path: Path) -> bool:
    """Whether there is a regular file under that name itself, not behind a link."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_json(path: Path) -> dict[str, Any]:
    """The object in a small JSON file; empty when it is absent, damaged, too large or no regular file."""
    try:
        with _opened(path) as file:
            text = file.read(JSON_BYTES + 1)
        found = json.loads(text) if len(text) <= JSON_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def remove(path: Path) -> None:
    """Remove a file, a folder or a link, whatever stands there, as far as it can be."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def sums(place: Path, files: Iterable[Path]) -> dict[str, int | None]:
    """A check sum of each file, by its path in the folder."""
    return {str(path.relative_to(place)): check_sum(path) for path in sorted(files)}


def damaged(place: Path, known: object, files: Iterable[Path]) -> Path | None:
    """The first of these files, or of those noted, without the sum that was noted; None where nothing was noted.

    Names that were noted are compared and never opened: they may lead anywhere.
    """
    if not known or not isinstance(known, dict):
        return None
    found = sums(place, files)
    return next((place / name for name in {**found, **known} if found.get(name) != known.get(name, -1)), None)


def _opened(path: Path) -> BinaryIO:
    """A regular file to read. Raises `OSError` for anything else, without waiting for it."""
    if not is_plain(path):  # To open some devices already does something.
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(handle, "rb")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return file


def check_sum(path: Path) -> int | None:
    """The check sum of a regular file; None where it cannot be read."""
    found = 0
    try:
        with _opened(path) as file:
            while block := file.read(BLOCK_BYTES):
                found = zlib.crc32(block, found)
    except OSError:
        return None
    return found
