"""A capture as a connection: a large one keeps its views beside it, and says the same as a small one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
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


@pytest.fixture
def sample(tmp_path: Path, captures: Any) -> Path:
    """A copy of the sample's capture, of which nothing is materialized yet."""
    return Path(shutil.copytree(captures.folder_of(SAMPLE), tmp_path / "capture"))


def said(connection: duckdb.DuckDBPyConnection, names: Sequence[str] = ()) -> dict[str, Any]:
    done = {name: reports.run(connection, name, {}) for name in names or reports.names()}
    return {name: [[*report.footer], *(section.rows for section in report.sections)] for name, report in done.items()}


FEW = ("overview", "critical", "layers")


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
    held = said(views.connect(folder), names)
    assert materialized.find(folder) is None
    first = store.open_capture(folder)
    file = materialized.find(folder)
    assert file
    made = duckdb.connect(str(file), read_only=True).execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert {name for (name,) in made} == {*MATERIALIZED, *views.ATTRIBUTED, *facts.TABLES, "kernel", "op", "primitive"}
    assert not list(folder.glob(".*"))
    # Sums of floating-point numbers may be added in another order.
    for found in (said(first, names), said(store.open_capture(folder), names)):
        assert repr(found) == repr(held) or _close(found, held)
    read = first.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'busy'").fetchall()
    assert '"materialized".busy' in read[0][0]


@pytest.mark.long
def test_a_large_capture_says_what_a_small_one_says(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its views are not held as tables in memory where they are stored."""
    query = "FROM busy ORDER BY ALL"
    held = views.connect(sample, query).execute(query).fetchall()
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    connection = store.open_capture(sample, None, query)
    assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'memory'").fetchall() == [
        (0,)
    ]
    assert connection.execute(query).fetchall() == held and len(held) > 100


@pytest.mark.long
def test_every_report_of_a_large_capture_says_what_that_of_a_small_one_says(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = said(views.connect(sample))
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    assert _close(said(views.connect(sample)), held)


@pytest.mark.long
def test_a_large_capture_is_materialized_with_little_memory(
    sample: Path, monkeypatch: pytest.MonkeyPatch, rooms: list[int]
) -> None:
    """What fails for want of memory is done again with more, however many tables it makes."""
    held = said(views.connect(sample), ["overview", "conv"])
    monkeypatch.setattr(views, "SMALL_ROWS", 0)
    monkeypatch.setattr(views, "LEAST_BYTES", 1_000_000)
    views.materialize(sample)
    assert materialized.find(sample)
    assert len(rooms) > 1
    assert _close(said(views.connect(sample), ["overview", "conv"]), held)


def test_too_little_memory_is_not_called_damage(sample: Path) -> None:
    with pytest.raises(InputError, match="not enough memory or disk for"):
        views.connect(sample, options=Options(memory_bytes=1_000_000))


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, float):
        return a == pytest.approx(b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_close, a, b))
    return bool(a == b)


def test_materialized_views_can_be_read_and_not_written(sample: Path) -> None:
    connection = store.open_capture(sample)
    assert connection.execute("SELECT count(*) > 0 FROM busy").fetchall() == [(True,)]
    for query, told in (
        (f"FROM read_text('{sample}/converted.json')", "Permission Error"),
        ("DROP TABLE materialized.busy", "read-only"),
        ("CREATE TABLE materialized.more AS SELECT 1", "read-only"),
    ):
        with pytest.raises(duckdb.Error, match=told):
            connection.execute(query)


@pytest.mark.long
def test_what_is_materialized_has_the_types_of_what_is_worked_out(sample: Path) -> None:
    fresh, stored = views.connect(sample), store.open_capture(sample)
    for view in sorted(MATERIALIZED):
        assert stored.execute(f"DESCRIBE {view}").fetchall() == fresh.execute(f"DESCRIBE {view}").fetchall()


def test_where_nothing_can_be_materialized_the_answer_is_the_same(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> str:
        raise OSError("read-only")

    monkeypatch.setattr(tempfile, "mkdtemp", fails)
    connection = store.open_capture(sample)
    assert reports.run(connection, "overview", {}).sections[0].rows
    assert materialized.find(sample) is None


def test_what_is_asked_is_materialized_and_added_to_later(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(asked: str) -> frozenset[str]:
        with store.open_capture(sample, asked=asked) as connection:
            assert connection.execute(asked).fetchall()
        file = materialized.find(sample)
        return frozenset(name for name in materialized.tables(file) if "." not in name) if file else frozenset()

    assert held("SELECT count(*) FROM raw.ops") == frozenset()
    assert held("SELECT count(*) FROM ranks") == {"ranks"}
    some = held("SELECT count(*) FROM step_times")
    assert {"ranks", "step_times"} <= some < MATERIALIZED
    with store.open_capture(sample, asked="FROM step_times") as reading:
        assert held("SELECT count(*) FROM conv_calls") > some
        assert reading.execute("SELECT count(*) FROM step_times").fetchall() == [(3,)], "an old database stays readable"
    monkeypatch.setattr(views, "_fill", None)
    assert held("SELECT count(*) FROM conv_calls JOIN ranks USING (rank)") >= some


@pytest.mark.long
def test_without_a_query_everything_can_be_read_that_is_materialized(sample: Path) -> None:
    with store.open_capture(sample) as connection:
        for name in facts.TABLES:
            assert connection.execute(f"SELECT count(*) > 0 FROM names.{name}").fetchall() == [(True,)]


@pytest.mark.long
def test_two_processes_add_to_what_is_materialized(sample: Path) -> None:
    with ThreadPoolExecutor() as pool:
        list(
            pool.map(
                lambda view: views.materialize(sample, asked=f"FROM {view}"), ("totals", "ranks", "quality", "steps")
            )
        )
    file = materialized.find(sample)
    assert file and {"totals", "ranks", "quality", "steps"} <= materialized.tables(file)


def test_one_view_of_what_was_recorded_is_asked_alone(sample: Path) -> None:
    """A view that is worth keeping and rests on no attribution needs no other table to be named."""
    with views.connect(sample, "SELECT framework FROM captures") as connection:
        assert connection.execute("SELECT framework FROM captures").fetchall() == [("PyTorch",)]


@pytest.mark.long
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
