"""Tasks in processes of this machine: a task that kills is known, what the machine lacks is tried again."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path

import pytest
from job_traces import left_over, written
from processes import files_no_larger_than, is_running

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


@pytest.mark.slow
def test_the_task_that_kills_is_known(tmp_path: Path) -> None:
    tasks = [(str(tmp_path), number) for number in range(6)]
    answers = dict(processes.run(2, killing, tasks))
    assert answers == {**{number: number for number in range(6) if number != 3}, 3: processes.KILLED.format(3)}


def nothing(task: int) -> None:
    """A task without an answer."""


def test_no_answer_is_an_answer() -> None:
    assert dict(processes.run(1, nothing, [7, 8])) == {0: None, 1: None}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT interrupts, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("in_thread", [False, True])
def test_ctrl_c_reaches_no_process_however_young(in_thread: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """It is sent to each again and again, from its first moment on."""
    done, reached = threading.Event(), set[int | None]()

    def interrupt() -> None:
        while not done.wait(0.005):
            for child in active_children():
                reached.add(child.pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid or 0, signal.SIGINT)

    with ThreadPoolExecutor() as threads:
        threads.submit(interrupt)
        try:
            answers = processes.run(2, nothing, [7, 8, 9])
            found = threads.submit(dict, answers).result() if in_thread else dict(answers)
        finally:
            done.set()
    assert reached and found == {0: None, 1: None, 2: None}
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_interrupts_at_once() -> None:
    main, before = threading.main_thread().ident or 0, {*active_children()}
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
        list(processes.run(1, time.sleep, [60]))
    assert time.monotonic() - began < 30
    # One may still be listed for a moment whose end another thread was told.
    assert not any(is_running(child.pid or 0) for child in {*active_children()} - before)


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
