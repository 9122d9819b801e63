"""A question about some ranks of a job has their rows, and opens the tables of no other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cases import first
from job_traces import written

from traceview import store
from traceview.cli import main
from traceview.errors import UsageError
from traceview.fleet import Fleet
from traceview.store import Options, recorded


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six ranks in three shards."""
    folder = tmp_path_factory.mktemp("chosen")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("traceview.fleet.merge.SHARD_RANKS", 2)
        return store.convert([written(folder / "traces", 6)], folder / "job", Options(many=Fleet(2)))


@pytest.mark.slow
@pytest.mark.parametrize("view", first(2, ["kernels", "ranks", "ops", "steps"]))
def test_rows_are_those_of_the_whole_job(job: Path, view: str) -> None:
    asked = f"FROM {view}"
    with store.open_capture(job, Options(ranks=frozenset((1, 4)))) as connection:
        found = connection.execute(f"{asked} ORDER BY ALL").fetchall()
    with store.open_capture(job) as connection:
        whole = connection.execute(f"{asked} WHERE rank IN (1, 4) ORDER BY ALL").fetchall()
    assert found
    assert found == whole


@pytest.mark.slow
def test_tables_of_other_shards_are_not_opened(job: Path) -> None:
    chosen = Options(ranks=frozenset((3,)))
    assert [path.parent.name for path in recorded.ranks(job, chosen.ranks)] == ["shard-0001"]
    files = {path.parent.parent.name for paths in recorded.files(job, chosen.ranks).values() for path in paths}
    assert files == {"shard-0001"}
    with store.open_capture(job, chosen) as connection:
        ((allowed,),) = connection.execute("SELECT current_setting('allowed_paths')").fetchall()
        assert connection.execute("SELECT DISTINCT rank FROM kernels").fetchall() == [(3,)]
    assert not [path for path in allowed if "shard-0000" in path or "shard-0002" in path]


@pytest.mark.slow
@pytest.mark.parametrize("rank", [6, 999_999_999])
def test_a_rank_that_is_not_there_is_named(job: Path, rank: int) -> None:
    with pytest.raises(UsageError, match=f"no rank {rank};"):
        store.open_capture(job, Options(ranks=frozenset((2, rank))))


@pytest.mark.slow
def test_a_report_about_one_rank(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(job), "SELECT rank, count(*) > 0 AS has FROM kernels GROUP BY 1", "--rank", "5,0"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()[2:4]] == [["0", "true"], ["5", "true"]]
    assert main(["report", str(job), "overview", "--rank", "5"]) == 0
    assert "Overview" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["report", str(job), "--rank", "5;0"])
    assert ended.value.code == 2
    assert "write for example 1,4,16" in capsys.readouterr().err


@pytest.mark.slow
def test_a_chosen_rank_whose_tables_are_gone_is_read_once_more(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces", 3)
    shutil.rmtree(store.resolve(traces) / "rank-0001")
    with store.open_capture(traces, Options(ranks=frozenset((1,)))) as connection:
        assert connection.execute("SELECT DISTINCT rank FROM kernels").fetchall() == [(1,)]


@pytest.mark.slow
def test_an_empty_folder_beside_the_ranks_of_a_trace_is_replaced(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces", 2)
    (store.resolve(traces) / "rank-0107").mkdir()
    with store.open_capture(traces) as connection:
        assert connection.execute("SELECT DISTINCT rank FROM kernels ORDER BY 1").fetchall() == [(0,), (1,)]
