"""Frames of the user's own code among all Python frames."""

from __future__ import annotations

from pathlib import Path

from given import Given, rows


def test_frames_know_the_users_frame_around_them(tmp_path: Path) -> None:
    given = Given()
    for name, start, end in (
        ("train.py(1): <module>", 0, 100),
        ("torch/utils/data/dataloader.py(700): __next__", 10, 90),
        ("data.py(5): __getitem__", 20, 80),
        ("profile.py(9): mine", 30, 40),
    ):
        given.span("python", name, start, end)
    query = """SELECT u.file, u.line, u.function, a.file
        FROM user_frames u LEFT JOIN user_frames a ON a.id = u.around_id ORDER BY u.start_ns"""
    assert rows(given.open(tmp_path), query) == [
        ("train.py", 1, "<module>", None),
        ("data.py", 5, "__getitem__", "train.py"),
        ("profile.py", 9, "mine", "data.py"),
    ]
