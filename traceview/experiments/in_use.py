"""Who writes to the folder of an experiment: one process at a time.

Invariant: rows of two programs never stand in one folder, and what a killed program left bars nobody: the lock is on
its folder of rows and ends with the process.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from traceview.errors import UsageError

ROWS = "raw"
LOCKS = Path("/proc/locks")


class Hold:
    """A folder that no other process writes to while this object is there."""

    def __init__(self, handle: int) -> None:
        weakref.finalize(self, os.close, handle)


_HELD: weakref.WeakValueDictionary[tuple[int, int], Hold] = weakref.WeakValueDictionary()
"""By device and inode: what is held in this process, where several may share it."""


def hold(folder: Path) -> Hold:
    """Hold the folder of an experiment, made where it is absent. Raises `UsageError` where another process does."""
    try:
        (folder / ROWS).mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ROWS, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}.") from error
    status = os.fstat(handle)
    held = _HELD.get((status.st_dev, status.st_ino))
    if held:
        os.close(handle)
        return held
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise UsageError(
            f"{folder} is in use by {_process(status.st_ino)}; wait for it or name another folder."
        ) from None
    except OSError:
        pass  # A file system without locks: nobody can be told from anybody.
    _HELD[status.st_dev, status.st_ino] = held = Hold(handle)
    return held


def refuse(folder: Path) -> None:
    """Raise `UsageError` where another process holds the folder."""
    if (folder / ROWS).is_dir():
        hold(folder)


def _process(inode: int) -> str:
    """The process that holds it, where the system says (Linux)."""
    try:
        lines = [line.split() for line in LOCKS.read_text(encoding="utf-8").splitlines()]
    except OSError:
        lines = []
    found = {words[4] for words in lines if "FLOCK" in words and words[5].rpartition(":")[2] == str(inode)}
    return f"process {found.pop()}" if len(found) == 1 else "another process"
