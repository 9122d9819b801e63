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


def test_private_modules_of_the_standard_library_are_not_the_users(tmp_path: Path) -> None:
    given = Given()
    given.span("python", "_model.py(3): forward", 0, 100)
    given.span("python", "_weakrefset.py(85): add", 10, 20)
    given.span("python", "_collections_abc.py(804): get", 30, 40)
    assert rows(given.open(tmp_path), "SELECT file FROM user_frames") == [("_model.py",)]


def test_a_server_of_models_has_the_lines_of_its_own_package(tmp_path: Path) -> None:
    given = Given()
    given.span("python", "vllm/v1/worker/gpu_model_runner.py(9): execute_model", 0, 100)
    given.span("python", "torch_guard.py(276): wrapper_custom", 10, 20)
    assert rows(given.open(tmp_path), "SELECT line FROM user_frames") == [(9,)]
