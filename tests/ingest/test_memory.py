"""A query that runs out of memory is retried alone, then with a doubled limit; free memory is given back."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from traceview.ingest import memory
from traceview.ingest.memory import LowMemory, less_memory

LIMIT = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"


class Greedy:
    """Work that needs so many bytes, and notes what it was allowed."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, needs: int) -> None:
        self.connection = connection
        self.needs = needs
        self.allowed: list[int] = []

    def __call__(self) -> None:
        (limit,) = self.connection.execute(LIMIT).fetchall()[0]
        self.allowed.append(round(limit, -6))
        if limit < self.needs:
            raise duckdb.OutOfMemoryException("no room")


def test_work_that_fails_alone_gets_twice_as_much_at_once() -> None:
    with duckdb.connect(config={"memory_limit": "1GB"}) as connection:
        work = Greedy(connection, 70_000_000)
        with LowMemory(connection, 20_000_000) as attempt:
            attempt(work)
            attempt(work)
        assert work.allowed == [20_000_000, 40_000_000, 80_000_000, 80_000_000]
        assert connection.execute(LIMIT).fetchall()[0][0] == pytest.approx(1e9, rel=0.01)


def test_work_that_fails_beside_other_work_is_tried_alone_first() -> None:
    began, over = threading.Event(), threading.Event()
    with duckdb.connect(config={"memory_limit": "1GB"}) as connection, ThreadPoolExecutor(1) as pool:
        work = Greedy(connection.cursor(), 35_000_000)
        with LowMemory(connection, 20_000_000) as attempt:
            other = pool.submit(attempt, lambda: began.set() or (over.wait(60) and None))
            assert began.wait(60)
            attempt(work)
            over.set()
            other.result()
        assert work.allowed == [20_000_000, 20_000_000, 40_000_000]


def test_work_for_which_there_is_no_memory_at_all_fails() -> None:
    with duckdb.connect(config={"memory_limit": "60MB"}) as connection:
        work = Greedy(connection, 70_000_000)
        with LowMemory(connection, 20_000_000) as attempt, pytest.raises(duckdb.OutOfMemoryException, match="no room"):
            attempt(work)
        assert work.allowed == [20_000_000, 40_000_000, 60_000_000]


class Full:
    """Stands for a connection to a full database, in which other work gives memory back after a while."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, fails: int) -> None:
        self.connection = connection
        self.fails = fails
        self.is_less = False

    def execute(self, query: str, values: object = None) -> duckdb.DuckDBPyConnection:
        if query.startswith("SET") and self.is_less and self.fails:
            self.fails -= 1
            raise duckdb.OutOfMemoryException("failed to allocate data of size 2.0 KiB")
        self.is_less = query.startswith("SET")
        return self.connection.execute(query, values)


def test_the_limit_is_raised_when_a_full_database_has_room_for_that() -> None:
    with duckdb.connect(config={"memory_limit": "1GB"}) as connection:
        with less_memory(Full(connection, fails=2), 20_000_000):  # type: ignore[arg-type]
            assert connection.execute(LIMIT).fetchall()[0][0] == pytest.approx(2e7, rel=0.01)
        assert connection.execute(LIMIT).fetchall()[0][0] == pytest.approx(1e9, rel=0.01)


GIVES_BACK = """
import duckdb
from traceview.ingest import memory

with duckdb.connect(config={"threads": 1}) as connection:
    held = memory.Held(0)
    held.give_back()
    # Some 50 MB of groups, free when the query is over.
    connection.execute("SELECT count(*) FROM (SELECT i * 7919 % 1000003 AS n FROM range(1000000) t(i) GROUP BY n)")
    assert connection.fetchall() == [(1_000_000,)]
    before = memory._resident()
    held.give_back()
    assert memory._resident() < before - 20_000_000, (before, memory._resident())
    assert connection.execute("SELECT 1").fetchall() == [(1,)]
"""


@pytest.mark.slow
@pytest.mark.skipif(not memory._resident(), reason="the system does not say how much memory a process holds")
def test_what_queries_have_left_free_is_given_back() -> None:
    """In a process of its own: one that has run much has room that no query has to ask the system for."""
    subprocess.run([sys.executable, "-c", GIVES_BACK], check=True)
