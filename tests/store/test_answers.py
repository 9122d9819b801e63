"""Remembered answers: of this capture as it is, in a folder of this user, and nothing else is taken for one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traceview import store
from traceview.paths import user_cache
from traceview.store import answers


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.convert([root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"], tmp_path / "capture")


def test_an_answer_is_of_one_capture_and_one_question(folder: Path) -> None:
    assert answers.recall(folder, "finding") is None
    answers.remember(folder, "finding", ["a", 1, None, 2.5])
    assert answers.recall(folder, "finding") == ["a", 1, None, 2.5]
    assert answers.recall(folder, "other") is None
    table = folder / "rank-0000/ops.parquet"
    os.utime(table, ns=(1, 1))
    assert answers.recall(folder, "finding") is None


def test_it_depends_on_everything_that_decides_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers.remember(folder, "finding", ["a"])
    monkeypatch.setattr(answers, "_makers", lambda: "other rules")
    assert answers.recall(folder, "finding") is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[" * 100_000, b" " * answers.MOST_BYTES + b"1"])
def test_a_damaged_answer_is_none(folder: Path, damage: bytes) -> None:
    answers.remember(folder, "finding", ["a"])
    (file,) = (user_cache() / "answers").glob("*.json")
    file.write_bytes(damage)
    assert answers.recall(folder, "finding") is None


def test_what_nobody_asked_for_in_a_month_is_gone(folder: Path) -> None:
    answers.remember(folder, "old", ["a"])
    place = user_cache() / "answers"
    (file,) = place.glob("*.json")
    os.utime(file, (1, 1))
    answers.remember(folder, "new", ["b"])
    assert file.exists(), "it is looked after once a day"
    os.utime(place / answers.SWEPT, (1, 1))
    answers.remember(folder, "newer", ["c"])
    assert answers.recall(folder, "old") is None and answers.recall(folder, "new") == ["b"]


def test_all_together_have_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ALL_BYTES", 25)
    for number, name in enumerate(("first", "second", "third")):
        answers.remember(folder, name, "0123456")
        for file in (user_cache() / "answers").glob("*.json"):
            os.utime(file, (file.stat().st_mtime - 100, file.stat().st_mtime - 100))
        os.utime(user_cache() / "answers" / answers.SWEPT, (1, 1))
        assert answers.recall(folder, name) == "0123456", number
    answers.remember(folder, "fourth", "0123456")
    found = [name for name in ("first", "second", "third", "fourth") if answers.recall(folder, name)]
    assert found[-1] == "fourth" and "first" not in found


def test_nothing_is_remembered_where_nothing_can_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise PermissionError("no cache")

    monkeypatch.setattr(answers, "user_cache", nowhere)
    answers.remember(folder, "finding", ["a"])
    assert answers.recall(folder, "finding") is None
