"""A query file that is run: whose fault it is when a value does not fit."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from traceview import sql
from traceview.errors import InputError, UsageError

HEADER = '-- title = "T"\n-- doc = "D"\n-- [params]\n-- least = { type = "BIGINT", default = 0, doc = "least" }\n'


@pytest.fixture
def query(tmp_path: Path) -> sql.Query:
    path = tmp_path / "named.sql"
    path.write_text(f"{HEADER}SELECT CAST(text AS BIGINT) AS n FROM given WHERE n >= CAST($least AS BIGINT)\n")
    return sql.load(path)


def rows(query: sql.Query, text: str, **values: str) -> list[tuple[int]]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE given AS SELECT $1 AS text", [text])
        return query.run(connection, dict(values))


def test_defaults_and_values(query: sql.Query) -> None:
    assert rows(query, "7") == [(7,)]
    assert rows(query, "7", least="8") == []


def test_a_value_of_the_user_that_does_not_fit(query: sql.Query) -> None:
    with pytest.raises(UsageError, match="named: a parameter does not fit"):
        rows(query, "7", least="many")


def test_a_whole_number_for_a_double_is_one(tmp_path: Path) -> None:
    """A product with the nanoseconds of fifty years is beyond whole numbers of 64 bits."""
    path = tmp_path / "share.sql"
    path.write_text(
        '-- title = "x"\n-- [params]\n-- pct = { type = "DOUBLE", default = 20, doc = "x" }\n'
        "SELECT $pct * 1583975501756379192"
    )
    with duckdb.connect() as connection:
        assert sql.load(path).run(connection) == [(31679510035127583840.0,)]
        assert sql.load(path).run(connection, {"pct": 1}) == [(1583975501756379192.0,)]


def test_a_value_of_the_trace_that_does_not_fit_is_no_parameter(query: sql.Query) -> None:
    with pytest.raises(InputError, match="query named rejected a value in the capture"):
        rows(query, "many")


def test_words_of_a_header_for_recordings_with_steps_and_without(tmp_path: Path) -> None:
    path = tmp_path / "busy.sql"
    header = '-- doc = """Device time {per step|of the\n-- recording}, {columns} stay."""\n-- [headings]\n'
    path.write_text(header + "-- busy = \"calls{/step| (mean)}\"\nSELECT 1 AS busy, '{a|b}' AS text")
    found = [sql.load(path), sql.load(path, has_steps=False)]
    assert [query.doc for query in found] == [
        "Device time per step, {columns} stay.",
        "Device time of the recording, {columns} stay.",
    ]
    assert [query.extra["headings"]["busy"] for query in found] == ["calls/step", "calls (mean)"]
    assert {query.body for query in found} == {"SELECT 1 AS busy, '{a|b}' AS text"}
