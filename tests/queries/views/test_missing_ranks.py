"""Ranks without a trace, by the number of ranks that the others recorded."""

from __future__ import annotations

import duckdb
import pytest

from traceview.store import graph


@pytest.mark.parametrize(
    ("ranks", "missing"),
    [
        ([0, 1, 2, 3], []),
        ([0, 1, 3], [2]),
        ([1, 2, 3, 4], []),
        ([1, 2, 4], [3]),
        ([1, 2, 3], [0]),
        ([0, 4], [1, 2, 3]),
        ([2], []),
    ],
    ids=["all", "one", "all, from 1", "one, from 1", "the first", "from 0", "a single rank"],
)
def test_ranks_without_a_trace_are_those_that_nobody_has(ranks: list[int], missing: list[int]) -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE SCHEMA raw")
        connection.execute("CREATE TABLE raw.ranks AS SELECT unnest($1) AS rank, 4 AS world_size", [ranks])
        found = connection.execute(f"SELECT rank, world_size FROM ({graph.text('missing_ranks')})").fetchall()
    assert sorted(found) == [(rank, 4) for rank in missing]
