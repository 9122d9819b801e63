"""The recorder of every framework: one owner per process, steps within a library, and errors that stay inside."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest


class Tool:
    """A profiler that writes nothing."""

    def __init__(self, raw):
        self.raw, self.problems, self.opened = raw, [], []

    def prepare(self):
        self.opened.append("prepare")

    def start(self):
        self.opened.append("start")

    def open_step(self, number):
        self.opened.append(number)
        return self

    def close(self):
        pass

    def stop(self):
        return []

    def write(self, cut_step):
        path = self.raw.scratch("x")
        path.write_text("trace")
        return path, "x.json"


class Facts:
    rank = None

    def see_job(self):
        pass

    def collect(self, logs):
        return {"warnings": []}


@pytest.fixture
def made(monkeypatch):
    """Makes recorders of a process of their own."""
    from traceview_inject import raw, recorder

    monkeypatch.setattr(recorder, "PROCESS", recorder.Process())
    monkeypatch.setenv("TRACEVIEW_WAIT", "1")
    monkeypatch.setenv("TRACEVIEW_WARMUP", "0")
    monkeypatch.setenv("TRACEVIEW_STEPS", "2")
    return lambda name="one": recorder.Recorder(name, Tool(raw), Facts())


def train(recorder, count):
    for _ in range(count):
        recorder.begin()
        recorder.step_ended("forward", recorder)


def test_steps_are_recorded_once(made, tmp_path):
    recorder = made()
    train(recorder, 9)
    assert recorder.tool.opened == ["prepare", "start", 1, 2]
    meta = json.loads((tmp_path / "capture" / "raw" / "rank-0000.meta.json").read_text())
    assert (meta["ended_by"], meta["steps"]) == (
        "complete",
        {"source": "forward", "first": 1, "recorded": 2, "between": []},
    )


def test_what_a_first_stage_of_training_left_half_recorded_does_not_count(made, tmp_path):
    """Its optimizer steps no more: the profiler ran to the end of the program."""
    recorder, head, whole = made(), Facts(), Facts()
    recorder.prefer("optimizer")
    recorder.begin()
    for owner in [head] * 2 + [whole] * 12:
        recorder.step_ended("optimizer", owner)
    assert recorder.tool.opened == ["prepare", "start", 1, 2, "prepare", "start", 1, 2]
    meta = json.loads((tmp_path / "capture" / "raw" / "rank-0000.meta.json").read_text())
    assert (meta["ended_by"], meta["steps"]["recorded"]) == ("complete", 2)


def test_another_optimizer_after_the_recording_changes_nothing_of_it(made, tmp_path):
    """As of PPO's policy and its value net: the cost was worked out anew from steps of the other one."""
    recorder, policy, value = made(), Facts(), Facts()
    recorder.prefer("optimizer")
    recorder.begin()
    for owner in [policy] * 5 + [value] * 60:
        recorder.step_ended("optimizer", owner)
    assert recorder.tool.opened == ["prepare", "start", 1, 2]
    assert recorder.steps.owner() is policy and len(recorder.steps.ends) == 5


@pytest.mark.parametrize(("passes", "is_written"), [(1, False), (2, False), (4, True), (60, True)])
def test_an_evaluation_before_training_gives_way_to_it(made, tmp_path, passes, is_written):
    """The optimizer is made after it, whether it was about to be recorded, under way, over or long over."""
    recorder, raw, optimizer = made(), tmp_path / "capture" / "raw", Facts()
    train(recorder, passes)
    assert bool(list(raw.glob("rank-*.x.json"))) is is_written
    recorder.prefer("optimizer")
    for _ in range(9):
        recorder.begin()
        recorder.step_ended("forward", recorder)
        recorder.step_ended("optimizer", optimizer)
    recorder.ended()
    assert sorted(path.name for path in raw.glob("rank-*")) == ["rank-0000.meta.json", "rank-0000.x.json"]
    meta = json.loads((raw / "rank-0000.meta.json").read_text())
    assert (meta["steps"]["source"], meta["steps"]["recorded"], meta["cost"]["bare_steps"]) == ("optimizer", 2, 5)


def test_an_optimizer_that_never_steps_leaves_what_was_recorded(made, tmp_path):
    recorder, path = made(), tmp_path / "capture" / "raw" / "rank-0000.meta.json"
    train(recorder, 9)
    recorder.prefer("optimizer")
    train(recorder, 9)
    recorder.ended()
    meta = json.loads(path.read_text())
    assert (meta["steps"]["source"], meta["cost"]["bare_steps"], meta["watched"]) == ("forward", 5, True)


def test_an_optimizer_that_is_only_made_leaves_the_recording_under_way(made, tmp_path):
    recorder = made()
    train(recorder, 2)
    recorder.expect("optimizer")
    train(recorder, 9)
    meta = json.loads((tmp_path / "capture" / "raw" / "rank-0000.meta.json").read_text())
    assert (meta["steps"]["source"], meta["steps"]["recorded"]) == ("forward", 2)


def test_training_that_ends_before_a_step_is_recorded_leaves_what_was_recorded(made, tmp_path):
    recorder, raw, optimizer = made(), tmp_path / "capture" / "raw", Facts()
    train(recorder, 9)
    recorder.prefer("optimizer")
    recorder.begin()
    recorder.step_ended("optimizer", optimizer)
    assert recorder.tool.opened.count("start") == 2
    recorder.ended()
    assert sorted(path.name for path in raw.glob("rank-*")) == ["rank-0000.meta.json", "rank-0000.x.json"]
    assert json.loads((raw / "rank-0000.meta.json").read_text())["steps"]["source"] == "forward"


def test_a_recording_of_another_thread_ends_before_training_is_recorded(made, tmp_path):
    """A profiler is not stopped from another thread than its own."""
    recorder, optimizer = made(), Facts()
    evaluation = threading.Thread(target=train, args=(recorder, 2))
    evaluation.start()
    evaluation.join()
    recorder.prefer("optimizer")
    assert recorder.tool.opened == ["prepare", "start", 1, 2]
    train(recorder, 1)
    for _ in range(9):
        recorder.prefer("optimizer")
        recorder.begin()
        recorder.step_ended("optimizer", optimizer)
    meta = json.loads((tmp_path / "capture" / "raw" / "rank-0000.meta.json").read_text())
    assert (meta["steps"]["source"], meta["steps"]["recorded"]) == ("optimizer", 2)


def test_a_thread_waits_until_another_has_set_the_profiler_up(made, monkeypatch):
    """Its optimizer had steps counted anew in the middle of that, and both threads recorded, one without an end."""
    recorder = made()
    learner = threading.Thread(target=recorder.prefer, args=("optimizer",))

    def prepare():
        learner.start()
        learner.join(0.2)
        assert learner.is_alive() and recorder.steps.source == "forward"

    monkeypatch.setattr(recorder.tool, "prepare", prepare)
    train(recorder, 2)
    learner.join()
    train(recorder, 1)
    assert recorder.tool.opened == ["start", 1, 2]


def test_after_the_recording_sigterm_has_no_handler(made):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    recorder = made()
    train(recorder, 2)
    assert signal.getsignal(signal.SIGTERM) == recorder.terminated
    train(recorder, 1)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(("steps", "recorded"), [(1, None), (2, 1)])
def test_a_profiler_of_the_program_leaves_a_recording_of_whole_steps_alone(made, tmp_path, steps, recorded):
    """Before the first was whole, a capture of no step was written, and `--require-capture` content with it."""
    recorder, raw = made(), tmp_path / "capture" / "raw"
    train(recorder, steps)
    recorder.yield_to_own_profiler()
    train(recorder, 9)
    metas = [json.loads(path.read_text()) for path in raw.glob("rank-*.meta.json")]
    if recorded is None:
        (word,) = raw.glob(".process-*.txt")
        assert word.read_text() == (
            "failed\nthe program runs a profiler of its own: give its own trace to `traceview report`\n"
        )
        assert metas == []
    else:
        assert [(meta["ended_by"], meta["steps"]["recorded"]) for meta in metas] == [
            ("the program's own profiler", recorded)
        ]


def test_steps_after_the_recording_are_timed_for_a_while(made, tmp_path):
    recorder = made()
    train(recorder, 9)
    path = tmp_path / "capture" / "raw" / "rank-0000.meta.json"
    assert json.loads(path.read_text())["cost"]["bare_steps"] == 0
    recorder.ended()
    # Nine steps, of which one was waited for, two were recorded and one came right after that.
    assert json.loads(path.read_text())["cost"]["bare_steps"] == 5


def test_after_a_while_no_step_is_timed_any_more(made, tmp_path):
    recorder = made()
    train(recorder, 90)
    assert len(recorder.steps.ends) == 35 and recorder.watched_until == 0
    path = tmp_path / "capture" / "raw" / "rank-0000.meta.json"
    assert json.loads(path.read_text())["cost"]["bare_steps"] == 31


@pytest.mark.parametrize(("mode", "written"), [("", "meta"), ("times", "times")])
def test_a_program_that_catches_its_end_is_ended_at_its_next_step(made, tmp_path, monkeypatch, mode, written):
    """A bare `except` around each step, which leaves a batch out, catches SystemExit as well."""
    monkeypatch.setenv("TRACEVIEW_MODE", mode)
    monkeypatch.setenv("TRACEVIEW_STOP_AFTER", "1")
    ended, caught = [], []
    monkeypatch.setattr(os, "_exit", ended.append)
    recorder = made()
    for step in range(1, 10):
        try:
            train(recorder, 1)
        except SystemExit as error:
            caught.append((step, error.code))
        if ended:
            break
    assert (caught[0], step, ended) == ((3, 0), 4, [0])
    assert (tmp_path / "capture" / "raw" / f"rank-0000.{written}.json").is_file()


def test_a_folder_that_went_away_is_no_reason_to_disturb_the_program(made, tmp_path):
    recorder = made()
    train(recorder, 3)
    path = tmp_path / "capture" / "raw" / "rank-0000.meta.json"
    path.write_text("{")
    train(recorder, 60)
    assert path.read_text() == "{" and recorder.watched_until == 0


def test_the_first_framework_to_record_is_the_only_one(made, tmp_path):
    one, two = made("one"), made("two")
    train(one, 2)
    train(two, 9)
    train(one, 9)
    assert two.tool.opened == []
    assert len(list((tmp_path / "capture" / "raw").glob("*.meta.json"))) == 1


def test_steps_inside_a_librarys_step_are_none(made):
    recorder = made()
    for _ in range(2):
        recorder.enter_library("optimizer")
        train(recorder, 3)
        recorder.leave_library("optimizer", recorder, True)
    recorder.enter_library("optimizer")
    recorder.leave_library("optimizer", recorder, False)
    assert len(recorder.steps.ends) == 2


def test_a_process_that_calls_exec_keeps_no_half_recording(made, tmp_path):
    recorder, raw = made(), tmp_path / "capture" / "raw"
    train(recorder, 2)
    recorder.replaced()
    (page,) = raw.glob(".process-*.txt")
    assert page.name.endswith(f"-{os.getpid()}.txt") and page.name != f".process-{os.getpid()}.txt"
    assert (page.read_text(), recorder.steps.ends) == ("exec\n\n", [])
    train(recorder, 9)  # exec failed, and the program goes on
    assert recorder.tool.opened == ["prepare", "start", 1, 2] * 2
    assert len(list(raw.glob("rank-*.x.json"))) == 1


def test_a_process_without_steps_has_nothing_to_say_before_exec(made, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEVIEW_WAIT", "3")
    recorder = made()
    recorder.replaced()
    assert not list(tmp_path.glob("capture/raw/.process-*"))
    train(recorder, 1)
    recorder.replaced()
    (page,) = tmp_path.glob("capture/raw/.process-*")
    assert page.read_text() == "waiting\n1 forward\n"


def test_an_error_ends_the_recording_and_not_the_program(made, tmp_path):
    recorder = made()
    recorder.tool.start = lambda: 1 / 0
    train(recorder, 9)
    (note,) = (tmp_path / "capture" / "raw").glob(".process-*.txt")
    assert note.read_text() == "failed\ndivision by zero (in step_ended)\n"


def test_the_norm_of_every_tensor_of_parameters_is_noted(made, tmp_path, monkeypatch):
    """A scale of norm 0.001 shows beside a matrix of norm 8, among 132 tensors as among fewer."""
    monkeypatch.setenv("TRACEVIEW_MODE", "times")
    monkeypatch.setattr(Facts, "arrays", lambda self: [(b"scale", 0.001)] * 66 + [(b"matrix", 8.0)] * 66, raising=False)
    recorder = made()
    recorder.times.see_loss(2.0)
    train(recorder, 3)
    found = json.loads((tmp_path / "capture" / "raw" / "rank-0000.times.json").read_text())
    assert found["norms"] == [0.001] * 66 + [8.0] * 66
