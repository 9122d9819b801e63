"""Opens and makes what lies in a folder of results, which somebody may have sent.

Invariant: names are walked from the folder on without following a link, and only regular files are opened: a link may
lead anywhere, a pipe waits and a device never ends.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO

from traceview.errors import InputError

FLAGS = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT,
    "w+b": os.O_RDWR | os.O_TRUNC | os.O_CREAT,
}
SAFE = os.O_NOFOLLOW | os.O_CLOEXEC
REFUSED = (errno.ELOOP, errno.ENOTDIR, errno.ENXIO)
"""System's errors for a link, for a file where a folder should be, and for a pipe or socket."""


def opened(folder: Path, name: str, mode: str = "rb") -> IO[bytes]:
    """Open a regular file, `name` as seen from the folder; folders between are made where it is written.

    Raises `InputError` for anything that is not a regular file, `FileNotFoundError` where nothing is there.
    """
    with _parent(folder, name, makes=mode[0] in "aw") as (place, last):
        with suppress(FileNotFoundError):
            # To open some devices already does something.
            if not stat.S_ISREG(os.stat(last, dir_fd=place, follow_symlinks=False).st_mode):
                raise _refused(folder, name)
        handle = os.open(last, FLAGS[mode] | SAFE | os.O_NONBLOCK, 0o666, dir_fd=place)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise _refused(folder, name)
    return os.fdopen(handle, mode)


def read(folder: Path, name: str, most: int | None = None) -> bytes:
    """Return what a file holds. Raises as `opened` does, and `InputError` for one of more bytes than `most`."""
    with opened(folder, name) as file:
        found = file.read() if most is None else file.read(most + 1)
    if most is not None and len(found) > most:
        raise InputError(f"{folder / name} is too large: it has more than {most:,} bytes.")
    return found


def exists(folder: Path, name: str) -> bool:
    """Return whether anything has this name, also a link that leads nowhere."""
    return os.path.lexists(folder / name)


def within(folder: Path, name: str) -> Path:
    """Return the path of a folder in it, which may be absent. Raises `InputError` for a link: it leads elsewhere."""
    path = folder / name
    if path.is_symlink():
        raise _refused(folder, name)
    return path


def replace(folder: Path, name: str, content: bytes) -> None:
    """Write a file so that it is whole or as it was before, whatever ends the program meanwhile."""
    with _parent(folder, name, makes=True) as (place, last):
        draft = f".{last}.{secrets.token_hex(8)}.tmp"
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE, 0o666, dir_fd=place)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(draft, last, src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=place)
            raise


def make_new(folder: Path, name: str) -> None:
    """Make a folder that was not there: what an earlier run left under its name is kept beside it."""
    put_aside(folder, name)
    with _parent(folder, name) as (place, last):
        os.mkdir(last, dir_fd=place)


def put_aside(folder: Path, name: str) -> None:
    """Rename what has this name, if anything has: it is kept beside it, under a name that was not taken."""
    with _parent(folder, name, makes=True) as (place, last), suppress(FileNotFoundError):
        taken = {each.name for each in os.scandir(place)}
        beside = next(each for n in count(1) if (each := f"{last}.earlier-{n}") not in taken)
        os.rename(last, beside, src_dir_fd=place, dst_dir_fd=place)


@contextmanager
def _parent(folder: Path, name: str, makes: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that a file lies in, and its name there; the first folder is the user's, who may link to it."""
    *between, last = Path(name).parts
    if makes:
        folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in between:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=place)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | SAFE, dir_fd=place)
            os.close(place)
            place = inner
        yield place, last
    except OSError as error:
        if error.errno in REFUSED:
            raise _refused(folder, name) from error
        raise
    finally:
        os.close(place)


def _refused(folder: Path, name: str) -> InputError:
    return InputError(f"{folder / name} is not a file of traceview's own, but a link, a pipe or a device; remove it.")
