"""What needs more memory than it was given, or is done in slices because it is much, comes out the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview import conversion, sink, store
from traceview.derive import nesting
from traceview.model import Options

SAMPLE = Path(__file__).resolve().parent.parent / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


def test_too_little_memory_is_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.convert([SAMPLE], tmp_path / "plenty")
    monkeypatch.setattr(conversion, "FIRST_BYTES", 1_000_000)
    store.convert([SAMPLE], tmp_path / "little", Options(memory_bytes=2_000_000_000))
    for file in sorted((tmp_path / "plenty").glob("rank-*/*.parquet")):
        other = tmp_path / "little" / file.relative_to(tmp_path / "plenty")
        assert _rows(file) == _rows(other), file.name


def test_a_large_trace_becomes_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.convert([SAMPLE], tmp_path / "small")
    monkeypatch.setattr(sink, "MANY", 1)
    monkeypatch.setattr(nesting, "SLICE", 100)
    store.convert([SAMPLE], tmp_path / "large")
    for file in sorted((tmp_path / "small").glob("rank-*/*.parquet")):
        assert _rows(file) == _rows(tmp_path / "large" / file.relative_to(tmp_path / "small")), file.name
    assert len(_rows(next((tmp_path / "large").glob("rank-*/ops.parquet")))) > 100


def _rows(file: Path) -> list[tuple[object, ...]]:
    import duckdb

    return [tuple(row) for row in duckdb.sql(f"SELECT * FROM '{file}' ORDER BY ALL").fetchall()]
