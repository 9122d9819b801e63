"""A capture is input: whatever it brings along, a connection reads its tables and touches nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import traceview
from traceview import store
from traceview.ingest.options import Options
from traceview.store import confine

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = store.convert([SAMPLE], tmp_path_factory.mktemp("sent") / "capture")
    store.open_capture(folder).close()
    return folder


@pytest.fixture(scope="module")
def opened(capture: Path) -> duckdb.DuckDBPyConnection:
    """One connection for all that is tried on it: none of it may change what comes after."""
    return traceview.open(capture)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the user's that nothing in a capture may see or change."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("VERY-SECRET")
    return tmp_path / "outside"


REFUSED = (
    "^Permission Error: |the configuration has been locked|Table with name .* does not exist|^Secret Storage with name"
)
"""A query that DuckDB cannot read would fail too, and show nothing. Refused once, secrets fail in another way."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "FROM read_text('{0}/secret')",
        "FROM read_csv('{0}/secret')",
        "FROM '{0}/secret'",
        "FROM glob('{0}/*')",
        "COPY (SELECT 1) TO '{0}/out.csv'",
        "COPY (SELECT 1) TO '{0}/out.csv' (USE_TMP_FILE false)",
        "EXPORT DATABASE '{0}/out'",
        "ATTACH '{0}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_paths = ['{0}/secret']",
        "SET allowed_directories = ['{0}']",
        "SET allowed_configs = ['threads']",
        "SET temp_directory = '{0}'",
        "SET memory_limit = '1GB'",
        "SET threads = 1",
        "RESET lock_configuration",
        "SET GLOBAL log_query_path = '{0}/log'",
        "PRAGMA enable_profiling = 'json'",
        "SET profiling_output = '{0}/profile.json'",
        "CALL enable_profiling(save_location := '{0}/profile.json')",
        "FROM enable_profiling(save_location := '{0}/profile.txt')",
        "CALL enable_logging(storage := 'file', storage_path := '{0}/log')",
        "SET logging_storage = 'file'",
        "CREATE PERSISTENT SECRET s (TYPE http)",
        "FROM frame_of_the_program",
    ],
)
def test_an_open_capture_reads_and_writes_nothing_else(
    opened: duckdb.DuckDBPyConnection, outside: Path, query: str
) -> None:
    frame_of_the_program = duckdb.sql("SELECT 1 AS a").df()
    with opened.cursor() as cursor:
        for one in (opened, cursor):
            with pytest.raises(duckdb.Error, match=REFUSED):
                one.execute(query.format(outside)).fetchall()
        assert opened.execute("SELECT count(*) > 0 FROM ops").fetchall() == [(True,)]
    assert [path.name for path in outside.iterdir()] == ["secret"] and len(frame_of_the_program) == 1


@pytest.mark.parametrize(
    "rows",
    [
        lambda found: found.df().to_dict("records"),
        lambda found: found.to_arrow_table().to_pylist(),
        lambda found: found.to_arrow_reader(10).read_all().to_pylist(),
    ],
)
def test_an_open_capture_gives_frames_and_arrow(capture: Path, rows: Callable[[object], list[object]]) -> None:
    connection = traceview.open(capture)
    query = "SELECT count(*) AS n FROM steps"
    assert rows(connection.sql(query)) == [{"n": 3}]
    connection.execute("CREATE TEMP TABLE mine AS FROM steps")
    assert rows(connection.sql(query.replace("steps", "mine"))) == [{"n": 3}]


def test_threads_and_memory_are_set_before_it_is_confined(capture: Path) -> None:
    settings = (
        "SELECT current_setting('threads'), current_setting('memory_limit'), current_setting('lock_configuration')"
    )
    with store.open_capture(capture, Options(threads=1, memory_bytes=200_000_000)) as connection:
        assert connection.execute(settings).fetchall() == [(1, "190.7 MiB", True)]


@pytest.mark.slow
def test_each_connection_spills_to_a_folder_of_its_own_that_goes_with_it() -> None:
    long = "SELECT hash(range)::VARCHAR || 'xxxxxxxxxxxxxxxxxxxxxxxxxxx' AS b FROM range(600000) ORDER BY b"
    places = []
    for _ in range(2):
        with confine.connect(options=Options(1, 20_000_000)) as connection:
            places.append(Path(connection.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]))
            assert places[-1].parent.stat().st_mode & 0o077 == 0
            assert connection.execute(f"SELECT count(b) FROM ({long} LIMIT 599999)").fetchall() == [(599999,)]
            assert list(places[-1].iterdir())
    assert places[0] != places[1] and not any(place.exists() for place in places)


def test_without_a_temporary_folder_nothing_is_spilled(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: int) -> Path:
        raise OSError("no usable temporary folder")

    monkeypatch.setattr(confine, "_spills", none)
    with confine.connect() as connection:
        assert connection.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]
        with pytest.raises(duckdb.PermissionException):
            connection.execute("COPY (SELECT 1) TO '.tmp/out.csv'")


def test_an_asof_join_never_compares_each_row_with_each() -> None:
    """As DuckDB does where it expects few rows: of 250,000 kernels, idle time took 20 s instead of 0.3."""
    few = "SELECT a.t, b.t FROM range(3) a(t) ASOF JOIN range(5) b(t) ON a.t >= b.t"
    with confine.connect() as connection:
        ((_, plan),) = connection.execute(f"EXPLAIN {few}").fetchall()
        assert "Asof Join" in plan
        assert "Nested Loop Join" not in plan
        assert connection.execute(f"{few} ORDER BY ALL").fetchall() == [(0, 0), (1, 1), (2, 2)]
