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
    (file,) = (user_cache() / "answers").iterdir()
    file.write_bytes(damage)
    assert answers.recall(folder, "finding") is None


def test_what_nobody_asked_for_in_a_month_is_gone(folder: Path) -> None:
    answers.remember(folder, "old", ["a"])
    (file,) = (user_cache() / "answers").iterdir()
    os.utime(file, (1, 1))
    answers.remember(folder, "new", ["b"])
    assert answers.recall(folder, "old") is None and answers.recall(folder, "new") == ["b"]


def test_nothing_is_remembered_where_nothing_can_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise PermissionError("no cache")

    monkeypatch.setattr(answers, "user_cache", nowhere)
    answers.remember(folder, "finding", ["a"])
    assert answers.recall(folder, "finding") is None
