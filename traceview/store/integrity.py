"""What may be read of a folder that somebody may have sent, and whether it is what was written there.

Only regular files are opened, never through a link at their end: a FIFO would wait for ever, a device never ends. Check
sums tell a file that was changed or cut after it was written before it is used.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

SEAL = "sealed.json"
JSON_BYTES = 16 << 20
"""Of a JSON file of ours: the sums of twenty thousand ranks. A larger one is refused before it is read."""
END_BYTES = 1 << 14
"""Of each end of a sealed file: a database says in its head what lies where in it, and a cut file lacks its tail."""
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


def seal(place: Path) -> None:
    """Write down what the files of a folder are, when it is complete."""
    files = sorted(path for path in place.iterdir() if is_plain(path))
    (place / SEAL).write_text(json.dumps({path.name: _mark(path) for path in files}), encoding="utf-8")


def sealed(place: Path) -> dict[str, Path] | None:
    """The files of a folder by stem; None when one of them is not what was written there, or there is no seal."""
    marks = read_json(place / SEAL)
    try:
        files = {path.name: path for path in place.iterdir() if path.name != SEAL}
        if marks and files.keys() == marks.keys() and all(_mark(files[name]) == mark for name, mark in marks.items()):
            return {path.stem: path for path in files.values()}
    except OSError:
        pass
    return None


def sums(place: Path, files: Iterable[Path]) -> dict[str, int | None]:
    """A check sum of each file, by its path in the folder."""
    return {str(path.relative_to(place)): _sum(path) for path in sorted(files)}


def damaged(place: Path, known: object, files: Iterable[Path]) -> Path | None:
    """The first of these files, or of those noted, without the sum that was noted; None where nothing was noted.

    Names that were noted are compared and never opened: they may lead anywhere.
    """
    if not known or not isinstance(known, dict):
        return None
    found = sums(place, files)
    return next((place / name for name in {**found, **known} if found.get(name) != known.get(name)), None)


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


def _sum(path: Path) -> int | None:
    found = 0
    try:
        with _opened(path) as file:
            while block := file.read(BLOCK_BYTES):
                found = zlib.crc32(block, found)
    except OSError:
        return None
    return found


def _mark(path: Path) -> list[int | str]:
    with _opened(path) as file:
        found = hashlib.sha256(file.read(END_BYTES))
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END_BYTES))
        found.update(file.read())
        return [size, found.hexdigest()]
