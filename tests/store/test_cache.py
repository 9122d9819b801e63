"""Dependencies of a cache, its folder, and who may use what lies there."""

from __future__ import annotations

import ast
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceview import cli, paths, store
from traceview.errors import UsageError
from traceview.store import cache, materialized

TABLES_OF_A_FILE = (
    "traceview/readers/kineto.py",
    "traceview/readers/__init__.py",
    "traceview/readers/nvprof_calls.csv",
    "traceview/readers/kineto.toml",
    "traceview/decode/xspace.py",
    "traceview/ingest/sink.py",
    "traceview/ingest/derive/steps.py",
    "traceview/store/conversion.py",
    "traceview/store/discovery.py",
    "traceview/tables.py",
    "traceview/sql.py",
    "queries/ingest/nsys/kernels.sql",
    "queries/derive/recorded_steps.sql",
    "collectors/inject/traceview_inject/secrets.py",
)
MEANING = (
    "traceview/classify/kernels.toml",
    "traceview/classify/attribution.py",
    "traceview/store/views.py",
    "traceview/store/graph.py",
    "traceview/sql.py",
    "traceview/tables.py",
    "traceview/analysis/reports.py",
    "queries/views/steps.sql",
    "queries/attribution/parts.sql",
    "queries/derive/recorded_steps.sql",
    "queries/overview/step.sql",
    "queries/advice/host_bound.sql",
)
NEITHER = (
    "traceview/cli/report.py",
    "traceview/render/csv.py",
    "traceview/recording/nvtx.py",
    "traceview/errors.py",
    "README.md",
)


OP = b'{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 5}'
KINETO = b'{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [%s]}' % OP


@pytest.fixture
def copied(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout whose files can be edited, and are what keys are made of."""
    place = tmp_path / "checkout"
    for folder in ("traceview", "queries", "collectors"):
        shutil.copytree(root / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "README.md", place)
    monkeypatch.setattr(paths, "PACKAGE", place / "traceview")
    yield place
    cache._code.cache_clear()


def keys() -> tuple[str, str]:
    """Return the keys of the code that converts files, and of the rules that give tables their meaning."""
    return paths.digest(cache.CONVERTERS), paths.digest(materialized.RULES)


@pytest.mark.slow
def test_keys_change_with_what_decides_and_with_nothing_else(copied: Path) -> None:
    before = keys()
    for name in (*TABLES_OF_A_FILE, *MEANING, *NEITHER):
        text = (copied / name).read_bytes()
        (copied / name).write_bytes(text + b"\n")
        tables, meaning = (now != was for now, was in zip(keys(), before, strict=True))
        assert (tables, meaning) == (name in TABLES_OF_A_FILE, name in MEANING), name
        (copied / name).write_bytes(text)
    assert keys() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edited", "is_read_again"), [("queries/derive/recorded_steps.sql", True), ("queries/overview/step.sql", False)]
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


NO_PART_IN_RESULTS = {
    "__init__.py",  # The public functions.
    "errors.py",  # What is said instead of a result.
    "paths.py",  # Where things lie.
    "ingest/memory.py",  # With how much memory it is tried.
    "ingest/options.py",  # Threads, memory, progress.
    "store/cache.py",  # What this tests.
    "lazy.py",  # When DuckDB is loaded.
    "store/confine.py",  # What a connection may not do.
    "store/integrity.py",  # Whether files are whole.
    "store/materialized.py",  # What this tests.
}


def imported(package: Path, module: Path, found: set[Path]) -> set[Path]:
    """A module and those of ours that it imports, also in its functions, and so on; not what has no part in results."""
    found.add(module)
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "traceview":
            place = package.parent.joinpath(*str(node.module).split("."))
            for name in node.names:
                files = (place / f"{name.name}.py", place / name.name / "__init__.py", place.with_suffix(".py"))
                file = next((file for file in files if file.is_file()), place / "__init__.py")
                if file not in found and file.relative_to(package).as_posix() not in NO_PART_IN_RESULTS:
                    imported(package, file, found)
    return found


@pytest.mark.parametrize(
    ("start", "patterns", "also"),
    [
        ("conversion.py", cache.CONVERTERS, {"ingest/finish.py", "ingest/derive/steps.py", "tables.py"}),
        ("views.py", materialized.RULES, {"classify/attribution.py", "classify/rules.py", "sql.py", "tables.py"}),
    ],
    ids=["tables", "views"],
)
def test_no_code_that_makes_a_stored_result_is_left_out_of_its_key(
    root: Path, start: str, patterns: tuple[str, ...], also: set[str]
) -> None:
    """Else a checkout would go on to show what another version of it worked out."""
    package = root / "traceview"
    found = imported(package, package / "store" / start, set())
    assert {package / name for name in also} <= found
    assert found <= set(paths.shipped(patterns).values())


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of somebody without a home folder."""
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    cache._private.cache_clear()
    return tmp_path / "tmp"


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A trace beside which nothing may be written."""
    trace = tmp_path / "traces" / "trace.json"
    trace.parent.mkdir()
    trace.write_bytes(KINETO)
    trace.parent.chmod(0o555)
    yield trace
    trace.parent.chmod(0o755)


@pytest.mark.slow
@pytest.mark.parametrize(
    "home", ["", "relative", *(pytest.param(path, marks=pytest.mark.long) for path in ("/proc/self", "/dev/null"))]
)
def test_reports_need_no_home(
    tmp_path: Path, homeless: Path, home: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    (tmp_path / "trace.json").write_bytes(KINETO)
    assert cli.main(["report", str(tmp_path / "trace.json")]) == 0
    assert (tmp_path / "trace.json.traceview").is_dir()
    assert not Path("relative").exists()


def test_without_a_home_results_lie_in_a_private_temporary_folder(homeless: Path, read_only: Path) -> None:
    place = homeless / f"traceview-{os.getuid()}"
    assert store.resolve(read_only).is_relative_to(place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.parametrize("trap", ["link", "open", "readable", "file", "another's"])
def test_a_temporary_folder_that_may_be_anothers_is_not_used(
    tmp_path: Path, homeless: Path, read_only: Path, trap: str
) -> None:
    place = homeless / f"traceview-{os.getuid()}"
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    if trap == "link":
        place.symlink_to(tmp_path / "elsewhere")
    elif trap == "file":
        place.touch()
    else:
        place.mkdir()
        place.chmod({"open": 0o777, "readable": 0o755}.get(trap, 0o700))
    if trap == "another's":
        if os.getuid():
            pytest.skip("only root gives folders away")
        os.chown(place, 12345, 12345)
    found = store.resolve(read_only)
    assert not found.is_relative_to(place) and found.is_relative_to(homeless)
    assert stat.S_IMODE(found.parents[1].stat().st_mode) == 0o700
    assert not any((tmp_path / "elsewhere").iterdir()) and (place.is_file() or not any(place.iterdir()))


def test_where_nothing_can_be_written_it_is_said(
    tmp_path: Path, read_only: Path, homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="set XDG_CACHE_HOME or TMPDIR"):
        store.resolve(read_only)


def test_a_lock_does_not_follow_a_link(tmp_path: Path, homeless: Path) -> None:
    with cache.lock(tmp_path / "x"):
        pass
    (lock,) = homeless.glob("traceview-*/locks/*")
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    (tmp_path / "precious").write_text("mine")
    lock.unlink()
    lock.symlink_to(tmp_path / "precious")
    with cache.lock(tmp_path / "x"):
        pass
    assert (tmp_path / "precious").read_text() == "mine"
