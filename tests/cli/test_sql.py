"""`traceview sql`: exact answers in every format, and no way from a query to the rest of the machine."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cases import first

from traceview import cli, render, store
from traceview.cli import sql
from traceview.errors import UsageError
from traceview.store.reader import Reader


def run(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    assert cli.main(["sql", *map(str, args)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """The error of a query that must fail, without anything on stdout."""
    assert cli.main(["sql", *map(str, args)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("traceview: ") and "Traceback" not in captured.err
    return captured.err


SUMS = (
    "SELECT name = 'ampere_sgemm_32x32_sliced1x4_tn' AS known, count(*) AS n, sum(dur_ns) AS total_ns "
    "FROM kernels GROUP BY ALL ORDER BY total_ns DESC"
)


def test_json_is_an_array_of_rows_and_nothing_else(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, trace, SUMS, "--format", "json")
    assert json.loads(text)[0] == {"known": True, "n": 2, "total_ns": 200_000}
    assert json.loads(run(capsys, trace, "FROM kernels WHERE false", "--format", "json")) == []


def test_a_table_is_exact(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, trace, SUMS).splitlines()
    assert lines[0].split() == ["known", "n", "total_ns"]
    assert lines[2].split() == ["true", "2", "200,000"]
    assert lines[-1] == "2 rows"


@pytest.mark.slow
def test_a_query_of_kernels_of_a_capture_without_a_device_says_where_to_look(
    trace: Path, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "capture")
    hint = "This capture holds no kernels of a device; the view activities has what its CPU ran."
    assert run(capsys, capture, "SELECT name FROM kernels").splitlines()[-2:] == ["0 rows", hint]
    assert hint not in run(capsys, capture, "SELECT count(*) FROM activities")
    assert hint not in run(capsys, trace, "FROM kernels WHERE false"), "it has some"
    assert json.loads(run(capsys, capture, "FROM kernels", "--format", "json")) == []


def test_every_type_becomes_json(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = (
        "SELECT 170141183460469231731687303715884105727::HUGEINT AS huge, 'nan'::DOUBLE AS n, '-inf'::FLOAT AS i, "
        "1.25::DECIMAL(9, 2) AS d, [1, NULL] AS l, {'a': [2]} AS s, MAP {'k': 1} AS m, '\\xAA'::BLOB AS b, "
        "DATE '2026-01-02' AS day, TIMESTAMP '2026-01-02 03:04:05.678' AS t, INTERVAL 90 SECOND AS gap, "
        "uuid() IS NOT NULL AS u, TIME '10:00' AS clock, '101'::BIT AS bits, 'x'::ENUM('x') AS e, NULL AS z, 1 AS z"
    )
    (row,) = json.loads(run(capsys, trace, query, "--format", "json"))
    assert row == {
        "huge": 2**127 - 1, "n": None, "i": None, "d": 1.25, "l": [1, None], "s": {"a": [2]}, "m": {"k": 1},
        "b": "\\xAA", "day": "2026-01-02", "t": "2026-01-02T03:04:05.678000", "gap": "0:01:30", "u": True,
        "clock": "10:00:00", "bits": "101", "e": "x", "z": None, "z_1": 1,
    }  # fmt: skip
    assert "1.25" in run(capsys, trace, query) and "1.25" in run(capsys, trace, query, "--format", "csv")


def test_a_time_with_a_zone(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT TIMESTAMPTZ '2026-01-02 03:04:05+02' AS t, [t] AS many"
    (row,) = json.loads(run(capsys, trace, query, "--format", "json"))
    assert datetime.fromisoformat(row["t"]) == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC) and row["many"] == [row["t"]]
    assert row["t"] in run(capsys, trace, query) and row["t"] in run(capsys, trace, query, "--format", "csv")


def test_csv_and_parquet(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], hostile_kernel: str) -> None:
    query = "SELECT name, sum(size_bytes) AS size_bytes FROM memcpys GROUP BY name"
    rows = list(csv.DictReader(io.StringIO(run(capsys, trace, query, "--format", "csv"))))
    assert rows == [{"name": "Memcpy HtoD (Pageable -> Device)", "size_bytes": "8192"}]
    target = tmp_path / "kernels.parquet"
    assert run(capsys, trace, "SELECT name, dur_ns FROM kernels ORDER BY id", "--format", "parquet", "-o", target) == ""
    table = pq.read_table(target)
    assert table.column("dur_ns").to_pylist() == [100_000, 50_000] * 2
    assert table.column("name").to_pylist()[1] == hostile_kernel
    whole = target.read_bytes()
    for value in ("INTERVAL 1 MONTH", "[INTERVAL 1 DAY]", "union_value(k := 1)"):
        query = f"SELECT 1 AS a, {value} AS gap"
        assert cli.main(["sql", str(trace), query, "--format", "parquet", "-o", str(target)]) == 2
        assert "Parquet cannot hold the type of column gap; cast it" in capsys.readouterr().err
        assert target.read_bytes() == whole


@pytest.mark.slow
def test_a_long_answer_comes_in_pieces(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT range AS n FROM range(20000)"
    assert [row["n"] for row in json.loads(run(capsys, trace, query, "--format", "json"))] == list(range(20000))
    assert run(capsys, trace, query, "--format", "csv").splitlines()[1:] == [str(n) for n in range(20000)]
    lines = run(capsys, trace, query).splitlines()
    assert len(lines) == render.SHOWN + 3
    assert lines[-1] == "1,000 of 20,000 rows; --format csv, json or parquet write all."


@pytest.mark.slow
def test_a_query_from_a_file_and_from_stdin(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.sql").write_text("-- a comment\nSELECT 1 AS a;\n")
    assert run(capsys, trace, "-f", tmp_path / "q.sql", "--format", "csv") == "a\n1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 2 AS a"))
    assert run(capsys, trace, "--format", "csv") == "a\n2\n"
    assert "cannot read" in refused(capsys, trace, "-f", tmp_path / "none.sql")
    assert "not both" in refused(capsys, trace, "SELECT 1", "-f", tmp_path / "q.sql")


@pytest.mark.slow
def test_tables_and_schema_explain(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [row["table"] for row in json.loads(run(capsys, trace, ".tables", "--format", "json"))]
    assert {"kernels", "activities", "steps", "raw.kernels"} <= set(names)
    text = run(capsys, trace, ".schema kernels")
    assert "\nkernels\nOne kernel on a device stream" in text
    assert "kernel name, as recorded" in text
    rows = json.loads(run(capsys, trace, ".schema raw.memcpys", "--format", "json"))
    assert rows[0] == {"table": "raw.memcpys", "column": "rank", "type": "INTEGER", "doc": "process of the job"}
    every = json.loads(run(capsys, trace, ".schema", "--format", "json"))
    assert {row["table"] for row in every} == {name for name in names if not name.startswith("raw.")}
    assert "did you mean kernels" in refused(capsys, trace, ".schema kernelz")
    assert "no such command" in refused(capsys, trace, ".dump")


def test_a_plan_is_drawn(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(run(capsys, trace, "EXPLAIN SELECT 1").splitlines()) > 3


@pytest.mark.slow
def test_errors_are_sentences_with_the_place(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, trace, "SELEC 1") == (
        'traceview: Parser Error: syntax error at or near "SELEC"\nLINE 1: SELEC 1\n        ^^^^^\n'
    )
    assert "Did you mean kernels?" in refused(capsys, trace, "FROM kernelz")
    assert "\x1b" not in refused(capsys, trace, "SELECT CAST(name AS INT) FROM kernels WHERE name LIKE '=evil%'")
    assert "depth limit of 1000 exceeded" in refused(capsys, trace, f"SELECT {'(' * 1_001}1{')' * 1_001}")
    assert "DuckDB did not survive this query (SIGSEGV)" in refused(capsys, trace, "DESCRIBE " * 100_000 + "kernels")
    assert cli.main(["sql", str(trace), f"SELECT '{'(' * 2000}' -- {'(' * 2000}"]) == 0
    capsys.readouterr()
    assert "\n    Candidate functions:\n" in refused(capsys, trace, "SELECT sum(name) FROM kernels")
    assert "this has 2" in refused(capsys, trace, "SELECT 1; SELECT 2")
    assert "the query is empty; give one" in refused(capsys, trace, "-- nothing")
    assert "parameters: a" in refused(capsys, trace, "SELECT $a")


@pytest.fixture(scope="module")
def opened(trace: Path) -> Iterator[Reader]:
    """One process for all queries that are refused: none of them may change what comes after."""
    with Reader(store.prepare(trace)) as reader:
        yield reader


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that no query may see."""
    folder = tmp_path_factory.mktemp("secret")
    (folder / "secret.csv").write_text("a\n271828\n")
    (folder / "secret.json").write_text('{"a": 271828}')
    pq.write_table(__import__("pyarrow").table({"a": [271828]}), folder / "secret.parquet")
    return folder


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{0}/secret.csv')",
        "SELECT * FROM read_csv_auto(['{0}/secret.csv'])",
        "SELECT * FROM sniff_csv('{0}/secret.csv')",
        "SELECT * FROM read_json('{0}/secret.json')",
        "SELECT * FROM read_text('{0}/*')",
        "SELECT * FROM read_blob('{0}/secret.csv')",
        "SELECT * FROM read_parquet('{0}/secret.parquet')",
        "SELECT * FROM parquet_metadata('{0}/secret.parquet')",
        "SELECT * FROM parquet_schema('{0}/secret.parquet')",
        "SELECT * FROM '{0}/secret.parquet'",
        "FROM '{0}/secret.csv'",
        "SELECT * FROM glob('{0}/*')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM query('SELECT * FROM read_text(''{0}/secret.csv'')')",
        "SELECT * FROM query_table(['{0}/secret.csv'])",
        "WITH x AS MATERIALIZED (FROM read_text('{0}/secret.csv')) FROM x",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}/new.csv'",
        "DESCRIBE SELECT * FROM read_csv('{0}/secret.csv')",
        "SUMMARIZE SELECT * FROM read_csv('{0}/secret.csv')",
        "FROM range(2) t, LATERAL (FROM read_text('{0}/secret.csv'))",
        "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{0}/secret.csv'')'))",
        "FROM parquet_kv_metadata('{0}/secret.parquet')",
        "FROM read_ndjson_objects('{0}/secret.json')",
        "FROM read_duckdb('{0}/secret.csv')",
        "FROM read_blob('file://{0}/secret.csv')",
        "FROM read_blob('/proc/self/environ')",
        "FROM read_text('data:,271828')",
        "FROM duckdb_extensions()",
        "SELECT getenv('HOME')",
        "SELECT * FROM duckdb_secrets()",
        "COPY (SELECT 1) TO '{0}/new.csv'",
        "COPY kernels TO '{0}/new.parquet' (FORMAT parquet)",
        "EXPORT DATABASE '{0}/new'",
        "IMPORT DATABASE '{0}'",
        "ATTACH '{0}/new.db'",
        "SELECT * FROM secret_frame",
        "SELECT * FROM enable_logging()",
        "SELECT 1; COPY (SELECT 1) TO '{0}/new.csv'",
    ],
)
def test_a_query_sees_the_capture_and_nothing_else(
    opened: Reader, secret: Path, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    secret_frame = pq.read_table(secret / "secret.parquet").to_pandas()
    before = sorted(path.name for path in secret.iterdir())
    with pytest.raises(UsageError) as error:
        sql.answer(opened, query.format(secret), "csv", None)
    assert capsys.readouterr().out == "" and "271828" not in str(error.value).replace("data:,271828", "")
    assert sorted(path.name for path in secret.iterdir()) == before == sorted(before) and len(secret_frame) == 1


def test_a_query_cannot_read_where_others_spill(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # DuckDB lets a locked connection read its spill folder, which is `.tmp` in the working folder unless it is moved.
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "secret").write_text("42")
    assert "read_text() in FROM is refused" in refused(capsys, trace, "FROM read_text('.tmp/secret')")
    assert "Permission" in refused(capsys, trace, "FROM '.tmp/secret.csv'")


def test_what_does_not_fit_memory_is_spilled_and_cleaned_up(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, trace, "SELECT 42 AS n")  # Makes the folder that stays as long as this process.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    long = "SELECT hash(range)::VARCHAR || 'xxxxxxxxxxxxxxxxxxxxxxxxxxx' AS b FROM range(600000) ORDER BY b"
    query = f"SELECT max(b) AS b FROM ({long} LIMIT 599999)"
    assert json.loads(run(capsys, trace, query, "--memory", "20MB", "--format", "json"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_reading_queries_of_every_kind_work(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for query in (
        "VALUES (1)", "FROM kernels", "DESCRIBE kernels", "SUMMARIZE kernels", "SHOW TABLES",
        "WITH a AS (SELECT 1) FROM a", "SELECT count(*) FROM raw.kernels",
        "PIVOT kernels ON stream USING sum(dur_ns) GROUP BY name", "SELECT json_extract('{\"a\": 1}', 'a')",
    ):  # fmt: skip
        assert run(capsys, trace, query, "--format", "csv")


@pytest.mark.slow
def test_a_session_goes_on_after_an_error(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with (
        Reader(store.prepare(trace)) as reader,
        create_pipe_input() as keys,
        create_app_session(input=keys, output=DummyOutput()),
    ):
        keys.send_text("SELEC 1;\rSELECT count(*) AS n\rFROM kernels;\r.schema steps\r.nothing\r\r;\r.help\r.quit\r")
        sql.prompt(reader, "csv")
    captured = capsys.readouterr()
    assert "n\n4\n" in captured.out and "steps,step,BIGINT," in captured.out and ".quit" in captured.out
    assert 'syntax error at or near "SELEC"' in captured.err and "no such command: .nothing" in captured.err


@pytest.mark.slow
def test_a_person_at_a_terminal(trace: Path, root: Path, tmp_path: Path) -> None:
    main, side = pty.openpty()
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "dumb"}
    command = [sys.executable, "-m", "traceview", "sql", str(trace)]
    with subprocess.Popen(command, cwd=root, stdin=side, stdout=side, stderr=side, env=env) as process:
        os.write(main, b"SELECT 40 + 2 AS answer;\n.quit\n")
        assert process.wait(60) == 0
    os.close(side)
    shown = b""
    while chunk := _read(main):
        shown += chunk
    os.close(main)
    assert b"answer" in shown and b"42" in shown and b"1 row" in shown
    assert "SELECT 40 + 2 AS answer;" in (tmp_path / "traceview" / "sql_history").read_text(encoding="utf-8")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


@pytest.mark.slow
def test_parquet_goes_through_a_pipe_and_not_to_a_terminal(trace: Path, root: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "traceview", "sql", str(trace), "FROM kernels ORDER BY id", "--format", "parquet"]
    done = subprocess.run(words, cwd=root, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert pq.read_table(io.BytesIO(done.stdout)).column("dur_ns").to_pylist() == [100_000, 50_000] * 2
    main, side = pty.openpty()
    done = subprocess.run(words, cwd=root, stdout=side, stderr=subprocess.PIPE)
    os.close(side)
    assert (done.returncode, b"is not for a terminal" in done.stderr, _read(main)) == (2, True, b"")
    os.close(main)
    command = " ".join(f"'{word}'" for word in words) + " | true; exit ${PIPESTATUS[0]}"
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "says"),
    first(
        4,
        [
            ("FROM kernel", "Did you mean kernels?"),
            ("FROM memcpy", "Did you mean memcpys?"),
            ("FROM raw.kernelz", "Did you mean raw.kernels"),
            ("FROM zzz", "`.tables` lists what there is."),
            ("SELECT k.dur FROM kernels k", 'Table "k" does not have a column named "dur"\nDid you mean dur_ns?'),
            ("SELECT memory_kind FROM kernels", "Candidate bindings: "),
            ("SELECT implement FROM primitives", "Candidate bindings: "),
            ("SELECT src_kind FROM kernels", "Tables that have it: memcpys"),
        ],
    ),
)
def test_a_wrong_name_is_answered_with_names_to_use(
    trace: Path, query: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, trace, query)
    assert says in said
    assert not any(inner in said for inner in ("materialized", "names.", "attributed.", "Values list"))


def test_markdown_for_an_issue(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, trace, SUMS, "--format", "markdown").splitlines()
    assert lines == ["| known | n | total_ns |", "| --- | ---: | ---: |", "| yes | 2 | 200000 |", "| no | 2 | 100000 |"]
    none = run(capsys, trace, "SELECT name FROM kernels WHERE false", "--format", "markdown")
    assert none == "| name |\n| ---: |\n"
    long = run(capsys, trace, "FROM range(3000)", "--format", "markdown").splitlines()
    assert long[-1].startswith("*1,000 of 3,000 rows")


def test_an_answer_at_the_prompt_has_a_cap(trace: Path) -> None:
    connection = store.open_capture(trace)
    query = "SELECT range AS n FROM range(20000)"
    lines = "".join(sql.pieces(connection, query, "csv", limit=3)).splitlines()
    assert lines == ["n", "0", "1", "2", "20,000 rows in all; the first 3 are shown (.limit N shows more)."]
    assert "".join(sql.pieces(connection, query, "csv", limit=20000)).splitlines()[-1] == "19999"
    assert "".join(sql.pieces(connection, query, "csv")).splitlines()[-1] == "19999"


LONG = [
    "SELECT list_sum(range(1000000000))",
    "SELECT levenshtein(repeat('ab', 50000), repeat('ba', 50000))",
    "SELECT length(repeat('ab', 2000000000))",
    "SELECT list_sum(list_transform(range(300000000), lambda x: x * 2))",
    f"SELECT {'.'.join(['a'] * 10000)}",
    " UNION ALL ".join(["SELECT 1"] * 20000),
    f"SELECT {'(' * 20000}",
]
"""Queries that DuckDB does not interrupt at once."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "number"), first(2, itertools.product(LONG[1:] + LONG[:1], (signal.SIGINT, signal.SIGTERM)))
)
def test_a_signal_ends_any_query(trace: Path, root: Path, tmp_path: Path, query: str, number: signal.Signals) -> None:
    (tmp_path / "query.sql").write_text(query, encoding="utf-8")
    words = [sys.executable, "-m", "traceview", "sql", str(trace), "-f", str(tmp_path / "query.sql")]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list(tmp_path.glob("traceview-query-*/*")):
            time.sleep(0.05)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(number)
        # Memory that is given back takes time too, 8 GB more than a second, and the machine may be busy; the queries
        # take half a minute and more where nobody ends them.
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (128 + number, b"") and err in (b"traceview: interrupted\n", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["query.sql"]


@pytest.mark.slow
def test_a_signal_at_the_prompt_ends_the_query_and_not_the_session(trace: Path) -> None:
    with Reader(store.prepare(trace)) as reader:
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
            list(reader.ask(sql.pieces, LONG[1], "csv"))
        assert list(reader.ask(sql.pieces, "SELECT 1 AS one", "csv")) == ["one\n", "1\n"]
