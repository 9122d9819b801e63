"""The operators around what ran, and the Python frames around these, as stacks.

A trace has millions of operators and few stacks, so stacks are numbered from the outermost operators inwards, level by
level. A recursion in SQL from each operator outwards holds every operator and every stack on the way in memory.
"""

from __future__ import annotations

from traceview.lazy import duckdb
from traceview.paths import content
from traceview.sql import Query, load

MOST_LEVELS = 300
"""Operators and frames around one another; those further in have no stack. A level takes some 10 ms even where it is
small."""


def query(name: str) -> Query:
    """`queries/stacks/<name>.sql`."""
    return load(content("queries") / "stacks" / f"{name}.sql")


def work_out(connection: duckdb.DuckDBPyConnection) -> None:
    """Make two temporary tables.

    `op_stacks` (op_id, stack) has the operators in which something ran, `stacks` (stack, frames) the names of frames
    and operators from the outermost inwards: of deep stacks the innermost 100.
    """
    made = "CREATE OR REPLACE TEMP TABLE"
    connection.execute(f"{made} stack_used AS {query('used').body}")
    connection.execute(f"{made} stack_node AS {query('nodes').body}")
    connection.execute(f"{made} op_stacks (op_id BIGINT, stack UBIGINT)")
    connection.execute(f"{made} stacks (stack UBIGINT, frames VARCHAR[])")
    left = connection.execute(f"{made} stack_level AS {query('outermost').body}").fetchall()[0][0]
    for _ in range(MOST_LEVELS):
        if not left:
            break
        connection.execute(f"INSERT INTO stacks {query('frames').body}")
        connection.execute(f"INSERT INTO op_stacks {query('in_use').body}")
        left = connection.execute(f"{made} stack_level AS {query('deeper').body}").fetchall()[0][0]
    connection.execute("DROP TABLE stack_level")
    connection.execute("DROP TABLE stack_used")
    connection.execute("DROP TABLE stack_node")
