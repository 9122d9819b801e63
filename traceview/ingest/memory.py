"""Lets DuckDB use as little memory as will do; the rest is spilled to disk.

A query that runs out of memory is retried alone, then with a doubled limit.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from traceview.lazy import duckdb

T = TypeVar("T")

PAUSES = (0.001, 0.01, 0.1, 1.0)
"""Seconds to wait before it is tried again to raise the limit."""

HELD_BYTES = 150_000_000
"""Memory that a process may hold before it looks how much of that is free."""


class Held:
    """Free memory that DuckDB's allocator keeps for a second, while the next query takes more."""

    def __init__(self, least_bytes: int = HELD_BYTES) -> None:
        self._least = self._most = least_bytes

    def give_back(self) -> None:
        """Give it back, as a database does that closes, where it may be much: to ask takes 10 ms."""
        if _resident() > self._most:
            duckdb.connect(":memory:", config={"threads": 1}).close()
            self._most = max(self._least, _resident() * 6 // 5)


def _resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@contextlib.contextmanager
def less_memory(connection: duckdb.DuckDBPyConnection, n_bytes: int) -> Iterator[bool]:
    """Let the database use at most so much for a while, if it may use more; says whether it may."""
    query = "SELECT current_setting('memory_limit'), parse_formatted_bytes(current_setting('memory_limit'))"
    allowed, n_allowed = connection.execute(query).fetchall()[0]
    if n_allowed <= n_bytes:
        yield False
        return
    connection.execute("SET memory_limit = $1", [f"{n_bytes // 1_000_000}MB"])
    try:
        yield True
    finally:
        _allow(connection, allowed)


def _allow(connection: duckdb.DuckDBPyConnection, limit: str) -> None:
    """Raise the limit, which takes a little memory too: what other work holds for the moment, it gives back."""
    for pause in PAUSES:
        with contextlib.suppress(duckdb.OutOfMemoryException):
            connection.execute("SET memory_limit = $1", [limit])
            return
        time.sleep(pause)
    connection.execute("SET memory_limit = $1", [limit])


class LowMemory:
    """Does what can be done again with little memory; alone, where that is too little, and with more from then on."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, room: int) -> None:
        # Of its own: each thread that works may change the limit while another one uses its connection.
        self._connection = connection.cursor()
        self._limit = contextlib.ExitStack()
        self._room = room
        self._is_enough = True
        """Whether nothing has failed so far."""
        self._alone = threading.Lock()
        self._counting = threading.Lock()
        self._n_at_work = 0

    def __enter__(self) -> LowMemory:
        self._lower()
        return self

    def __exit__(self, *error: object) -> None:
        self._limit.close()
        self._connection.close()

    def _lower(self) -> None:
        """Let the database use no more than there is room for, or than what it already uses."""
        while True:
            # To lower the limit under what is in use fails, too.
            with contextlib.suppress(duckdb.OutOfMemoryException):
                self._is_less = self._limit.enter_context(less_memory(self._connection, self._room))
                return
            self._room *= 2

    def __call__(self, work: Callable[[], T]) -> T:
        failure = None
        with self._counting:
            self._n_at_work += 1
        try:
            if self._is_enough:
                return work()
        except duckdb.OutOfMemoryException as error:
            # Beside other work it may have failed for what that took: then it is tried alone before it gets more.
            failure = error if self._n_at_work == 1 else None
            self._is_enough = False
        finally:
            with self._counting:
                self._n_at_work -= 1
        with self._alone:
            while True:
                if failure:
                    self._double(failure)
                try:
                    return work()
                except duckdb.OutOfMemoryException as error:
                    failure = error

    def _double(self, failure: duckdb.OutOfMemoryException) -> None:
        """Allow twice as much; where everything is allowed already, the work has failed."""
        if not self._is_less:
            raise failure
        self._limit.close()
        self._room *= 2
        self._lower()
