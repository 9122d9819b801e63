"""Ends the processes of a run when it is over, also those that its launcher left behind.

They are found by the folder that the collectors were told to write to, which each of them inherits. Where the system
does not show environments (no /proc), there is nothing to be found.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROCESSES = Path("/proc")
GRACE_S = 5.0
"""How long a process may take to end when it is asked to."""
POLL_S = 0.05


class Watch:
    """Whether the processes of a run were ended because it took too long."""

    def __init__(self) -> None:
        self.has_ended_it = False


@contextmanager
def watched(folder: Path, most_s: float | None) -> Iterator[Watch]:
    """End all processes of a run that takes longer than this, and in the end those that it left behind.

    With `most_s` None nothing is watched, and nothing is ended but where we are told to end.
    """
    watch = Watch()
    if most_s is None:
        try:
            yield watch
        except KeyboardInterrupt:
            end(folder)
            raise
        return

    def end_it() -> None:
        watch.has_ended_it = True
        end(folder)

    timer = threading.Timer(most_s, end_it)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()
        end(folder)


def end(folder: Path) -> int:
    """End the processes of a run: asked to, then killed. How many there were."""
    n_found = len(of(folder))
    for number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        until = time.monotonic() + patience_s
        for pid in of(folder):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        while of(folder) and time.monotonic() < until:
            time.sleep(POLL_S)
    return n_found


def of(folder: Path) -> list[int]:
    """The processes that run with this folder for the collectors; those that have ended have no environment."""
    told = b"TRACEVIEW_DIR=" + os.fsencode(folder)
    found = []
    for path in PROCESSES.glob("[0-9]*/environ"):
        with suppress(OSError):
            if told in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return sorted(found)
