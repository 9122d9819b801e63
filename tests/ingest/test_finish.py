"""Results are equal where the work needs more memory than it was given, or is done apart because it is much."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from traceview import store
from traceview.errors import InputError
from traceview.ingest import finish
from traceview.ingest.derive import nesting
from traceview.ingest.options import Options

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SAMPLE = SAMPLES / "kineto/torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def plenty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample converted with nothing in the way: tables are written while others are worked out."""
    return store.convert([SAMPLE], tmp_path_factory.mktemp("plenty") / "capture")


@pytest.mark.parametrize("at_once", [0, finish.AT_ONCE_ROWS])
def test_too_little_memory_is_doubled(
    plenty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rooms: list[int], at_once: int
) -> None:
    monkeypatch.setattr(finish, "AT_ONCE_ROWS", at_once)
    for room in ("FIRST_BYTES", "AT_ONCE_BYTES"):
        monkeypatch.setattr(finish, room, 1_000_000)
    _assert_equal(plenty, store.convert([SAMPLE], tmp_path / "little", Options(memory_bytes=2_000_000_000)))
    assert len(rooms) > 1
    assert rooms == sorted(rooms)


def test_what_cannot_fit_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that fails with all the memory there is ends, also beside other work."""

    def full(*_: object) -> None:
        raise duckdb.OutOfMemoryException("no room")

    monkeypatch.setattr(finish.Export, "write", full)
    with pytest.raises(InputError, match="not enough memory or disk for this trace"):
        store.convert([SAMPLE], tmp_path / "capture")
    assert list(tmp_path.iterdir()) == []


def test_a_large_trace_becomes_the_same_tables(plenty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish, "AT_ONCE_ROWS", 0)
    monkeypatch.setattr(finish, "MANY", 1)
    monkeypatch.setattr(nesting, "SLICE", 100)
    large = store.convert([SAMPLE], tmp_path / "large")
    _assert_equal(plenty, large)
    assert len(_rows(next(large.glob("rank-*/ops.parquet")))) > 100


@pytest.mark.parametrize("at_once", [0, finish.AT_ONCE_ROWS])
def test_rows_of_some_tables_are_written_by_their_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(finish, "AT_ONCE_ROWS", at_once)
    log = SAMPLES / "onednn/onednn-3.12.0-lenet-cpu.log.gz"
    capture = store.convert([log], tmp_path / "capture")
    (file,) = capture.glob("rank-*/primitives.parquet")
    ids = [row[0] for row in duckdb.sql(f"SELECT id FROM read_parquet('{file}')").fetchall()]
    assert len(ids) > 10
    assert ids == sorted(ids)


def _assert_equal(one: Path, other: Path) -> None:
    files = sorted(one.glob("rank-*/*.parquet"))
    assert files
    for file in files:
        assert _rows(file) == _rows(other / file.relative_to(one)), file.name


def _rows(file: Path) -> list[tuple[object, ...]]:
    return [tuple(row) for row in duckdb.sql(f"SELECT * FROM '{file}' ORDER BY ALL").fetchall()]


def test_times_are_stored_as_differences(plenty: Path) -> None:
    """That is half the size of a capture, and readers outside of DuckDB know it."""
    (file,) = plenty.glob("rank-*/ops.parquet")
    table = pq.read_table(file)
    columns = pq.ParquetFile(file).metadata.row_group(0)
    encodings = {
        columns.column(place).path_in_schema: columns.column(place).encodings for place in range(len(table.schema))
    }
    assert "DELTA_BINARY_PACKED" in encodings["start_ns"]
    with store.open_capture(plenty) as connection:
        assert connection.execute("SELECT start_ns FROM raw.ops").fetchall() == [
            (at,) for at in table["start_ns"].to_pylist()
        ]
