"""Which rank and step a question is about: those that were asked for, or the step that stands for all."""

from __future__ import annotations

from traceview import sql
from traceview.errors import UsageError
from traceview.lazy import duckdb
from traceview.paths import content


def middle_step() -> sql.Query:
    """The query of the step whose length and busy time are closest to the medians."""
    return sql.load(content("queries") / "timeline" / "middle_step.sql")


def check(
    connection: duckdb.DuckDBPyConnection, view: str, column: str, value: int | None, rank: int | None = None
) -> None:
    """Raises `UsageError` for a rank or a step that the capture has not."""
    if value is None:
        return
    where = "WHERE $1 IS NULL OR rank = $1"
    there = connection.execute(f"SELECT DISTINCT {column} FROM {view} {where} ORDER BY 1", [rank]).fetchall()
    numbers = [number for (number,) in there]
    if value not in numbers:
        several = f"{column}s {numbers[0]} to {numbers[-1]}" if numbers else f"no {column}s"
        known = f"{column} {numbers[0]}" if len(numbers) == 1 else several
        raise UsageError(f"the capture has no {column} {value}; it has {known}.")
