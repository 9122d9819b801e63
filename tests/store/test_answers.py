"""Answers of advice in the cache: of this capture as it is, in a folder of this user, and nothing else is one."""

from __future__ import annotations

import os
import shutil
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from traceview import store
from traceview.paths import user_cache
from traceview.store import materialized


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "capture")


def test_answers_are_of_one_capture_as_it_is(folder: Path) -> None:
    assert materialized.recall(folder) is None
    materialized.remember(folder, ["a", 1, None, 2.5])
    assert materialized.recall(folder) == ["a", 1, None, 2.5]
    table = folder / "rank-0000/ops.parquet"
    os.utime(table, ns=(1, 1))
    assert materialized.recall(folder) is None


def test_it_depends_on_everything_that_decides_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    materialized.remember(folder, ["a"])
    monkeypatch.setattr(materialized, "_rules", lambda: "other rules")
    assert materialized.recall(folder) is None


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
    materialized.remember(folder, ["a"])
    (file,) = (user_cache() / "materialized").glob("*/*.json")
    file.write_bytes(damage)
    assert materialized.recall(folder) is None


@pytest.fixture
def others(folder: Path, tmp_path: Path) -> list[Path]:
    """Copies of the capture: other files, other captures."""
    places = [tmp_path / f"other-{number}" for number in range(3)]
    return [Path(shutil.copytree(folder, place)) for place in places]


def test_what_nobody_asked_for_in_a_month_is_gone(folder: Path, others: list[Path]) -> None:
    materialized.remember(folder, ["old"])
    (place,) = (user_cache() / "materialized").iterdir()
    os.utime(place, (1, 1))
    materialized.remember(others[0], ["new"])
    assert materialized.recall(folder) is None and materialized.recall(others[0]) == ["new"]


def test_what_was_asked_for_stays(folder: Path, others: list[Path]) -> None:
    materialized.remember(folder, ["old"])
    (place,) = (user_cache() / "materialized").iterdir()
    os.utime(place, (1, 1))
    assert materialized.recall(folder) == ["old"]
    materialized.remember(others[0], ["new"])
    assert materialized.recall(folder) == ["old"]


def test_all_together_have_a_limit(folder: Path, others: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialized, "BYTES", 25)
    for number, each in enumerate((folder, *others)):
        materialized.remember(each, "0123456")
        for place in (user_cache() / "materialized").iterdir():
            os.utime(place, (place.stat().st_mtime - 100, place.stat().st_mtime - 100))
        assert materialized.recall(each) == "0123456", number
    found = [materialized.recall(each) is not None for each in (folder, *others)]
    assert found == [False, False, True, True]


def test_a_long_answer_is_not_stored(folder: Path) -> None:
    materialized.remember(folder, "x" * materialized.MOST_BYTES)
    assert materialized.recall(folder) is None and not list((user_cache() / "materialized").glob("*/*"))


def test_what_is_forgotten_is_gone(folder: Path, others: list[Path]) -> None:
    materialized.remember(folder, 1)
    materialized.remember(others[0], 3)
    store.forget(folder)
    assert materialized.recall(folder) is None
    assert materialized.recall(others[0]) == 3


def test_nothing_is_remembered_where_nothing_can_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise PermissionError("no cache")

    monkeypatch.setattr(materialized, "user_cache", nowhere)
    materialized.remember(folder, ["a"])
    assert materialized.recall(folder) is None
