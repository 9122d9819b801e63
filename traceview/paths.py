"""Folders that travel with the package (`queries/`, `collectors/`, `samples/`), the user's cache, temporary folders.

The first lie at the top of a checkout and inside the package in a wheel; this is the only place that knows.

Invariant: nothing is removed that may be somebody's. What a killed process left is told by its name, which no user
gives to a folder by chance, its owner and a lock that dies with its maker.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import Any

import tomli

PACKAGE = Path(__file__).resolve().parent
YOUNG_SECONDS = 60
"""A folder is without its lock for a moment after it is made."""
TEMPORARY = ".tmp"
RANDOM = re.compile(rf"[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")
"""How the name of a temporary folder goes on after its prefix: `tempfile` makes such names, nobody else does."""

CONVOLUTION = Path(__file__).parent / "convolution"
"""Package that runs in the Python of the user."""


def content(folder: str) -> Path:
    """The folder `queries`, `collectors` or `samples`, in a checkout, an editable install or a wheel alike."""
    installed = PACKAGE / folder
    return installed if installed.is_dir() else PACKAGE.parent / folder


@cache
def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file of ours, read once per process."""
    return tomli.loads(path.read_text(encoding="utf-8"))


def literal(path: Path) -> str:
    """A path in which DuckDB finds no pattern."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))


def shipped(patterns: Iterable[str]) -> dict[str, Path]:
    """Files that travel with the package, by the names that they have in a wheel, wherever they lie here."""
    found = {}
    for pattern in patterns:
        root = content("queries").parent if pattern.startswith(("queries/", "collectors/")) else PACKAGE
        for name in glob(pattern, root_dir=root, recursive=True):  # noqa: PTH207 (Path.glob takes twice as long)
            found[name] = root / name
    return found


def patterns(of: str) -> tuple[str, ...]:
    """Files that decide what is stored, as `digest` takes them (`store/digests.toml`)."""
    return tuple(read_toml(PACKAGE / "store" / "digests.toml")[of])


def digest(patterns: Iterable[str]) -> str:
    """A hash of what these files are named and hold: what depends on code or rules carries it.

    So no version is counted by hand, and a checkout and a wheel of the same code have the same one.
    """
    found = hashlib.sha256()
    for name, path in sorted(shipped(patterns).items()):
        data = path.read_bytes()
        found.update(f"{name}\0{len(data)}\0".encode())
        found.update(data)
    return found.hexdigest()[:16]


def from_here(path: Path) -> Path:
    """A path as short as can be typed in the current folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def own_folder(place: Path, closed: int = 0o022) -> Path:
    """A folder that only this user can write to and DuckDB open (UTF-8), made where absent; raises `OSError` otherwise.

    `closed`: the bits of its mode that may not be set.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & closed
    if not is_own or not os.access(place, os.W_OK) or str(place).encode(errors="replace") != os.fsencode(place):
        raise PermissionError(errno.EACCES, f"{place} is not a folder that only you can write to")
    return place


def user_cache() -> Path:
    """The folder for what this user worked out: nobody else can write to it, so that what lies there can be trusted.

    It is among temporary files where the home folder takes nothing. Raises `OSError` where there is none.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or "")
    places = [root / "traceview"] if root.is_absolute() else []
    if not places:
        with contextlib.suppress(RuntimeError):
            places.append(Path.home() / ".cache" / "traceview")
    for place in places:
        with contextlib.suppress(OSError):
            return own_folder(place)
    return own_folder(Path(tempfile.gettempdir()) / f"traceview-{os.getuid()}", 0o077)


def user_state() -> Path:
    """Return the folder for what has to outlast the cache; nobody else can write to it. Raises `OSError`."""
    root = Path(os.environ.get("XDG_STATE_HOME") or "")
    try:
        return own_folder((root if root.is_absolute() else Path.home() / ".local" / "state") / "traceview")
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, "there is no home folder") from error


@contextlib.contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder, by default among temporary files, removed at the end unless it was renamed.

    A process that was forked off removes nothing: the folder is not its own. Folders that killed processes left under
    that prefix are removed too. Raises `OSError` when none can be made.
    """
    parent = parent or Path(tempfile.gettempdir())
    sweep(prefix, parent)
    place = Path(tempfile.mkdtemp(TEMPORARY, prefix, parent))
    process, handle = os.getpid(), os.open(place, os.O_RDONLY)
    try:
        # Where there are no locks, nobody gets this one, and what is left is left.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield place
    finally:
        if os.getpid() == process:
            shutil.rmtree(place, ignore_errors=True)
        os.close(handle)


def sweep(prefix: str, parent: Path, young_seconds: float = YOUNG_SECONDS) -> None:
    """Remove folders of ours that nobody holds. Who knows that nobody is just making one takes young ones too."""
    for left in parent.glob(f"{escape(prefix)}*{TEMPORARY}"):
        with contextlib.suppress(OSError):
            if not RANDOM.fullmatch(left.name.removeprefix(prefix)):
                continue
            status = left.lstat()
            is_young = time.time() - status.st_mtime < young_seconds
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or is_young:
                continue
            handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(handle)
