"""The output of a command that runs many times: a file that keeps the end, which says most.

Invariant: however much a command prints, its file takes little room on disk, also while it runs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

LAST_LINES = 3
"""Of the output of a run that failed, as its reason."""
TAIL_BYTES = 16384
MOST_BYTES = 1_000_000
"""Of the output of a run, from its end, is kept; there are many runs."""
MOST_WHILE_IT_RUNS = 16_000_000
"""Above which the beginning is dropped while the command still runs; what it prints between two looks comes on top."""
POLL_S = 0.05
FIRST_FAILURE = re.compile(r"Root Cause \(first.{0,200}?rank\s*: (\d+).{0,200}?exitcode\s*: (-?\d+)", re.DOTALL)
"""What torchrun says at the end of which process failed first."""


@contextmanager
def bounded(log: Path) -> Iterator[IO[bytes]]:
    """The open file for the output of one run, an earlier one's replaced; it is watched, and its end is kept."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    end = _End(log)
    # Appended, as a file that is cut has to grow from its new end on.
    with log.open("ab") as output:
        watch = threading.Thread(target=end.watch, daemon=True)
        watch.start()
        try:
            yield output
        finally:
            end.is_over.set()
            watch.join()
            with suppress(OSError):  # The command may have removed it.
                end.shorten(MOST_BYTES)


class _End:
    """The file of a run's output, and how much of it is gone."""

    def __init__(self, log: Path) -> None:
        self.log, self.gone, self.is_over = log, 0, threading.Event()

    def watch(self) -> None:
        """Drop the beginning whenever there is too much, until the run is over."""
        while not self.is_over.wait(POLL_S):
            with suppress(OSError):
                self._drop()

    def _drop(self) -> None:
        if self.log.stat().st_size <= MOST_WHILE_IT_RUNS:
            return
        with self.log.open("r+b") as file:
            end = _end(file, TAIL_BYTES)
            self.gone += file.tell() - len(end)
            file.truncate(0)
        with self.log.open("ab") as file:
            file.write(end)

    def shorten(self, most: int) -> None:
        """Keep the end alone of what is longer, and say that it is."""
        with self.log.open("r+b") as file:
            end = _end(file, most)
            left_out = file.tell() - len(end)
            if not left_out and not self.gone:
                return
            more = b"more than " if self.gone else b""
            file.seek(0)
            file.write(b"[%sthe first %d bytes are left out]\n" % (more, left_out + self.gone))
            file.write(end)
            file.truncate()


def _end(file: IO[bytes], most: int) -> bytes:
    """The last bytes of an open file."""
    file.seek(max(0, file.seek(0, 2) - most))
    return file.read(most)


def tail(log: Path) -> list[str]:
    """The last lines of the output; where torchrun started it, which rank failed first, and its last line."""
    try:
        with log.open("rb") as file:
            text = _end(file, TAIL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    lines = text.splitlines()
    first = FIRST_FAILURE.search(text)
    if first:
        own = [line for line in lines if line.startswith(f"[rank{first[1]}]:") and line[9:].strip()]
        return [f"rank {first[1]} ended first, with exit code {first[2]}", *(line.strip()[:200] for line in own[-1:])]
    return [line.strip()[:200] for line in lines if line.strip()][-LAST_LINES:]
