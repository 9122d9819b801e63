"""A staging database that is used again is as empty as a new one, or it is not used again."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from traceview.errors import InputError
from traceview.ingest.sink import Sink
from traceview.store import Options
from traceview.store.staging import SMALL_BYTES, Stages
from traceview.tables import TABLES

EVERYTHING = (
    "SELECT schema_name, table_name, sql, temporary FROM duckdb_tables()"
    " UNION ALL SELECT schema_name, view_name, sql, temporary FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
)


def found(connection: duckdb.DuckDBPyConnection) -> tuple[object, int]:
    """All there is, and how many rows in the tables of readers."""
    n_rows = sum(connection.execute(f"SELECT count(*) FROM stage.{t.name}").fetchall()[0][0] for t in TABLES)
    return connection.execute(EVERYTHING).fetchall(), n_rows


def test_a_small_rank_finds_the_database_of_the_last_one_empty(tmp_path: Path) -> None:
    stages = Stages()
    with stages.open(tmp_path, Options(threads=1), 1) as connection:
        first = found(connection)
        Sink(connection).write_rows("devices", [{"name": "A"}, {"name": "B"}])
        connection.execute("CREATE OR REPLACE TABLE stage.ops AS SELECT 1 AS other")
        connection.execute("CREATE TEMP TABLE event AS SELECT 1 AS a")
        connection.execute("SET VARIABLE spilled = 1")
        connection.execute("INSERT INTO derived.ops (id, depth) VALUES (1, 2)")
        connection.register("lines", pa.table({"a": [1]}))
        (made,) = connection.execute("SELECT table_oid FROM duckdb_tables() WHERE table_name = 'counters'").fetchall()
    with stages.open(tmp_path, Options(threads=1), 1) as connection:
        assert found(connection) == first == (first[0], 0)
        assert connection.execute("SELECT count(*) FROM derived.ops").fetchall() == [(0,)]
        assert connection.execute("SELECT getvariable('spilled')").fetchall() == [(None,)]
        query = "SELECT table_oid FROM duckdb_tables() WHERE table_name = 'counters'"
        assert connection.execute(query).fetchall() == [made], "it is the same database"
    stages.close()


@pytest.mark.parametrize(
    ("left", "n_bytes", "options"),
    [
        ("CREATE TABLE other AS SELECT 1 AS a", 1, Options()),
        ("CREATE VIEW other AS SELECT 1 AS a", 1, Options()),
        ("ALTER TABLE stage.links RENAME TO links_at_hand", 1, Options()),
        ("SELECT 1", SMALL_BYTES + 1, Options()),
        ("SELECT 1", 1, Options(threads=2)),
        ("SELECT 1", 1, Options(memory_bytes=500_000_000)),
    ],
)
def test_another_database_where_it_is_not_sure(tmp_path: Path, left: str, n_bytes: int, options: Options) -> None:
    stages = Stages()
    with stages.open(tmp_path, options, n_bytes) as connection:
        connection.execute("CREATE TYPE mark AS ENUM ('here')")
        connection.execute(left)
    with stages.open(tmp_path, Options(), 1) as connection:
        assert found(connection)[1] == 0
        with pytest.raises(duckdb.CatalogException):
            connection.execute("SELECT CAST('here' AS mark)")
    stages.close()


def test_a_rank_that_failed_leaves_no_database(tmp_path: Path) -> None:
    stages = Stages()
    with pytest.raises(InputError, match="cannot be stored"), stages.open(tmp_path, Options(), 1) as connection:
        connection.execute("CREATE TYPE mark AS ENUM ('here')")
        connection.execute("SELECT CAST('x' AS BIGINT)")
    with pytest.raises(InputError, match="cannot be stored"), stages.open(tmp_path, Options(), 1) as connection:
        connection.execute("SELECT CAST('here' AS mark)")
    stages.close()
