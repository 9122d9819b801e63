"""Remembered answers: of this capture as it is, in a folder of this user, and nothing else is taken for one."""

from __future__ import annotations

import os
import shutil
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
    (file,) = (user_cache() / "answers").glob("*/*.json")
    file.write_bytes(damage)
    assert answers.recall(folder, "finding") is None


@pytest.fixture
def others(folder: Path, tmp_path: Path) -> list[Path]:
    """Copies of the capture: other files, other captures."""
    places = [tmp_path / f"other-{number}" for number in range(3)]
    return [Path(shutil.copytree(folder, place)) for place in places]


def test_what_nobody_asked_for_in_a_month_is_gone(folder: Path, others: list[Path]) -> None:
    answers.remember(folder, "question", ["old"])
    (place,) = (user_cache() / "answers").iterdir()
    os.utime(place, (1, 1))
    answers.remember(others[0], "question", ["new"])
    assert answers.recall(folder, "question") is None and answers.recall(others[0], "question") == ["new"]


def test_what_was_asked_for_stays(folder: Path, others: list[Path]) -> None:
    answers.remember(folder, "question", ["old"])
    (place,) = (user_cache() / "answers").iterdir()
    os.utime(place, (1, 1))
    assert answers.recall(folder, "question") == ["old"]
    answers.remember(others[0], "question", ["new"])
    assert answers.recall(folder, "question") == ["old"]


def test_all_together_have_a_limit(folder: Path, others: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "BYTES", 25)
    for number, each in enumerate((folder, *others)):
        answers.remember(each, "question", "0123456")
        for place in (user_cache() / "answers").iterdir():
            os.utime(place, (place.stat().st_mtime - 100, place.stat().st_mtime - 100))
        assert answers.recall(each, "question") == "0123456", number
    found = [answers.recall(each, "question") is not None for each in (folder, *others)]
    assert found == [False, False, True, True]


def test_a_long_answer_is_not_stored(folder: Path) -> None:
    answers.remember(folder, "long", "x" * answers.MOST_BYTES)
    assert answers.recall(folder, "long") is None and not list((user_cache() / "answers").glob("*/*"))


def test_what_is_forgotten_is_gone(folder: Path, others: list[Path]) -> None:
    answers.remember(folder, "question", 1)
    answers.remember(folder, "another", 2)
    answers.remember(others[0], "question", 3)
    store.forget(folder)
    assert [answers.recall(folder, name) for name in ("question", "another")] == [None, None]
    assert answers.recall(others[0], "question") == 3


def test_nothing_is_remembered_where_nothing_can_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise PermissionError("no cache")

    monkeypatch.setattr(answers, "user_cache", nowhere)
    answers.remember(folder, "finding", ["a"])
    assert answers.recall(folder, "finding") is None
