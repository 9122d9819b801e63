"""Reads several parts of a file at once, each in a transaction of its own, in the order of the file.

Invariant: the result is that of reading part after part. A part in which something is unexpected is undone, with all
that were begun after it, and read carefully; what follows is taken from there, since only then its beginning is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from traceview.decode.json_events import EventSplitter, Part
from traceview.ingest.memory import less_memory
from traceview.ingest.sink import Account, Sink
from traceview.lazy import duckdb

MAX_THREADS = 8
MAX_CAREFUL = 64
BYTES = 256_000_000
BYTES_PER_THREAD = 128_000_000


class Unexpected(Exception):
    """A part that the fast path cannot read."""


Quickly = Callable[[duckdb.DuckDBPyConnection, Part, int], Account]
"""Fills the tables from a part whose first event has this number."""


@dataclass
class _Begun:
    part: Part
    connection: duckdb.DuckDBPyConnection
    work: Future[Account]


class Workers:
    """Threads that read parts into one staging database."""

    def __init__(self, sink: Sink, quickly: Quickly) -> None:
        self._sink = sink
        self._quickly = quickly
        (n_threads,) = sink.connection.execute("SELECT current_setting('threads')").fetchall()[0]
        self._idle = [sink.connection.cursor() for _ in range(max(1, min(int(n_threads), MAX_THREADS)))]
        self._begun: deque[_Begun] = deque()
        self._n_careful = 0
        """Parts to be read carefully before the fast path is tried again; doubled each time it fails."""
        self._patience = 1

    def run(self, splitter: EventSplitter, carefully: Callable[[Part], None]) -> None:
        """Read every part. What has been read is spilled where it is much: little of it is needed for the rest."""
        room = BYTES + len(self._idle) * BYTES_PER_THREAD
        with less_memory(self._sink.connection, room), ThreadPoolExecutor(len(self._idle)) as pool:
            try:
                while (part := splitter.part()) is not None:
                    if not part.last and not self._n_careful:
                        if self._idle or self._finish(splitter, carefully, [part]):
                            self._begin(pool, part)
                    elif self._finish_all(splitter, carefully, [part]):
                        carefully(part)
                        self._n_careful = max(0, self._n_careful - 1)
            finally:
                self._undo()
                for connection in self._idle:
                    connection.close()

    def _begin(self, pool: ThreadPoolExecutor, part: Part) -> None:
        connection = self._idle.pop()
        first = self._sink.next_id + sum(len(begun.part) for begun in self._begun)
        self._begun.append(_Begun(part, connection, pool.submit(self._read, connection, part, first)))

    def _read(self, connection: duckdb.DuckDBPyConnection, part: Part, first: int) -> Account:
        connection.execute("BEGIN")
        return self._quickly(connection, part, first)

    def _finish_all(self, splitter: EventSplitter, carefully: Callable[[Part], None], later: list[Part]) -> bool:
        return all(self._finish(splitter, carefully, later) for _ in range(len(self._begun)))

    def _finish(self, splitter: EventSplitter, carefully: Callable[[Part], None], later: list[Part]) -> bool:
        """Commit what became of the oldest part; false if it had to be read again, and all after it given back."""
        begun = self._begun.popleft()
        try:
            account = begun.work.result()
            begun.connection.execute("COMMIT")
        except Unexpected:
            self._begun.appendleft(begun)
            parts = [other.part for other in self._begun]
            self._undo()
            splitter.rewind(begun.part, [*parts[1:], *later])
            carefully(begun.part)
            self._n_careful, self._patience = self._patience, min(2 * self._patience, MAX_CAREFUL)
            return False
        self._idle.append(begun.connection)
        self._sink.add(account)
        self._sink.next_id += len(begun.part)
        return True

    def _undo(self) -> None:
        """Undo everything that has been begun."""
        while self._begun:
            begun = self._begun.popleft()
            begun.work.exception()
            begun.connection.rollback()
            self._idle.append(begun.connection)
