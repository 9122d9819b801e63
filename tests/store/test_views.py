"""A capture as a connection: a large one keeps its views beside it, and says the same as a small one."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest
from given import Given, conv, write

from traceview import store
from traceview.analysis import reports
from traceview.classify import facts
from traceview.errors import InputError
from traceview.ingest.options import Options
from traceview.store import graph, materialized, views

ROOT = Path(__file__).resolve().parents[2]
MATERIALIZED = frozenset(filter(graph.is_materialized, graph.names()))
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


def said(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    done = {name: reports.run(connection, name, {}) for name in reports.names()}
    return {name: [[*report.footer], *(section.rows for section in report.sections)] for name, report in done.items()}


@pytest.mark.parametrize("trace", ["sample", "gpu"])
def test_materialized_views_say_what_views_say(
    trace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    path = SAMPLE
    if trace == "gpu":
        path = request.getfixturevalue("shared") / "traces/kineto/mi250-minitoy-train.json.gz"
    folder = store.convert([path], tmp_path / "capture")
    held = said(views.connect(folder))
    assert materialized.find(folder) is None
    first = store.open_capture(folder)
    file = materialized.find(folder)
    assert file
    made = duckdb.connect(str(file), read_only=True).execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert {name for (name,) in made} == {*MATERIALIZED, *views.ATTRIBUTED, *facts.TABLES, "kernel", "op", "primitive"}
    assert not list(folder.glob(".*"))
    file.unlink()
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    viewed = said(views.connect(folder))
    # Sums of floating-point numbers may be added in another order.
    for found in (said(first), said(store.open_capture(folder)), viewed):
        assert repr(found) == repr(held) or _close(found, held)
    read = first.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'busy'").fetchall()
    assert '"materialized".busy' in read[0][0]


def test_a_large_capture_is_materialized_with_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rooms: list[int]
) -> None:
    """What fails for want of memory is done again with more, however many tables it makes."""
    folder = store.convert([SAMPLE], tmp_path / "capture")
    held = said(views.connect(folder))
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    monkeypatch.setattr(views, "MATERIALIZE_BYTES", 1_000_000)
    views.materialize(folder)
    assert materialized.find(folder)
    assert len(rooms) > 1
    assert _close(said(views.connect(folder)), held)


def test_too_little_memory_is_not_called_damage(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    with pytest.raises(InputError, match="not enough memory or disk for"):
        views.connect(folder, options=Options(memory_bytes=1_000_000))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float):
        return a == pytest.approx(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_close, a, b))
    return bool(a == b)


def test_materialized_views_can_be_read_and_not_written(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    connection = store.open_capture(folder)
    assert connection.execute("SELECT count(*) > 0 FROM busy").fetchall() == [(True,)]
    for query in (
        f"FROM '{folder}/converted.json'",
        "DROP TABLE materialized.busy",
        "CREATE TABLE materialized.more AS SELECT 1",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(query)


def test_what_is_materialized_has_the_types_of_what_is_worked_out(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    fresh, stored = views.connect(folder), store.open_capture(folder)
    for view in sorted(MATERIALIZED):
        assert stored.execute(f"DESCRIBE {view}").fetchall() == fresh.execute(f"DESCRIBE {view}").fetchall()


def test_where_nothing_can_be_materialized_the_answer_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")

    def fails(*_: object, **__: object) -> str:
        raise OSError("read-only")

    monkeypatch.setattr(tempfile, "mkdtemp", fails)
    connection = store.open_capture(folder)
    assert reports.run(connection, "overview", {}).sections[0].rows
    assert materialized.find(folder) is None


def test_what_is_asked_is_materialized_and_added_to_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")

    def held(asked: str) -> frozenset[str]:
        with store.open_capture(folder, asked=asked) as connection:
            assert connection.execute(asked).fetchall()
        file = materialized.find(folder)
        return frozenset(name for name in materialized.tables(file) if "." not in name) if file else frozenset()

    assert held("SELECT count(*) FROM raw.ops") == frozenset()
    assert held("SELECT count(*) FROM ranks") == {"ranks"}
    some = held("SELECT count(*) FROM step_times")
    assert {"ranks", "step_times"} <= some < MATERIALIZED
    with store.open_capture(folder, asked="FROM step_times") as reading:
        assert held("SELECT count(*) FROM conv_calls") > some
        assert reading.execute("SELECT count(*) FROM step_times").fetchall() == [(3,)], "an old database stays readable"
    monkeypatch.setattr(views, "_fill", None)
    assert held("SELECT count(*) FROM conv_calls JOIN ranks USING (rank)") >= some


def test_without_a_query_everything_can_be_read_that_is_materialized(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    with store.open_capture(folder) as connection:
        for name in facts.TABLES:
            assert connection.execute(f"SELECT count(*) > 0 FROM names.{name}").fetchall() == [(True,)]


def test_two_processes_add_to_what_is_materialized(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "capture")
    with ThreadPoolExecutor() as pool:
        list(
            pool.map(
                lambda view: views.materialize(folder, asked=f"FROM {view}"), ("totals", "ranks", "quality", "steps")
            )
        )
    file = materialized.find(folder)
    assert file and {"totals", "ranks", "quality", "steps"} <= materialized.tables(file)


def test_one_view_of_what_was_recorded_is_asked_alone(tmp_path: Path) -> None:
    """A view that is worth keeping and rests on no attribution needs no other table to be named."""
    folder = store.convert([SAMPLE], tmp_path / "capture")
    with views.connect(folder, "SELECT framework FROM captures") as connection:
        assert connection.execute("SELECT framework FROM captures").fetchall() == [("PyTorch",)]


def test_activities_without_convolutions_can_be_chosen_by_role(tmp_path: Path) -> None:
    """DuckDB 2.0 fails to compare a CASE over a stored column that holds NULL alone."""
    given = Given()
    given.copy("HtoD", 0, 5, launched=0)
    write(tmp_path, given)
    views.materialize(tmp_path)
    with views.connect(tmp_path) as connection:
        query = "SELECT count(*) FROM activities WHERE role = 'main' AND direction = 'fprop'"
        assert connection.execute(query).fetchall() == [(0,)]


def test_a_device_said_by_hand_counts_for_one_command_and_is_kept_nowhere(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (16, 64, 28, 28), (64, 64, 3, 3), padding=1)
    given.kernel("volta_scudnn_128x64_relu_interior_nn_v1", 2, 8, launched=1)
    write(tmp_path / "capture", given)
    query = "SELECT peak_flop_per_s, contains(peaks_from, 'device H200; ') FROM conv_costs"

    def peak(device: str | None) -> list[tuple[Any, ...]]:
        options = Options(device=device)
        views.materialize(tmp_path / "capture", options, query)
        with views.connect(tmp_path / "capture", query, options) as connection:
            return connection.execute(query).fetchall()

    assert [peak(None), peak("H200"), peak(None)] == [[(15.7e12, False)], [(66.9e12, True)], [(15.7e12, False)]]
    file = materialized.find(tmp_path / "capture")
    assert file and "conv_costs" in materialized.tables(file)
