"""One clock for each rank of a job, by collectives of groups that have it in common."""

from __future__ import annotations

import duckdb
import pytest

from traceview import sql
from traceview.paths import content

MESH = [(0, "rows 0 1", 0), (1, "rows 0 1", 0), (2, "rows 2 3", 0), (3, "rows 2 3", 0),
        (0, "columns 0 2", 0), (2, "columns 0 2", 5000), (1, "columns 1 3", 0), (3, "columns 1 3", 5000)]  # fmt: skip
"""Ranks 2 and 3 are on another host, whose clock is 5 us ahead; no group holds all of them."""
WHOLE = [(rank, "all", 5000 * (rank > 1)) for rank in range(4)]
ALONE = [(6, "apart", 0), (7, "apart", 300)]


@pytest.mark.parametrize(
    ("waits", "moved"),
    [(MESH, {0: 0, 1: 0, 2: 5000, 3: 5000}), (MESH[:4] + WHOLE, {0: 0, 1: 0, 2: 5000, 3: 5000}),
     (WHOLE + ALONE, {0: 0, 1: 0, 2: 5000, 3: 5000, 6: 0, 7: 300})],
)  # fmt: skip
def test_shifts_add_up_from_group_to_group(waits: list[tuple[int, str, int]], moved: dict[int, int]) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE rank_waits (rank INTEGER, team VARCHAR, moved_ns BIGINT)")
        connection.executemany("INSERT INTO rank_waits VALUES ($1, $2, $3)", [row for row in waits for _ in range(3)])
        assert dict(sql.load(content("queries") / "views/rank_clocks.sql").run(connection)) == moved
