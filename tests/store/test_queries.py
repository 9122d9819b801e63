"""A query of a user reads: no statement, however it is wrapped, changes a file or what the next query finds."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from cases import first

from traceview import store
from traceview.errors import TraceviewError, UsageError
from traceview.store import materialized, queries
from traceview.store.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"

STATEMENTS = {
    "COPY": [
        "COPY (SELECT 'gone' a) TO '{0}' (FORMAT csv, USE_TMP_FILE false)",
        "COPY (SELECT 'gone' a) TO '{0}'",
        "COPY kernels TO '{0}' (FORMAT parquet, USE_TMP_FILE false)",
        "COPY (SELECT 'gone' a) TO '{0}' (FORMAT json, USE_TMP_FILE false)",
        "COPY (SELECT 1 a) TO '{1}.wal' (FORMAT csv, USE_TMP_FILE false)",
        "COPY (SELECT 1 a) TO '{1}' (FORMAT csv, USE_TMP_FILE false)",
        "COPY (SELECT 1 a) TO '{2}' (FORMAT csv, USE_TMP_FILE false)",
        "COPY mine FROM '{0}'",
    ],
    "SELECT": [
        "SELECT setseed(0.5)",
        "FROM enable_logging()",
        "FROM force_checkpoint()",
        "FROM checkpoint('memory')",
        "FROM enable_profiling(save_location := '{2}')",
        "SELECT write_log('x')",
        "FROM read_text('{0}')",
        "FROM disable_profiling()",
        "FROM truncate_duckdb_logs()",
        "FROM read_blob('{1}')",
    ],
    "EXPLAIN": [
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}' (FORMAT csv, USE_TMP_FILE false)",
    ],
    "MULTI": [
        "PIVOT (FROM force_checkpoint()) ON success",
        "FROM (PIVOT (SELECT setseed(0.1) a) ON a)",
        "PIVOT (SELECT\u00a0setseed(0.1) a) ON a",
        "PREPARE made AS PIVOT ops ON step USING count(*)",
        "SET VARIABLE raw = (SELECT count(*) FROM (PIVOT ops ON step USING count(*)))",
        "CREATE TEMP TABLE made AS FROM (PIVOT ops ON step USING count(*))",
    ],
    "VARIABLE_SET": [
        "SET VARIABLE raw = 1",
        "SET VARIABLE made = 1",
        "RESET VARIABLE raw",
    ],
    "INSERT": [
        "INSERT INTO attributed.part VALUES (1)",
        "INSERT INTO memory.main.mine VALUES (1) RETURNING *",
    ],
    "UPDATE": [
        "UPDATE attributed.part SET rank = 9",
        "UPDATE mine SET a = 1 RETURNING *",
    ],
    "CREATE": [
        "CREATE TABLE made AS SELECT 1",
        "CREATE OR REPLACE VIEW kernels AS SELECT 1",
        "CREATE SCHEMA made",
        "CREATE MACRO made() AS 1",
        "CREATE SEQUENCE made",
        "CREATE TYPE made AS ENUM ('a')",
        "CREATE INDEX i ON mine(a)",
        "CREATE PERSISTENT SECRET s (TYPE http)",
        "CREATE TEMP TABLE made AS SELECT 1",
    ],
    "DELETE": [
        "DELETE FROM attributed.part",
        "DELETE FROM mine RETURNING *",
        "TRUNCATE attributed.part",
    ],
    "PREPARE": [
        "PREPARE made AS SELECT 1",
        "PREPARE made AS COPY (SELECT 1) TO '{0}' (FORMAT csv)",
    ],
    "EXECUTE": [
        "EXECUTE made",
    ],
    "ALTER": [
        "ALTER TABLE mine RENAME TO made",
        "ALTER VIEW kernels RENAME TO made",
        "COMMENT ON VIEW kernels IS 'x'",
    ],
    "TRANSACTION": [
        "COMMIT",
        "BEGIN",
        "ROLLBACK",
        "ABORT",
    ],
    "ANALYZE": [
        "ANALYZE",
    ],
    "DROP": [
        "DROP VIEW kernels",
        "DROP SCHEMA raw CASCADE",
        "DROP TABLE IF EXISTS mine",
        "DEALLOCATE made",
    ],
    "EXPORT": [
        "EXPORT DATABASE '{2}'",
    ],
    "PRAGMA": [
        "PRAGMA enable_profiling",
        "PRAGMA database_list",
        "IMPORT DATABASE '{2}'",
        "PRAGMA force_checkpoint",
    ],
    "VACUUM": [
        "VACUUM",
        "VACUUM ANALYZE",
    ],
    "CALL": [
        "CALL pragma_version()",
        "CALL enable_logging()",
        "CALL force_checkpoint()",
    ],
    "SET": [
        "SET threads = 1",
        "RESET threads",
        "SET schema = 'raw'",
        "USE raw",
        "SET TimeZone = 'UTC'",
    ],
    "LOAD": [
        "LOAD httpfs",
        "INSTALL httpfs",
        "UPDATE EXTENSIONS",
        "FORCE INSTALL httpfs",
    ],
    "ATTACH": [
        "ATTACH '{0}' AS made",
        "ATTACH '{1}' AS made",
        "ATTACH ':memory:' AS made",
    ],
    "DETACH": [
        "DETACH memory",
        "DETACH DATABASE IF EXISTS memory",
    ],
    "COPY_DATABASE": [
        "COPY FROM DATABASE memory TO temp",
    ],
    "MERGE_INTO": [
        "MERGE INTO mine USING (SELECT 1 a) s ON (mine.a = s.a) WHEN MATCHED THEN DELETE",
    ],
}
"""By kind, as DuckDB calls them. {0} is a file of the capture, {1} the user's database of views, {2} a new name."""
NO_SYNTAX = {"INVALID", "RELATION", "EXTENSION", "LOGICAL_PLAN", "CREATE_FUNC"}
"""Kinds that no text is."""
WRAPPED = [
    "{0}",
    "/* COPY */ {0} -- x",
    "EXPLAIN {0}",
    "EXPLAIN ANALYZE {0}",
    "EXPLAIN (ANALYZE) {0}",
    "EXPLAIN (ANALYZE, FORMAT json) {0}",
    "-- x\nexplain /* (SELECT 1) */ analyze {0}",
    "EXPLAIN /* /* */ SELECT 1 -- */ ANALYZE {0}",
    "/* /* */ EXPLAIN SELECT 1 -- */ EXPLAIN ANALYZE {0}",
    "EXPLAIN ANALYZE --\r{0}",
    "EXPLAIN (ANALYZE /* ) SELECT 1 -- */) {0}",
    "EXPLAIN (ANALYZE -- ) SELECT 1 --\n) {0}",
    "EXPLAIN (ANALYZE $$) SELECT 1 --$$) {0}",
    "EXPLAIN (ANALYZE, FORMAT ') SELECT 1 --') {0}",
    "\ufeffEXPLAIN\u00a0ANALYZE {0}",
    "WITH a AS ({0}) FROM a",
    "WITH a AS MATERIALIZED ({0}) SELECT * FROM range(2), a",
    "WITH RECURSIVE b AS (SELECT 1), a AS ({0}) SELECT * FROM b, a",
    "EXPLAIN ANALYZE WITH a AS ({0}) FROM a",
    "SELECT * FROM (WITH a AS ({0}) FROM a)",
    "SELECT (WITH a AS ({0}) SELECT count(*) FROM a)",
    "FROM ({0})",
    "SELECT ({0})",
    "DESCRIBE {0}",
    "SUMMARIZE {0}",
    "PREPARE p AS {0}",
    "CREATE MACRO m() AS TABLE {0}",
    "FROM query('{1}')",
    "FROM json_execute_serialized_sql(json_serialize_sql('{1}'))",
    "FROM json_execute_serialized_sql(json_serialize_sql('WITH a AS ({1}) FROM a'))",
    "PRAGMA json_execute_serialized_sql(json_serialize_sql('{1}'))",
    "PIVOT (WITH a AS ({0}) FROM a) ON ALL",
    "WITH a AS ({0}) PIVOT a ON Count USING count(*)",
    "SELECT 1; {0}",
]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = store.convert([SAMPLE], tmp_path_factory.mktemp("asked") / "capture")
    return store.prepare(folder)


@pytest.fixture(scope="module")
def reader(capture: Path) -> Iterator[Reader]:
    with Reader(capture) as found:
        yield found


def checked(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[object]:
    with queries.reading(connection, text):
        yield connection.execute(text).fetchall()


def unchecked(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[object]:
    yield connection.execute(text).fetchall()


def state(connection: duckdb.DuckDBPyConnection) -> Iterator[object]:
    """Yield the state that an earlier query could have spoiled."""
    for query in (
        "SELECT getvariable('raw')::VARCHAR, getvariable('made'), getvariable('device')",
        "SELECT name FROM duckdb_prepared_statements()",
        "SELECT name, value FROM duckdb_settings() ORDER BY 1",
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() ORDER BY ALL",
        "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
        "SELECT function_name FROM duckdb_functions() WHERE NOT internal",
        "SELECT database_name FROM duckdb_databases() ORDER BY 1",
    ):
        yield connection.execute(query).fetchall()


def sums(capture: Path) -> dict[Path, tuple[str, int]]:
    """Hash the files beside and in a capture, and those of its views in the cache of this user."""
    folders = capture.parent, materialized.place(capture)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == materialized.SUM for path in files)
    return {path: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in files}


def places(capture: Path) -> list[str]:
    stored = materialized.file(materialized.place(capture), "kernels")
    return [str(capture / "rank-0000" / "kernels.parquet"), str(stored), str(capture / "new")]


def test_every_kind_of_statement_is_tried() -> None:
    assert STATEMENTS.keys() | NO_SYNTAX == set(duckdb.StatementType.__members__)


@pytest.mark.slow
@pytest.mark.parametrize("kind", first(6, STATEMENTS))
def test_nothing_is_changed_by_any_statement_in_any_other(reader: Reader, capture: Path, kind: str) -> None:
    before, was = sums(capture), list(reader.ask(state))
    process = reader._process
    for statement in STATEMENTS[kind]:
        text = statement.format(*places(capture))
        for wrapped in WRAPPED:
            with pytest.raises(TraceviewError):
                list(reader.ask(checked, wrapped.format(text, text.replace("'", "''"))))
    assert sums(capture) == before and list(reader.ask(state)) == was
    assert reader._process is process


@pytest.mark.parametrize("kind", ["COPY", "EXPORT", "ATTACH"])
def test_what_would_get_past_the_check_writes_nothing_either(capture: Path, kind: str) -> None:
    before = sums(capture)
    with Reader(capture) as reader:
        for statement in STATEMENTS[kind]:
            text = statement.format(*places(capture))
            for wrapped in ("{0}", "EXPLAIN ANALYZE {0}", "WITH a AS ({0}) FROM a"):
                with contextlib.suppress(duckdb.Error):
                    list(reader.ask(unchecked, wrapped.format(text)))
        # The capture's own files may be named; only the wall is in the way.
        with pytest.raises(duckdb.IOException, match="Permission denied"):
            list(reader.ask(unchecked, STATEMENTS["COPY"][0].format(*places(capture))))
    assert sums(capture) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "VALUES (1)", "FROM ops", "DESCRIBE kernels", "SUMMARIZE ops", "SHOW TABLES", "TABLE ops",
        "WITH a AS (SELECT 1) FROM a", "SELECT count(*) FROM raw.kernels", "DESCRIBE SELECT 1 AS copy",
        "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3) FROM a",
        "PIVOT ops ON step USING sum(dur_ns) GROUP BY name", "FROM (PIVOT ops ON step IN (1, 2) USING sum(dur_ns))",
        "EXPLAIN PIVOT ops ON step USING sum(dur_ns)", "DESCRIBE (PIVOT ops ON step)",
        "EXPLAIN ANALYZE (FORMAT json) SELECT 1", "EXPLAIN /* /* */ SELECT 1 -- */ FROM ops",
        "UNPIVOT (SELECT 1 a, 2 b) ON a, b",
        "EXPLAIN SELECT 1", "EXPLAIN ANALYZE FROM ops", "EXPLAIN (FORMAT json) SELECT 1", "EXPLAIN (SELECT 1)",
        "/* a */ explain (ANALYZE, FORMAT json) -- b\n FROM ops", "EXPLAIN (FROM ops) UNION ALL FROM ops",
        "FROM range(3) t(a), LATERAL (SELECT a + 1)", "SELECT unnest([1, 2]), 'COPY x TO y' AS \"insert\"",
        "FROM json_each('[1]')", "FROM query_table('ops')", "SHOW ALL TABLES",
        "SELECT json_extract('{\"type\": \"COPY_QUERY_NODE\"}', 'type')",
        "SELECT count(*) FILTER (dur_ns > 1) OVER (ORDER BY id) FROM ops QUALIFY row_number() OVER () < 3;",
        "(SELECT 1) UNION (SELECT 2) ORDER BY 1 LIMIT 1", "SELECT {'cte_map': 1, 'type': 'INSERT_QUERY_NODE'} AS a",
        "SELECT " + " + ".join(["1"] * 900),
    ],
)  # fmt: skip
def test_what_reads_is_answered(reader: Reader, query: str) -> None:
    ((row, *_),) = reader.ask(checked, query)
    assert row


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("COPY (SELECT 1) TO 'x'", "COPY is refused: queries are read-only. Use SELECT, FROM, WITH, DESCRIBE or"),
        ("WITH a AS (COPY (SELECT 1) TO 'x') FROM a", "COPY is refused: queries are read-only."),
        ("WITH a AS (INSERT INTO ops VALUES (1)) FROM a", "INSERT is refused: queries are read-only."),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'", "EXPLAIN of another statement than SELECT is refused"),
        ("EXPLAIN\u00a0SELECT 1", "EXPLAIN needs plain spaces around its words."),
        ("PREPARE p AS PIVOT ops ON step", "MULTI is refused: queries are read-only."),
        ("FROM read_csv('x')", "read_csv() in FROM is refused: queries read the tables and views of the trace."),
        ("SELECT setseed(1)", "setseed() is refused"),
        ("PIVOT ops ON \"insert\"", "insert is refused in a PIVOT without the list of its values; write ON column IN"),
        ("-- nothing", "the query is empty; give one"),
        ("SELECT 1; SELECT 2", "one query at a time; this has 2."),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_refused(reader: Reader, query: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        list(reader.ask(checked, query))
    assert str(refused.value).startswith(says)
