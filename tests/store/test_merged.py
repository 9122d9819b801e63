"""Results from shards are those from a capture in one piece, in every view."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from job_traces import written

from traceview import store
from traceview.fleet import Fleet
from traceview.store import Options, graph, materialized, views

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A capture in one piece, and one of the same traces in shards of two ranks, both materialized."""
    folder = tmp_path_factory.mktemp("merged")
    traces = written(folder / "traces", 4)
    shutil.copyfile(SAMPLE, traces / "sample.json.gz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("traceview.fleet.merge.SHARD_RANKS", 2)
        job = store.convert([traces], folder / "job", Options(many=Fleet(2)))
    alone = store.convert([traces], folder / "alone")
    for capture in (alone, job):
        store.prepare(capture, Options(many=Fleet(2)))
    return alone, job


@pytest.fixture(scope="module")
def opened(both: tuple[Path, Path]) -> Iterator[tuple[duckdb.DuckDBPyConnection, ...]]:
    """Both, with every view."""
    with store.open_capture(both[0]) as alone, store.open_capture(both[1]) as job:
        yield alone, job


@pytest.mark.slow
@pytest.mark.parametrize("view", graph.names())
def test_a_view_is_the_same(opened: tuple[duckdb.DuckDBPyConnection, ...], view: str) -> None:
    """If this fails, rows of the view depend on other ranks: its header has to say `whole_job = true`."""
    found = []
    for connection in opened:
        columns = [name for name, *_ in connection.execute(f"DESCRIBE {view}").fetchall() if name != "problem"]
        picked = ", ".join(f'"{name}"' for name in columns)
        found.append(connection.execute(f"SELECT {picked} FROM {view} ORDER BY ALL").fetchall())
    assert len(found[1]) == len(found[0])
    for merged, alone in zip(*reversed(found), strict=True):
        # A standard deviation is summed up by several threads, and so may differ in its last digit.
        doubles = [index for index, value in enumerate(alone) if isinstance(value, float)]
        assert [merged[index] for index in doubles] == pytest.approx([alone[index] for index in doubles], rel=1e-12)
        assert [value for value in merged if not isinstance(value, float)] == [
            value for value in alone if not isinstance(value, float)
        ]


def test_each_shard_is_worked_out_by_itself(both: tuple[Path, Path]) -> None:
    _, job = both
    for shard in ("shard-0000", "shard-0001", "shard-0002"):
        found = materialized.find(job / shard)
        assert "busy" in found and "rank_steps" not in found


@pytest.mark.slow
def test_what_shards_have_made_of_names_is_not_made_again_for_the_job(both: tuple[Path, Path]) -> None:
    _, job = both
    assert "attributed.op.parquet" in {path.name for path in materialized.place(job / "shard-0000").iterdir()}
    names = {path.stem for path in materialized.place(job).glob("*.parquet")}
    assert "rank_steps" in names and "busy" not in names
    assert not [name for name in names if "." in name]


@pytest.mark.slow
def test_one_shard_that_lacks_its_views_is_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it was stored, and the job, too large to be held in memory, was said to be damaged."""
    monkeypatch.setattr("traceview.fleet.merge.SHARD_RANKS", 2)
    options = Options(many=Fleet(2), own_queries=True)
    job = store.convert([written(tmp_path / "traces", 3)], tmp_path / "job", options)
    query = "SELECT count(*), sum(dur_ns) FROM counted"
    with store.open_capture(job, options) as connection:
        expected = connection.execute(query).fetchall()
    assert expected[0][0] > 0
    shards = [job / "shard-0000", job / "shard-0001"]
    sizes = []
    for shard in shards:
        with store.open_capture(shard) as connection:
            assert isinstance(connection, views.Views)
            sizes.append(connection.making.n_rows(connection.own))
    shutil.rmtree(materialized.place(job), ignore_errors=True)
    shutil.rmtree(materialized.place(shards[1]))
    monkeypatch.setattr(views, "SMALL_BYTES", 0)
    monkeypatch.setattr(views, "SMALL_ROWS", max(sizes))
    with store.open_capture(job, options) as connection:
        assert connection.execute(query).fetchall() == expected
    assert "attributed.op" in materialized.there(materialized.place(shards[1]))


@pytest.mark.slow
def test_ranks_are_those_of_all_shards_also_where_what_says_so_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("traceview.fleet.merge.SHARD_RANKS", 2)
    job = store.convert([written(tmp_path / "traces", 3)], tmp_path / "job", Options(many=Fleet(2)))
    query = "SELECT DISTINCT per_rank // per FROM counted"
    with store.open_capture(job) as connection:
        assert connection.execute(query).fetchall() == [(3,)]
    scope = materialized.file(materialized.place(job / "shard-0001"), "scope")
    scope.write_bytes(scope.read_bytes()[:-9])
    with store.open_capture(job) as connection:
        assert connection.execute(query).fetchall() == [(3,)]
    assert materialized.is_whole(scope)


@pytest.mark.long
def test_a_job_in_one_shard_is_its_shard(tmp_path: Path) -> None:
    job = store.convert([written(tmp_path / "traces", 2)], tmp_path / "job", Options(many=Fleet(2)))
    with store.open_capture(job) as connection:
        assert connection.execute("SELECT count(*) FROM kernels").fetchall() == [(12,)]
    assert materialized.find(job) == materialized.find(job / "shard-0000")
