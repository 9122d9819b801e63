"""Messages of `traceview collect`: how commands end, and why nothing was recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from traceview.recording import messages

OPTIONS = {"wait": 3, "warmup": 1, "steps": 4}


@pytest.mark.parametrize(
    ("exit_code", "said"),
    [(0, "succeeded"), (3, "failed with exit code 3"), (-15, "was ended by SIGTERM"), (-60, "was ended by signal 60")],
)
def test_how_a_command_ended(exit_code: int, said: str) -> None:
    assert messages.ending(exit_code) == said


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ([], "the collector was not loaded"),
        ([(1, "python", "")], "imported no framework"),
        ([(1, "python", ""), (2, "waiting", "2 optimizer")], "ended after 2 steps (optimizer)"),
        ([(1, "waiting", "2 optimizer"), (2, "recording", "")], "kill -9 or a crash"),
        ([(1, "waiting", "2 optimizer"), (2, "", "")], "could not write to the capture folder, which may be full"),
        ([(1, "failed", "a reason")], "given up: a reason."),
    ],
)
def test_the_process_that_came_furthest_says_why_there_is_nothing(notes: list[tuple[int, str, str]], said: str) -> None:
    assert said in messages.why_none(notes, OPTIONS)


@pytest.mark.parametrize(("state", "else_said"), [("python", "imported no framework"), ("framework", "Mark the end")])
def test_of_a_command_that_a_signal_ended_nobody_knows_what_it_would_have_imported(state: str, else_said: str) -> None:
    notes = [(1, state, "")]
    said = "the command was ended by SIGTERM before a step was recorded."
    assert messages.why_none(notes, OPTIONS, exit_code=-15) == said
    assert else_said in messages.why_none(notes, OPTIONS, exit_code=3)
    assert messages.why_none([*notes, (2, "waiting", "2 optimizer")], OPTIONS, exit_code=-15) == (
        "the script ended after 2 steps (optimizer) and recording begins after 4; "
        "run more steps, or pass --wait 0 --warmup 0."
    )


def test_where_files_may_not_be_large_that_is_said_of_a_trace_that_was_cut() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048));"
        "from traceview.recording.messages import why_none; print(why_none([(1, 'failed', 'cut')], {}))"
    )
    said = subprocess.run([sys.executable, "-B", "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert said.startswith("the recording was given up: cut. Files may not be larger than 2,048 bytes here")
    assert "ulimit" not in messages.why_none([(1, "failed", "cut")], OPTIONS)


def test_options_are_named_where_there_are_some() -> None:
    notes = [(1, "waiting", "2 optimizer")]
    assert messages.why_none(notes, OPTIONS).endswith("run more steps, or pass --wait 0 --warmup 0.")
    assert messages.why_none(notes, OPTIONS, False).endswith("recording begins after 4; run more steps.")


def test_what_is_left_where_traceview_was_told_to_end(tmp_path: Path) -> None:
    assert messages.stopped("SIGTERM", None) == "ended by SIGTERM; no capture"
    assert f"traceview report {tmp_path / 'capture'} does it" in messages.stopped("SIGHUP", tmp_path / "capture")


def test_the_time_without_a_profiler_has_its_spread_and_says_where_it_had_not_settled() -> None:
    cost = {"bare_step_ns": 8_500_000, "bare_steps": 34, "bare_low_ns": 8_400_000, "bare_high_ns": 8_700_000}
    rank = {"framework": "torch", "steps": {"recorded": 4}, "cost": cost, "ended_by": "complete"}
    times = [(0, 0, 13_000_000)]
    said = "recorded 4 steps, 13.0 ms each (8.50 ms unprofiled, 8.40 to 8.70)"
    assert messages.summary([rank], OPTIONS, times) == said
    for mean_ns in (8_600_000, 7_000_000):  # A mean leaves out what is much longer than any recorded step.
        cost["bare_mean_ns"] = mean_ns
        assert messages.summary([rank], OPTIONS, times) == said
    cost["bare_mean_ns"] = 12_100_000
    assert messages.summary([rank], OPTIONS, times) == f"{said[:-1]}, 12.1 on average)"
    cost |= {"bare_mean_ns": None, "shared": [0, 3]}
    assert messages.summary([rank], OPTIONS, times) == (
        f"{said}. A second optimizer (or function that trains) came with 0 of the 4 recorded steps and 3 of 34 others: "
        'record more --steps, or mark the end of whole rounds with sys.audit("traceview.step")'
    )
    del cost["shared"]
    cost |= {"unsettled_ns": 13_000_000, "settled_ns": 8_500_000}
    assert messages.summary([rank], OPTIONS, times) == (
        f"{said}. Steps were slower before the recording than after it, 13.0 and 8.50 ms: "
        "they may not have settled; --wait 20 records later"
    )


def test_the_steps_of_several_processes() -> None:
    rank = {"framework": "torch", "steps": {"recorded": 2}, "cost": {"bare_step_ns": None}, "ended_by": "exit"}
    times = [(0, 0, 120_400_000), (1, 0, 99_960_000)]
    said = messages.summary([rank, rank], OPTIONS, times)
    assert said == "recorded 2 steps of 2 processes (of 4; cut short: exit), 100.0 to 120 ms each"
    assert messages.summary([rank], OPTIONS) == "recorded 2 steps (of 4; cut short: exit)"
    one, two = (rank | {"cost": {"bare_step_ns": bare, "bare_steps": 4}} for bare in (90_000_000, 450_000))
    assert messages.summary([one, two], OPTIONS, times).endswith("120 ms each (0.450 to 90.0 ms unprofiled)")
    assert messages.summary([one, rank], OPTIONS, times) == said
