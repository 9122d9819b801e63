"""What a cache depends on, where it lies, and who may use what lies there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceview import paths, store
from traceview.store import cache, materialized

TABLES_OF_A_FILE = (
    "traceview/readers/kineto.py",
    "traceview/readers/__init__.py",
    "traceview/readers/nvprof_calls.csv",
    "traceview/decode/xspace.py",
    "traceview/ingest/sink.py",
    "traceview/ingest/derive/steps.py",
    "traceview/store/conversion.py",
    "traceview/store/discovery.py",
    "traceview/tables.py",
    "traceview/sql.py",
    "queries/ingest/nsys/kernels.sql",
    "queries/derive/steps_from_copies.sql",
)
MEANING = (
    "traceview/classify/kernels.toml",
    "traceview/classify/attribution.py",
    "traceview/store/views.py",
    "queries/views/steps.sql",
    "queries/attribution/parts.sql",
)
NEITHER = (
    "traceview/cli/report.py",
    "traceview/render/csv.py",
    "traceview/analysis/reports.py",
    "traceview/recording/nvtx.py",
    "traceview/errors.py",
    "queries/overview/step.sql",
    "queries/advice/launch_bound.sql",
    "README.md",
)


OP = b'{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 5}'
KINETO = b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [%s]}' % OP


@pytest.fixture
def copied(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout whose files can be edited, and are what keys are made of."""
    place = tmp_path / "checkout"
    for folder in ("traceview", "queries"):
        shutil.copytree(root / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "README.md", place)
    monkeypatch.setattr(paths, "PACKAGE", place / "traceview")
    yield place
    cache._code.cache_clear()


def keys() -> tuple[str, str]:
    """Of what turns files into tables, and of what tables mean."""
    return paths.digest(cache.CONVERTERS), paths.digest(materialized.RULES)


def test_keys_change_with_what_decides_and_with_nothing_else(copied: Path) -> None:
    before = keys()
    for name in (*TABLES_OF_A_FILE, *MEANING, *NEITHER):
        text = (copied / name).read_bytes()
        (copied / name).write_bytes(text + b"\n")
        tables, meaning = (now != was for now, was in zip(keys(), before, strict=True))
        assert (tables, meaning) == (name in TABLES_OF_A_FILE, name in MEANING), name
        (copied / name).write_bytes(text)
    assert keys() == before


@pytest.mark.parametrize(
    ("edited", "is_read_again"), [("queries/derive/steps_from_copies.sql", True), ("queries/overview/step.sql", False)]
)
def test_a_trace_is_read_again_when_what_reads_it_is_another(
    copied: Path, tmp_path: Path, edited: str, is_read_again: bool
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(KINETO)
    cache._code.cache_clear()
    written = (store.resolve(trace) / "rank-0000/ops.parquet").stat().st_mtime_ns
    with (copied / edited).open("a") as file:
        file.write("\n")
    cache._code.cache_clear()
    assert ((store.resolve(trace) / "rank-0000/ops.parquet").stat().st_mtime_ns != written) == is_read_again


def test_the_key_covers_every_file_of_the_rooms_that_convert(root: Path) -> None:
    rooms = [root / "traceview" / room for room in ("readers", "decode", "ingest")]
    rooms += [root / "queries" / room for room in ("ingest", "derive")]
    files = {path for room in rooms for path in room.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert files <= set(paths.shipped(cache.CONVERTERS).values())
