"""What needs more memory than it was given is done again with more, and comes out the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from traceview import conversion, store
from traceview.model import Options

SAMPLE = Path(__file__).resolve().parent.parent / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


def test_too_little_memory_is_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.convert([SAMPLE], tmp_path / "plenty")
    monkeypatch.setattr(conversion, "FIRST_BYTES", 1_000_000)
    store.convert([SAMPLE], tmp_path / "little", Options(memory_bytes=2_000_000_000))
    for file in sorted((tmp_path / "plenty").glob("rank-*/*.parquet")):
        other = tmp_path / "little" / file.relative_to(tmp_path / "plenty")
        assert _rows(file) == _rows(other), file.name


def _rows(file: Path) -> list[tuple[object, ...]]:
    import duckdb

    return [tuple(row) for row in duckdb.sql(f"SELECT * FROM '{file}' ORDER BY ALL").fetchall()]
