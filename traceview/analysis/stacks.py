"""The operators around what ran, as stacks.

A trace has millions of operators and few stacks, so stacks are numbered from the outermost operators inwards, level by
level. A recursion in SQL from each operator outwards holds every operator and every stack on the way in memory.
"""

from __future__ import annotations

import duckdb

from traceview.paths import content
from traceview.sql import Query, load

MOST_LEVELS = 300
"""Operators around one another; those further in have no stack. A level takes some 10 ms even where it is small."""
PARTS = ("wanted", "outermost", "frames", "in_use", "deeper")


def query(name: str) -> Query:
    """`queries/stacks/<name>.sql`."""
    return load(content("queries") / "stacks" / f"{name}.sql")


def asked() -> str:
    """The text of every query here."""
    return "\n".join(query(name).body for name in PARTS)


def work_out(connection: duckdb.DuckDBPyConnection) -> None:
    """Make two temporary tables.

    `op_stacks` (op_id, stack) has the operators in which something ran, `stacks` (stack, frames) the names of operators
    from the outermost inwards: of deep stacks the innermost 100.
    """
    connection.execute(f"CREATE OR REPLACE TEMP TABLE stack_wanted AS {query('wanted').body}")
    connection.execute("CREATE OR REPLACE TEMP TABLE op_stacks (op_id BIGINT, stack UBIGINT)")
    connection.execute("CREATE OR REPLACE TEMP TABLE stacks (stack UBIGINT, frames VARCHAR[])")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE stack_level AS {query('outermost').body}")
    for depth in range(1, MOST_LEVELS + 1):
        if not connection.execute("SELECT count(*) FROM stack_level").fetchall()[0][0]:
            break
        connection.execute(f"INSERT INTO stacks {query('frames').body}")
        connection.execute(f"INSERT INTO op_stacks {query('in_use').body}")
        connection.execute(f"CREATE TEMP TABLE stack_deeper AS {query('deeper').body}", {"depth": depth})
        connection.execute("DROP TABLE stack_level")
        connection.execute("ALTER TABLE stack_deeper RENAME TO stack_level")
    connection.execute("DROP TABLE stack_level")
    connection.execute("DROP TABLE stack_wanted")
