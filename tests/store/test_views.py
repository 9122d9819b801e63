"""A capture as a connection: a large one keeps its views beside it, and says the same as a small one."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from given import Given, conv, write

from traceview import store
from traceview.analysis import findings, reports
from traceview.errors import InputError
from traceview.ingest.options import Options
from traceview.store import graph, materialized, views

ROOT = Path(__file__).resolve().parents[2]
MATERIALIZED = frozenset(filter(graph.is_materialized, graph.names()))
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture
def sample(tmp_path: Path, captures: Any) -> Path:
    """A copy of the sample's capture, of which nothing is materialized yet."""
    return Path(shutil.copytree(captures.folder_of(SAMPLE), tmp_path / "capture"))


def said(connection: duckdb.DuckDBPyConnection, names: Sequence[str] = ()) -> dict[str, Any]:
    done = {name: reports.run(connection, name, best=findings.best) for name in names or reports.names()}
    return {name: [[*report.footer], *(section.rows for section in report.sections)] for name, report in done.items()}


FEW = ("overview", "critical", "layers")


@pytest.mark.long
@pytest.mark.parametrize(
    ("trace", "names"),
    [
        pytest.param("sample", FEW, id="sample, few reports"),
        pytest.param("sample", (), id="sample", marks=pytest.mark.long),
        pytest.param("gpu", (), id="gpu", marks=[pytest.mark.shared, pytest.mark.long]),
    ],
)
def test_materialized_views_say_what_views_say(
    trace: str, names: Sequence[str], tmp_path: Path, captures: Any, request: pytest.FixtureRequest
) -> None:
    path = SAMPLE
    if trace == "gpu":
        path = request.getfixturevalue("shared") / "traces/kineto/mi250-minitoy-train.json.gz"
    folder = Path(shutil.copytree(captures.folder_of(path), tmp_path / "copied"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "_places", lambda _: [])
        held = said(store.open_capture(folder), names)
    assert not materialized.find(folder)
    store.prepare(folder)
    inner = {*views.ATTRIBUTED, *views.NAMED, "call", "cost"}
    assert {name.rpartition(".")[2] for name in materialized.find(folder)} == {*MATERIALIZED, *inner}
    assert not list(folder.glob(".*"))
    # Sums of floating-point numbers may be added in another order.
    found = said(store.open_capture(folder), names)
    assert repr(found) == repr(held) or _close(found, held)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every capture is a large one."""
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    monkeypatch.setattr(views, "SMALL_BYTES", 0)


@pytest.mark.parametrize(("allowed", "room"), [(4, 2), (12, 3), (40, 4)])
def test_what_is_made_of_a_very_large_capture_gets_a_quarter_of_the_memory_within_bounds(
    allowed: int, room: int, sample: Path, monkeypatch: pytest.MonkeyPatch, rooms: list[int], large: None
) -> None:
    monkeypatch.setattr(views, "ROW_BYTES", 1_000_000_000)
    with store.open_capture(sample, Options(memory_bytes=allowed * 1_000_000_000)) as connection:
        connection.execute("FROM busy")
    assert [round(each / 1e9, 1) for each in rooms] == [room]


@pytest.mark.slow
@pytest.mark.parametrize("is_stored", [True, False])
def test_a_large_capture_says_what_a_small_one_says(
    sample: Path, is_stored: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Its views are not held as tables in memory where they can be stored, but for one of a single row."""
    query = "FROM busy ORDER BY ALL"
    monkeypatch.setattr(views, "_places", lambda _, places=views._places: places(_) if is_stored else [])
    with store.open_capture(sample) as connection:
        right = connection.execute(query).fetchall()
    store.forget(sample)
    request.getfixturevalue("large")
    connection = store.open_capture(sample, Options(query_bytes=100_000_000))
    limit = "SELECT current_setting('memory_limit')"
    before = connection.execute(limit).fetchall()
    assert connection.execute(query).fetchall() == right and len(right) > 100
    query = "SELECT table_name FROM duckdb_tables() WHERE schema_name <> 'names'"
    tables = views.plain(connection).execute(query).fetchall()
    assert (tables == [("accelerator",)]) == is_stored
    assert connection.execute(limit).fetchall() == before == [("95.3 MiB",)]


@pytest.mark.long
def test_every_report_of_a_large_capture_says_what_that_of_a_small_one_says(
    sample: Path, request: pytest.FixtureRequest
) -> None:
    right = said(store.open_capture(sample))
    store.forget(sample)
    request.getfixturevalue("large")
    assert _close(said(store.open_capture(sample)), right)


@pytest.mark.long
def test_a_large_capture_is_materialized_with_little_memory(
    sample: Path, monkeypatch: pytest.MonkeyPatch, rooms: list[int], request: pytest.FixtureRequest
) -> None:
    """A query that runs out of memory is retried with more, however many tables it makes."""
    right = said(store.open_capture(sample), ["overview", "conv"])
    store.forget(sample)
    request.getfixturevalue("large")
    monkeypatch.setattr(views, "LEAST_BYTES", 1_000_000)
    store.prepare(sample)
    assert materialized.find(sample)
    assert len(rooms) > 1
    assert _close(said(store.open_capture(sample), ["overview", "conv"]), right)


def test_too_little_memory_is_not_called_damage(sample: Path) -> None:
    with pytest.raises(InputError, match="not enough memory or disk for"):
        views.connect(sample, Options(memory_bytes=1_000_000)).execute("FROM totals")


def test_a_conflict_that_a_lack_of_memory_left_is_not_called_damage(sample: Path) -> None:
    """As DuckDB has left one behind: here another connection holds it."""
    with store.open_capture(sample) as connection, views.plain(connection).cursor() as other:
        other.execute("BEGIN; CREATE TABLE raw.captures (number INTEGER)")
        with pytest.raises(InputError, match="not enough memory or disk for"):
            connection.execute("FROM raw.captures")


@pytest.mark.slow
def test_a_part_of_a_view_may_have_the_name_of_what_is_made_before_views(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not have costs worked out once more."""
    text = graph.text
    monkeypatch.setattr(graph, "text", lambda name: text(name).replace(" longest ", " costed "))
    assert "), costed AS (" in graph.text("op_floors")
    table = "SELECT table_oid FROM duckdb_tables() WHERE schema_name = 'costed' AND table_name = 'call'"
    with store.open_capture(sample) as connection:
        connection.execute("FROM op_costs")
        before = views.plain(connection).execute(table).fetchall()
        connection.execute("FROM op_floors")
        assert len(before) == 1 and views.plain(connection).execute(table).fetchall() == before


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float):
        return a == pytest.approx(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_close, a, b))
    return bool(a == b)


@pytest.mark.slow
def test_no_file_outside_can_be_read(sample: Path) -> None:
    connection = store.open_capture(sample)
    assert connection.execute("SELECT count(*) > 0 FROM busy").fetchall() == [(True,)]
    with pytest.raises(duckdb.Error, match="Permission Error"):
        connection.execute(f"FROM read_text('{sample}/converted.json')")


@pytest.mark.long
def test_what_is_materialized_has_the_types_of_what_is_worked_out(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.prepare(sample)
    stored = store.open_capture(sample)
    monkeypatch.setattr(views, "_places", lambda _: [])
    fresh = store.open_capture(sample)
    for view in sorted(MATERIALIZED):
        assert stored.execute(f"DESCRIBE {view}").fetchall() == fresh.execute(f"DESCRIBE {view}").fetchall()


@pytest.mark.slow
def test_where_nothing_can_be_materialized_the_answer_is_the_same(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> str:
        raise OSError("read-only")

    monkeypatch.setattr(tempfile, "mkdtemp", fails)
    connection = store.open_capture(sample)
    assert reports.run(connection, "overview", best=findings.best).sections[0].rows
    assert not materialized.find(sample)


@pytest.mark.slow
def test_what_is_read_is_materialized_and_added_to_later(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(query: str) -> frozenset[str]:
        with store.open_capture(sample) as connection:
            assert connection.execute(query).fetchall()
        return frozenset(name for name in materialized.find(sample) if "." not in name)

    assert read("SELECT count(*) FROM raw.ops") == frozenset()
    assert read("SELECT count(*) FROM ranks") == {"ranks"}
    some = read("SELECT count(*) FROM step_times")
    assert {"ranks", "step_times"} <= some < MATERIALIZED
    assert read("SELECT count(*) FROM conv_calls") > some
    monkeypatch.setattr(views, "_attribute", None)
    assert read("SELECT count(*) FROM conv_calls JOIN ranks USING (rank)") >= some


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM ops, steps WHERE ops.rank = steps.rank",
        'SELECT count(*) FROM main.ops JOIN "steps" USING (rank)',
        "SELECT count(*) FROM OPS, (FROM Steps)",
        "FROM query_table('o' || 'ps') SELECT count(*)",
        "SELECT count(*) FROM duckdb_columns() WHERE table_name = 'conv_calls'",
        "SELECT count(*) FROM raw.ops, raw.captures",
        "CREATE TEMP TABLE mine AS FROM steps; SELECT count(*) FROM mine, ops",
        "SUMMARIZE steps",
        "DESCRIBE conv_calls",
        "SHOW TABLES",
        "PIVOT ops ON category USING count(*)",
        "SELECT (SELECT count(*) FROM (VALUES (1)) t(a), ranks)",
    ],
)
def test_a_view_is_there_wherever_a_query_reads_it(sample: Path, query: str) -> None:
    with store.open_capture(sample) as connection:
        assert connection.execute(query).fetchall()[0][0]


def test_what_is_not_there_is_said_so(sample: Path) -> None:
    with store.open_capture(sample) as connection, pytest.raises(duckdb.CatalogException, match="no_such"):
        connection.execute("FROM no_such, ops")


@pytest.mark.slow
def test_every_way_to_ask_makes_what_it_reads(sample: Path) -> None:
    with store.open_capture(sample) as connection:
        assert len(connection.sql("FROM steps")) == 3
        assert len(connection.table("ops")) == len(connection.view("raw.ops")) > 100
        with connection.cursor() as second:
            assert second.execute("SELECT count(*) FROM layers, ranks").fetchall()[0][0] > 1
        connection.begin()
        assert connection.execute("SELECT count(*) > 0 FROM conv_calls").fetchall() == [(True,)]
        connection.rollback()
        connection.execute("BEGIN TRANSACTION READ ONLY")
        assert connection.execute("SELECT count(*) > 0 FROM idle_gaps").fetchall() == [(True,)]
        connection.execute("ROLLBACK")


def test_words_in_a_text_and_in_a_comment_are_no_views_that_a_query_reads(sample: Path) -> None:
    with store.open_capture(sample) as connection:
        query = """SELECT 'it''s steps; or layers' AS "it's; one" /* scope; */ FROM raw.ranks -- totals; and busy"""
        assert connection.execute(query).fetchall() == [("it's steps; or layers",)]
        making = connection.making  # type: ignore[attr-defined]
        assert making.there.isdisjoint({"steps", "layers", "totals", "busy", "scope"})
        both = connection.execute("SELECT count(*) FROM raw.ranks; SELECT count(*) > 0 FROM layers").fetchall()
        assert both == [(True,)] and "layers" in making.there


def test_the_footer_of_a_capture_is_worked_out_once(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.open_capture(sample) as connection:
        lines = reports.footer(connection)
        monkeypatch.setattr(connection, "execute", None)
        assert reports.footer(connection) == lines != ()
    assert reports.footer(store.open_capture(sample)) == lines


@pytest.mark.slow
def test_several_threads_read_what_one_of_them_makes(sample: Path) -> None:
    names = ("busy", "conv_calls", "idle_gaps", "totals", "steps", "layers") * 3
    with store.open_capture(sample) as connection, ThreadPoolExecutor(4) as pool:
        cursors = [connection.cursor() for _ in names]
        counts = pool.map(lambda at: cursors[at].execute(f"SELECT count(*) FROM {names[at]}").fetchall(), range(18))
        found = [count for ((count,),) in counts]
    assert found[:6] == found[6:12] == found[12:] and all(found)


@pytest.mark.long
def test_two_at_once_add_to_what_is_materialized(sample: Path) -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda view: store.prepare(sample, None, view), ("totals", "ranks", "quality", "steps")))
    assert {"totals", "ranks", "quality", "steps"} <= materialized.find(sample)


def test_one_view_of_what_was_recorded_is_asked_alone(sample: Path) -> None:
    """A view that is worth keeping and rests on no attribution needs no other table to be named."""
    with views.connect(sample) as connection:
        assert connection.execute("SELECT framework FROM captures").fetchall() == [("PyTorch",)]


@pytest.mark.long
def test_activities_without_convolutions_can_be_chosen_by_role(tmp_path: Path) -> None:
    """DuckDB 2.0 fails to compare a CASE over a stored column that holds NULL alone."""
    given = Given()
    given.copy("HtoD", 0, 5, launched=0)
    write(tmp_path, given)
    with views.connect(tmp_path) as connection:
        views.make(connection)
    with views.connect(tmp_path) as connection:
        query = "SELECT count(*) FROM activities WHERE role = 'main' AND direction = 'fprop'"
        assert connection.execute(query).fetchall() == [(0,)]


@pytest.mark.slow
def test_a_device_said_by_hand_counts_for_one_command_and_is_kept_nowhere(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (16, 64, 28, 28), (64, 64, 3, 3), padding=1)
    given.kernel("volta_scudnn_128x64_relu_interior_nn_v1", 2, 8, launched=1)
    write(tmp_path / "capture", given)
    query = "SELECT peak_flop_per_s, contains(peaks_from, '--gpu H200; ') FROM conv_costs"

    def peak(device: str | None) -> list[tuple[Any, ...]]:
        options = Options(device=device)
        with views.connect(tmp_path / "capture", options) as connection:
            return connection.execute(query).fetchall()

    assert [peak(None), peak("H200"), peak(None)] == [[(15.7e12, False)], [(66.9e12, True)], [(15.7e12, False)]]
    assert "conv_costs" in materialized.find(tmp_path / "capture")


@pytest.mark.slow
def test_what_is_made_for_an_answer_is_stored_when_it_has_been_given(sample: Path) -> None:
    query = "SELECT sum(alone_ns), count(*) FROM busy"
    with store.open_capture(sample, Options(own_queries=True)) as connection:
        right = connection.execute(query).fetchall()
        assert right[0][1] > 100
        assert not materialized.find(sample)
        views.keep(connection)
        assert "busy" in materialized.find(sample)
        tables = "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'raw'"
        assert views.plain(connection).execute(tables).fetchall()[0][0] > 5
    # Whoever may ask anything cannot change what was recorded before it is stored.
    store.forget(sample)
    with store.open_capture(sample) as connection:
        assert connection.execute(query).fetchall() == right
        assert "busy" in materialized.find(sample)
        assert views.plain(connection).execute(tables).fetchall() == [(0,)]


@pytest.mark.slow
def test_ctrl_c_while_it_is_stored_takes_nothing_of_the_answer(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []

    def interrupted(draft: Path, own: Path, name: str) -> None:
        if len(stored) == 2:
            raise KeyboardInterrupt
        stored.append(name)
        put(draft, own, name)

    put = materialized.put
    monkeypatch.setattr(materialized, "put", interrupted)
    with store.open_capture(sample, Options(own_queries=True)) as connection:
        right = connection.execute("FROM totals ORDER BY ALL").fetchall()
        views.keep(connection)
    assert materialized.find(sample) == {*stored}
    monkeypatch.undo()
    # The sign that all of attribution is there is not: it is worked out again.
    with store.open_capture(sample) as connection:
        assert connection.execute("FROM totals ORDER BY ALL").fetchall() == right
    assert materialized.find(sample) > {*stored, "totals"}


EMPTY_WITHOUT = [view for view in graph.names() if graph.empty_without(view)]


@pytest.mark.slow
def test_a_view_says_what_it_is_empty_without(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(EMPTY_WITHOUT) > 10
    with store.open_capture(sample) as connection:
        with monkeypatch.context() as patch:
            # As its query has them: where the header says otherwise, what reads it could not be made.
            patch.setattr(graph, "empty_without", lambda _: frozenset())
            views.make(connection)
        named = views.plain(connection).execute("SELECT table_schema, table_name FROM information_schema.tables")
        known = {name if schema == "main" else f"{schema}.{name}" for schema, name in named.fetchall()}
        for view in EMPTY_WITHOUT:
            assert graph.empty_without(view) <= known, view
            plain = views.plain(connection)
            columns = plain.execute(f"DESCRIBE ({graph.text(view)}\n)").fetchall()
            right = ", ".join(f"{name} {kind}" for name, kind, *_ in columns)
            said = "\n".join(
                textwrap.wrap(f'types = """{right}"""', 116, initial_indent="-- ", subsequent_indent="-- ")
            )
            assert graph.types(view) == right, f"write into the header of queries/views/{view}.sql:\n{said}"


@pytest.mark.slow
def test_views_of_what_is_not_there_are_made_without_what_they_read(tmp_path: Path) -> None:
    """A trace without convolutions makes no view of their shapes."""
    given = Given()
    given.kernel("relu_kernel", 2, 8, launched=1)
    write(tmp_path, given)
    with views.connect(tmp_path, Options(own_queries=True)) as connection:
        assert connection.execute("SELECT count(*) FROM conv_totals").fetchall() == [(0,)]
        made = "SELECT table_name FROM information_schema.tables WHERE table_name = 'recorded_shapes'"
        assert views.plain(connection).execute(made).fetchall() == []


@pytest.mark.parametrize("threads", [1, 2])
def test_each_is_asked_in_order_and_by_as_many_as_there_are(sample: Path, threads: int) -> None:
    asking: set[int] = set()
    met = threading.Barrier(threads)

    def ask(own: duckdb.DuckDBPyConnection, number: int) -> tuple[int, int]:
        asking.add(threading.get_ident())
        if number < threads:
            met.wait(60)
        return own.execute("SELECT $n, count(*) FROM kernels", {"n": number}).fetchall()[0]

    with store.open_capture(sample, Options(threads=threads)) as connection:
        ((n_kernels,),) = connection.execute("SELECT count(*) FROM kernels").fetchall()
        assert views.ask_each(connection, ask, range(20)) == [(number, n_kernels) for number in range(20)]
    assert len(asking) == threads


@pytest.mark.slow
def test_an_error_of_one_ends_the_others(sample: Path) -> None:
    asked: list[int] = []

    def ask(own: duckdb.DuckDBPyConnection, number: int) -> None:
        asked.append(number)
        if number:
            time.sleep(0.05)
        else:
            own.execute("SELECT error('wrong')")

    with store.open_capture(sample, Options(threads=2)) as connection:
        with pytest.raises(duckdb.Error, match="wrong"):
            views.ask_each(connection, ask, range(1000))
        assert len(asked) < 1000 and connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["overview", "idle", "critical"])
def test_two_threads_answer_as_one(sample: Path, tmp_path: Path, name: str) -> None:
    said = []
    for threads in (1, 2):
        folder = Path(shutil.copytree(sample, tmp_path / str(threads)))
        with store.open_capture(folder, Options(threads=threads, own_queries=True)) as connection:
            best = findings.best if name == "overview" else None
            said.append(repr(reports.run(connection, name, best=best).sections))
    assert said[0] == said[1]


def test_ctrl_c_ends_both_queries_at_work(sample: Path) -> None:
    """Each would take minutes."""

    def ask(own: duckdb.DuckDBPyConnection, _: int) -> list[tuple[Any, ...]]:
        query = "SELECT count(*) FROM range(20000000) a, range(10000) b WHERE a.range % 7 = b.range % 5"
        return own.execute(query).fetchall()

    with store.open_capture(sample, Options(threads=2)) as connection, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(views.ask_each, connection, ask, range(2))
        for _ in range(300):
            time.sleep(0.1)
            connection.interrupt()
            if asked.done():
                break
        assert asked.done() and isinstance(asked.exception(), duckdb.InterruptException)


def test_an_interrupt_may_meet_a_connection_that_is_closed_already(sample: Path) -> None:
    with store.open_capture(sample) as connection:
        other = views.plain(connection).cursor()
        other.close()
        connection.others.append(other)  # type: ignore[attr-defined]
        connection.interrupt()
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.slow
def test_what_is_stored_is_there_for_other_threads_when_it_can_be_read(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.open_capture(sample) as connection:
        connection.execute("FROM totals")
    columns, early = materialized.columns, []
    with store.open_capture(sample) as connection:

        def looked_up(place: Path, name: str) -> str | None:
            early.append(name in connection.making.there)  # type: ignore[attr-defined]
            return columns(place, name)

        monkeypatch.setattr(materialized, "columns", looked_up)
        connection.execute("FROM totals")
    assert early and not any(early)
