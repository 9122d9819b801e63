"""Materialized tables of a capture are this user's own, used as they were written, and made again when they are not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from asked import held

import traceview
from traceview import store
from traceview.paths import user_cache
from traceview.store import materialized

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
QUERY = "SELECT (SELECT sum(alone_ns) FROM busy), (SELECT count(*) FROM quality), count(category) FROM ops"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A capture of one operator."""
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
    (tmp_path / "trace.json").write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [op]}))
    return store.convert([tmp_path / "trace.json"], tmp_path / "capture")


def answers(folder: Path) -> list[object]:
    with store.open_capture(folder) as connection:
        return connection.execute(QUERY).fetchall()


def found(folder: Path) -> Path:
    assert "busy" in materialized.find(folder)
    return materialized.file(materialized.place(folder), "busy")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["bit", "unsummed", "cut", "gone", "empty", "more"])
def test_what_is_materialized_and_damaged_is_worked_out_again(small: Path, damage: str) -> None:
    right = answers(small)
    file = found(small)
    data = file.read_bytes()
    note = file.with_suffix(materialized.SUM)
    if damage == "gone":
        file.unlink()
    elif damage == "unsummed":
        note.write_text("")
    else:
        bit = data[:100] + bytes((data[100] ^ 1,)) + data[101:]
        file.write_bytes({"cut": data[:-1], "empty": b"", "more": data + b"0", "bit": bit}[damage])
    assert answers(small) == right
    assert file.read_bytes() == data and materialized.is_whole(file)


@pytest.mark.slow
def test_a_damaged_verdict_on_names_is_worked_out_again_with_all_of_them(tmp_path: Path) -> None:
    folder = store.prepare(store.convert([SAMPLE], tmp_path / "capture"))
    query = "SELECT category, count(*), sum(dur_ns) FROM ops GROUP BY ALL ORDER BY ALL"
    with store.open_capture(folder) as connection:
        right = connection.execute(query).fetchall()
    for name in ("names.op", "attributed.part"):
        materialized.file(materialized.place(folder), name).write_bytes(b"")
    with store.open_capture(folder) as connection:
        assert connection.execute("SELECT count(*) > 0 FROM names.device").fetchall() == [(True,)]
        assert connection.execute(query).fetchall() == right


def test_it_lies_in_the_cache_of_the_user_alone(small: Path) -> None:
    before = sorted(small.rglob("*"))
    answers(small)
    assert sorted(small.rglob("*")) == before
    place = found(small).parent
    assert place.parent == user_cache() / "materialized"
    assert [path.stat().st_mode & 0o077 for path in (place, place.parent)] == [0, 0]


@pytest.mark.slow
def test_tables_without_rows_are_kept_as_their_columns(small: Path) -> None:
    with store.open_capture(small) as connection:
        assert connection.execute("SELECT count(*) FROM busy, kernels").fetchall() == [(0,)]
        made = [(name, str(kind)) for name, kind, *_ in connection.execute("FROM kernels").description or ()]
    place = materialized.place(small)
    file = place / "kernels.empty"
    assert file.read_text().startswith("id BIGINT, rank INTEGER") and not (place / "kernels.parquet").exists()
    assert (place / "busy.parquet").exists() and "kernels" in materialized.find(small)
    with store.open_capture(small) as connection:
        assert not held(connection)
        assert connection.execute("FROM kernels").fetchall() == []
        assert made == [(name, str(kind)) for name, kind, *_ in connection.execute("FROM kernels").description or ()]
    file.write_text("other INTEGER")
    with store.open_capture(small) as connection:
        assert made == [(name, str(kind)) for name, kind, *_ in connection.execute("FROM kernels").description or ()]
    assert file.read_text().startswith("id BIGINT")


@pytest.mark.slow
def test_it_is_of_these_files_whatever_sums_the_capture_names(small: Path, tmp_path: Path) -> None:
    answers(small)
    (tmp_path / "copy").mkdir()
    for path in small.rglob("*"):
        target = tmp_path / "copy" / path.relative_to(small)
        target.mkdir() if path.is_dir() else target.write_bytes(path.read_bytes())
    assert not materialized.find(tmp_path / "copy")
    file = found(small)
    small.rename(tmp_path / "moved")
    assert found(tmp_path / "moved") == file
    os.utime(tmp_path / "moved" / "rank-0000" / "ops.parquet", (1, 1))
    assert not materialized.find(tmp_path / "moved")


def test_it_follows_the_rules(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(small)
    monkeypatch.setattr(materialized, "_rules", lambda: "others")
    assert not materialized.find(small)


@pytest.mark.slow
def test_a_folder_that_others_can_write_to_is_not_trusted(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    right = answers(small)
    found(small).parent.parent.chmod(0o770)
    assert not materialized.find(small)
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
        (places[-1] / "busy.parquet").write_bytes(bytes(10))
        when = places[0].stat().st_mtime - 24 * 3600 * days
        os.utime(places[-1], (when, when))
    monkeypatch.setattr(materialized, "BYTES", sum(file.stat().st_size for file in places[0].iterdir()) + 10)
    materialized.forget(small)
    assert not places[0].exists()
    answers(small)
    assert [place.exists() for place in places] == [True, False, False, True]


def test_only_folders_that_were_used_since_are_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [tmp_path / "materialized" / name for name in "abcd"]
    for age, place in enumerate(places):
        place.mkdir(parents=True)
        (place / "busy.parquet").write_bytes(bytes(10))
        os.utime(place, (time.time() - 1000 * age - 100,) * 2)
    looked: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (looked.append(getattr(path, "name", "")), scandir(path))[1])
    materialized.make_room(places[0], 40)
    assert sorted(looked) == ["a", "b", "c", "d", "materialized"]
    looked.clear()
    (places[2] / "busy.parquet").write_bytes(bytes(20))
    os.utime(places[2])
    materialized.make_room(places[0], 50)
    assert sorted(looked) == ["c", "materialized"] and all(place.exists() for place in places)
    materialized.make_room(places[0], 49)
    assert [place.exists() for place in places] == [True, True, True, False]
    for damaged in ("[1]", '{"a": "10", "b": null, "c": Infinity}', '{"a": 1'):
        (tmp_path / "materialized.sizes").write_text(damaged)
        looked.clear()
        materialized.make_room(places[0], 40)
        assert sorted(looked) == ["a", "b", "c", "materialized"], damaged


@pytest.mark.long
@pytest.mark.parametrize("name", ["a [b]#*%.capture", "why?.capture", "it's.capture"])
def test_a_capture_with_an_odd_name(small: Path, tmp_path: Path, name: str) -> None:
    small.rename(tmp_path / name)
    for _ in range(2):
        with traceview.open(tmp_path / name) as connection:
            assert connection.execute("SELECT count(*) FROM busy").fetchall() == [(1,)]


@pytest.mark.parametrize("name", ["why?", "it's [b]"])
def test_a_cache_with_an_odd_name(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    right = answers(small)
    assert found(small)
    with store.open_capture(small) as connection:
        assert not held(connection)
        assert connection.execute(QUERY).fetchall() == right
