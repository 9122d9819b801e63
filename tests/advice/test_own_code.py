"""Time of the program's own lines, in which no operator runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "own_code"


def steps(own_ms: float, function: str = "/home/me/env.py(40): step", device: str | None = None) -> Given:
    """Three steps of 10 ms: an operator for 2, then the program's own code, then an operator to the end."""
    given = training(length=10_000, device=device)
    for start in (0, 10_000, 20_000):
        until = start + 2_000 + 1000 * own_ms
        given.op("aten::mm", start, start + 2_000, [(8, 8), (8, 8)], ["", ""])
        given.op("aten::mm", until, start + 10_000, [(8, 8), (8, 8)], ["", ""])
        for name, begin, end in (
            ("train.py(7): <module>", start, start + 10_000),
            (function, start + 1_900, until + 50),
        ):
            given.add(
                "ranges", kind="python", name=name, pid=1, tid=1, start_ns=1000 * begin, dur_ns=1000 * (end - begin)
            )
    return given


def test_the_line_at_which_no_operator_runs_is_named(tmp_path: Path) -> None:
    found = answer(RULE, steps(3), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 3_000_000, "Mostly at /home/me/env.py:40 (step)")
    assert found.evidence == ("/home/me/env.py:40 (step): 3.000 ms",)
    assert found.confidence.startswith("medium")


def test_in_a_frame_of_a_library_it_is_the_line_that_called_it(tmp_path: Path) -> None:
    found = answer(RULE, steps(3, "/venv/lib/python3.12/site-packages/gym/core.py(9): step"), tmp_path)
    assert found.place == "Mostly at train.py:7 (<module>)"


@pytest.mark.parametrize(
    "function",
    [
        "torch/nn/functional.py(3472): cross_entropy",
        "/venv/lib/python3.12/site-packages/torch/_tensor.py(566): backward",
        "collectors/inject/traceview_inject/recorder.py(83): step_ended",
    ],
)
def test_time_within_a_call_of_the_framework_is_not_the_programs(tmp_path: Path, function: str) -> None:
    """As where a busy machine takes the processor away in the middle of a call."""
    assert answer(RULE, steps(3, function), tmp_path).status == "not found"


@pytest.mark.parametrize(("bare_ms", "status", "saving_ns"), [(8, "found", 1_250_000), (7, "not found", None)])
def test_what_recording_lines_takes_is_not_the_programs(
    tmp_path: Path, bare_ms: int, status: str, saving_ns: int | None
) -> None:
    """Operators take 7 ms of 10: where a step without a profiler takes 8, own code has an eighth of it."""
    given = steps(3)
    given.add("captures", rank=0, options=json.dumps({"cost": {"bare_step_ns": 1_000_000 * bare_ms}}))
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == (status, saving_ns)


def test_steps_of_unlike_length_are_compared_by_their_mean(tmp_path: Path) -> None:
    """Most steps run none of the code; the recorded ones hold the usual share of those that do."""
    given = steps(3)
    cost = {"bare_step_ns": 1_000_000, "bare_mean_ns": 7_900_000}
    given.add("captures", rank=0, options=json.dumps({"cost": cost}))
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", pytest.approx(1e7 * (1 - 7 / 7.9), abs=1))
    assert "The recorded steps are slower than others: without a profiler one takes 7.900 ms" in found.problem


@pytest.mark.parametrize(("processor_us", "status"), [(18_000, "found"), (16_000, "cannot tell")])
def test_on_a_busy_machine_it_may_be_waiting_for_a_processor(tmp_path: Path, processor_us: int, status: str) -> None:
    """Operators take 21 of 30 ms; below four fifths of that in processor time the process was not running."""
    given = steps(3)
    given.about["usage"] = {"wall_ns": 30_000_000, "user_ns": processor_us * 1000, "system_ns": 0}
    assert answer(RULE, given, tmp_path).status == status


def test_what_lies_between_operators_anyway_is_not_found(tmp_path: Path) -> None:
    assert answer(RULE, steps(0.9), tmp_path).status == "not found", "less than 1 ms at a time, 9 % of the step"


def test_of_a_device_other_rules_speak(tmp_path: Path) -> None:
    given = steps(3, device="NVIDIA A100-SXM4-40GB")
    given.kernel("ampere_sgemm_128x64_nn", 100, 200, launched=50)
    assert answer(RULE, given, tmp_path).status == "cannot tell"


def test_gaps_between_copies_to_devices_are_no_gaps_between_operators(tmp_path: Path) -> None:
    """Two devices of one process, to which it only copies: their gaps overlap, and operators may run in them."""
    given = steps(3)
    for device in (0, 1):
        for start in (0, 10_000, 20_000):
            for at in (start + 1_000, start + 6_000 + 100 * device):
                given.copy("HtoD", at, at + 10, device=device)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_lines_it_cannot_tell(tmp_path: Path) -> None:
    given = training(device=None)
    given.op("aten::mm", 10, 500, [(8, 8), (8, 8)], ["", ""])
    found = answer(RULE, given, tmp_path)
    assert found.status == "cannot tell" and found.reason == "the program's lines are not recorded."
