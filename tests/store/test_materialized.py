"""What is materialized of a capture is this user's own, used as it was written, and made again when it is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pytest

import traceview
from traceview import store
from traceview.paths import user_cache
from traceview.store import integrity, materialized, views

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
ASKED = "FROM busy JOIN quality JOIN ops"
QUERY = "SELECT (SELECT sum(alone_ns) FROM busy), (SELECT count(*) FROM quality), count(category) FROM ops"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A capture of one operator."""
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [op]}))
    return store.convert([tmp_path / "trace.json"], tmp_path / "capture")


def answers(folder: Path) -> list[object]:
    with store.open_capture(folder, asked=ASKED) as connection:
        return connection.execute(QUERY).fetchall()


def found(folder: Path) -> Path:
    file = materialized.find(folder)
    assert file
    return file


@pytest.mark.parametrize(
    "damage",
    [
        "cut",
        "unsealed",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("another", "head", "gone", "empty", "zeros", "more")),
    ],
)
def test_what_is_materialized_and_damaged_is_worked_out_again(small: Path, tmp_path: Path, damage: str) -> None:
    right = answers(small)
    file = found(small)
    data = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "unsealed":
        (file.parent / integrity.SEAL).write_text("[")
    elif damage == "more":
        file.with_name("materialized.duckdb.wal").write_bytes(data)
    else:
        with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
            other.execute("CREATE TABLE busy AS SELECT 1 AS alone_ns")
        file.write_bytes({"cut": data[:-1], "empty": b"", "zeros": bytes(len(data)), "head": bytes(100) + data[100:],
            "another": (tmp_path / "other.duckdb").read_bytes()}[damage])  # fmt: skip
    assert materialized.find(small) is None
    assert answers(small) == right
    assert found(small) == file and file.stat().st_size > 0


def test_it_lies_in_the_cache_of_the_user_alone(small: Path) -> None:
    before = sorted(small.rglob("*"))
    answers(small)
    assert sorted(small.rglob("*")) == before
    place = found(small).parent
    assert place.parent == user_cache() / "materialized"
    assert [path.stat().st_mode & 0o077 for path in (place, place.parent)] == [0, 0]


def test_it_is_of_these_files_whatever_sums_the_capture_names(small: Path, tmp_path: Path) -> None:
    answers(small)
    (tmp_path / "copy").mkdir()
    for path in small.rglob("*"):
        target = tmp_path / "copy" / path.relative_to(small)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    assert materialized.find(tmp_path / "copy") is None
    file = found(small)
    small.rename(tmp_path / "moved")
    assert materialized.find(tmp_path / "moved") == file
    os.utime(tmp_path / "moved" / "rank-0000" / "ops.parquet", (1, 1))
    assert materialized.find(tmp_path / "moved") is None


def test_it_follows_the_rules(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(small)
    monkeypatch.setattr(materialized, "_rules", lambda: "others")
    assert materialized.find(small) is None


def test_a_folder_that_others_can_write_to_is_not_trusted(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    right = answers(small)
    found(small).parent.parent.chmod(0o770)
    assert materialized.find(small) is None
    assert answers(small) == right


@pytest.mark.long
@pytest.mark.parametrize("home", ["a file", "full of links"])
def test_without_a_cache_the_answer_is_the_same(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    right = answers(small)
    (tmp_path / "home").mkdir()
    (tmp_path / "elsewhere").mkdir()
    for name in ("traceview", f"traceview-{os.getuid()}"):
        place = tmp_path / "home" / name
        place.touch() if home == "a file" else place.symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "home"))
    assert answers(small) == right
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.long
def test_what_was_not_used_for_long_makes_room(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    answers(small)
    places = [found(small).parent]
    for name, days in (("old", 31), ("large", 2), ("young", 1)):
        places.append(places[0].with_name(name))
        places[-1].mkdir()
        (places[-1] / "materialized.duckdb").write_bytes(bytes(10))
        when = places[0].stat().st_mtime - 24 * 3600 * days
        os.utime(places[-1], (when, when))
    monkeypatch.setattr(materialized, "BYTES", sum(file.stat().st_size for file in places[0].iterdir()) + 10)
    materialized.forget(small)
    assert not places[0].exists()
    views.materialize(small, asked=ASKED)
    assert [place.exists() for place in places] == [True, False, False, True]


@pytest.mark.long
def test_two_connections_of_a_process_share_what_is_materialized(tmp_path: Path) -> None:
    folder = store.convert([SAMPLE], tmp_path / "a [b]#*%.capture")
    first, second = store.open_capture(folder), store.open_capture(folder)
    (count,) = first.execute("SELECT count(*) FROM materialized.busy").fetchall()
    assert second.execute("SELECT count(*) FROM busy").fetchall() == [count]
    assert count[0] > 0


@pytest.mark.long
def test_a_capture_with_a_question_mark_in_its_path(small: Path, tmp_path: Path) -> None:
    small.rename(tmp_path / "why?.capture")
    with traceview.open(tmp_path / "why?.capture") as connection:
        assert connection.execute("SELECT count(*) FROM materialized.busy").fetchall() == [(1,)]


def test_below_a_cache_with_a_question_mark_nothing_is_materialized(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "why?"))
    assert answers(small)
    assert materialized.find(small) is None
