"""Tasks in processes of this machine: a task that kills is known, what the machine lacks is tried again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from job_traces import left_over, written
from processes import files_no_larger_than

from traceview import store
from traceview.errors import NoRoom
from traceview.fleet import Fleet, parts, processes
from traceview.store import Options


def killing(task: tuple[str, int]) -> int:
    """Task 3 kills its process, each time; the others answer."""
    place, number = task
    (Path(place) / f"{number}-{os.getpid()}").touch()
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_the_task_that_kills_is_known(tmp_path: Path) -> None:
    tasks = [(str(tmp_path), number) for number in range(6)]
    answers = dict(processes.run(2, killing, tasks))
    assert answers == {**{number: number for number in range(6) if number != 3}, 3: processes.KILLED.format(3)}


def nothing(task: int) -> None:
    """A task without an answer."""


def test_no_answer_is_an_answer() -> None:
    assert dict(processes.run(1, nothing, [7, 8])) == {0: None, 1: None}


def lacking(task: str) -> str:
    """There is room from the second try on."""
    place = Path(task)
    if not place.exists():
        place.touch()
        raise NoRoom("the disk is full.")
    return place.name


def test_what_found_no_room_is_tried_again(tmp_path: Path) -> None:
    assert dict(processes.run(1, lacking, [str(tmp_path / "a"), str(tmp_path / "b")])) == {0: "a", 1: "b"}


def full(task: parts.Task) -> parts.Part:
    """A disk that takes little: what is larger cannot be written (a limit stands for it)."""
    if task.rank is None and "rank1" in task.name:
        with files_no_larger_than(1000):
            return _convert(task)
    return _convert(task)


_convert = parts.convert


@pytest.mark.long
def test_a_full_disk_ends_the_conversion_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = written(tmp_path / "traces", 4)
    monkeypatch.setattr(parts, "convert", full)
    notes: list[str] = []
    with pytest.raises(NoRoom):
        store.convert([traces], tmp_path / "job", Options(many=Fleet(2), note=notes.append))
    assert "--resume goes on" in notes[0]
    assert left_over(tmp_path) == [".job.partial"] and not (tmp_path / "job").exists()
    assert left_over(tmp_path / ".job.partial") == []
    monkeypatch.undo()
    store.convert([traces], tmp_path / "job", Options(many=Fleet(2)))
    with store.open_capture(tmp_path / "job") as connection:
        assert connection.execute("SELECT count(DISTINCT rank) FROM kernels").fetchall() == [(4,)]
    assert left_over(tmp_path) == []
