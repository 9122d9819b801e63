"""Answers of advice in the cache: of this capture as it is, in a folder of this user, and nothing else is one."""

from __future__ import annotations

import os
import shutil
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from traceview import store
from traceview.paths import user_cache
from traceview.store import materialized, views


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "capture")


def test_answers_are_of_one_capture_as_it_is(folder: Path) -> None:
    assert materialized.recall(materialized.place(folder)) is None
    materialized.remember(materialized.place(folder), ["a", 1, None, 2.5])
    assert materialized.recall(materialized.place(folder)) == ["a", 1, None, 2.5]
    table = folder / "rank-0000/ops.parquet"
    os.utime(table, ns=(1, 1))
    assert materialized.recall(materialized.place(folder)) is None


def test_it_depends_on_everything_that_decides_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    materialized.remember(materialized.place(folder), ["a"])
    monkeypatch.setattr(materialized, "_rules", lambda: "other rules")
    assert materialized.recall(materialized.place(folder)) is None


def test_it_depends_on_the_duckdb_that_is_installed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name of its folder of metadata, which a new version changes; without one, by the library's own word."""
    site = tmp_path / "site-packages"
    (site / "duckdb-9.9.8.dist-info").mkdir(parents=True)
    spec = ModuleSpec("duckdb", None, origin=str(site / "duckdb" / "__init__.py"))
    monkeypatch.setattr(materialized, "find_spec", lambda name: spec)
    places = []
    for names in (["duckdb-9.9.8.dist-info"], ["duckdb-9.9.9.dist-info"], []):
        for old in site.iterdir():
            old.rmdir()
        for name in names:
            (site / name).mkdir()
        materialized._rules.cache_clear()
        places.append(materialized.place(folder))
    materialized._rules.cache_clear()
    assert len(set(places)) == 3


@pytest.mark.parametrize("damage", [b"", b"{", b"[" * 100_000, b" " * materialized.MOST_BYTES + b"1"])
def test_a_damaged_answer_is_none(folder: Path, damage: bytes) -> None:
    materialized.remember(materialized.place(folder), ["a"])
    (file,) = (user_cache() / "materialized").glob("*/*.json")
    file.write_bytes(damage)
    assert materialized.recall(materialized.place(folder)) is None


@pytest.fixture
def others(folder: Path, tmp_path: Path) -> list[Path]:
    """Copies of the capture: other files, other captures."""
    places = [tmp_path / f"other-{number}" for number in range(3)]
    return [Path(shutil.copytree(folder, place)) for place in places]


def test_what_nobody_asked_for_in_a_month_is_gone(folder: Path, others: list[Path]) -> None:
    materialized.remember(materialized.place(folder), ["old"])
    (place,) = (user_cache() / "materialized").iterdir()
    os.utime(place, (1, 1))
    materialized.remember(materialized.place(others[0]), ["new"])
    assert materialized.recall(materialized.place(folder)) is None and materialized.recall(
        materialized.place(others[0])
    ) == ["new"]


def test_what_was_asked_for_stays(folder: Path, others: list[Path]) -> None:
    materialized.remember(materialized.place(folder), ["old"])
    (place,) = (user_cache() / "materialized").iterdir()
    os.utime(place, (1, 1))
    assert materialized.recall(materialized.place(folder)) == ["old"]
    materialized.remember(materialized.place(others[0]), ["new"])
    assert materialized.recall(materialized.place(folder)) == ["old"]


def test_all_together_have_a_limit(folder: Path, others: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialized, "BYTES", 110)
    for number, each in enumerate((folder, *others)):
        materialized.remember(materialized.place(each), "0123456")
        for place in (user_cache() / "materialized").iterdir():
            os.utime(place, (place.stat().st_mtime - 100, place.stat().st_mtime - 100))
        assert materialized.recall(materialized.place(each)) == "0123456", number
    found = [materialized.recall(materialized.place(each)) is not None for each in (folder, *others)]
    assert found == [False, False, True, True]


def test_a_long_answer_is_not_stored(folder: Path) -> None:
    materialized.remember(materialized.place(folder), "x" * materialized.MOST_BYTES)
    assert materialized.recall(materialized.place(folder)) is None and not list(
        (user_cache() / "materialized").glob("*/*")
    )


def test_what_is_forgotten_is_gone(folder: Path, others: list[Path]) -> None:
    materialized.remember(materialized.place(folder), 1)
    materialized.remember(materialized.place(others[0]), 3)
    store.forget(folder)
    assert materialized.recall(materialized.place(folder)) is None
    assert materialized.recall(materialized.place(others[0])) == 3


def test_nothing_is_remembered_where_nothing_can_be_written(folder: Path) -> None:
    place = materialized.place(folder)
    place.write_bytes(b"in the way")
    materialized.remember(place, ["a"])
    assert materialized.recall(place) is None


def test_what_cannot_be_put_there_leaves_no_draft(folder: Path) -> None:
    place = materialized.place(folder)
    (place / "advice.json").mkdir(parents=True)
    materialized.remember(place, ["a"])
    assert [path.name for path in place.iterdir()] == ["advice.json"]


def test_a_pipe_or_an_endless_file_is_no_answer(folder: Path) -> None:
    place = materialized.place(folder)
    materialized.remember(place, ["a"])
    for name, make in (("advice", os.mkfifo), ("kernels", lambda path: path.symlink_to("/dev/zero"))):
        (place / f"{name}.json").unlink(missing_ok=True)
        make(place / f"{name}.json")
        assert materialized.recall(place, name) is None


def test_a_changed_digit_is_no_answer(folder: Path) -> None:
    place = materialized.place(folder)
    materialized.remember(place, {"conv_pct": 2.49})
    file = place / "advice.json"
    file.write_text(file.read_text(encoding="ascii").replace("2.49", "2.99"), encoding="ascii")
    assert materialized.recall(place) is None


def test_what_was_read_before_the_trace_changed_is_not_said_of_the_new_one(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a report was held up, and another command has read the new trace meanwhile."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trace = tmp_path / "trace.json.gz"
    old, new = (root / f"samples/kineto/torch-2.13.0-{name}-cpu.json.gz" for name in ("lenet", "alexnet"))
    trace.write_bytes(old.read_bytes())
    with store.open_capture(trace) as connection:
        place = views.memory_of(connection)
        trace.write_bytes(new.read_bytes())
        captured = store.resolve(trace)
        assert place and place == views.memory_of(connection) != materialized.place(captured)
