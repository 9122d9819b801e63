"""Loading and compiling code: once per run, a share of the recording and of no step."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

pytestmark = pytest.mark.slow

RULE = "compile_in_the_window"


def steps(load_us: float, name: str = "cuModuleLoadData") -> Given:
    given = training()
    given.kernel("ampere_sgemm_128x64_nn", 900, 950, launched=1)
    given.call(name, 100, 100 + load_us)
    return given


def test_above_the_threshold_it_is_a_share_of_the_recording(tmp_path: Path) -> None:
    found = answer(RULE, steps(61), tmp_path)
    assert (found.status, found.saving_ns, found.step_ns, found.run_ns) == ("found", 61_000, None, 3_000_000)
    assert found.saving_pct == 100 * 61 / 3000
    assert found.evidence == ("cuModuleLoadData: 1 calls, 0.061 ms",)


def test_below_it_or_by_another_call_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(59), tmp_path / "short").status == "not found"
    assert answer(RULE, steps(90, "cudaModuleGetFunction"), tmp_path / "other").status == "not found"


def test_while_the_device_works_nothing_is_lost(tmp_path: Path) -> None:
    """A call of 800 us while a kernel runs for 710 us of it."""
    given = steps(800)
    given.kernel("ampere_sgemm_128x64_nn", 90, 810, launched=10)
    found = answer(RULE, given, tmp_path / "part")
    assert (found.status, found.saving_ns) == ("found", 90_000)
    assert found.problem.endswith("for 0.800 ms in all; the device does nothing for 0.090 ms of that time.")
    given.kernel("ampere_sgemm_128x64_nn", 810, 900, launched=11)
    assert answer(RULE, given, tmp_path / "whole").status == "not found"


def test_spans_of_compilers_inside_one_another_are_one_call(tmp_path: Path) -> None:
    given = steps(0)
    given.span("user", "compile_fx_inner (dynamo_timed)", 200, 300)
    given.span("user", "GraphLowering.run (dynamo_timed)", 220, 280)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 100_000
    assert found.problem == "1 call compiles or loads code within the recorded steps, for 0.100 ms in all."
    assert found.evidence == ("compile_fx_inner (dynamo_timed): 1 calls, 0.100 ms",)


def test_compilations_side_by_side_are_as_many_calls(tmp_path: Path) -> None:
    """Their time is counted once: from the start of the first to the end of the last."""
    given = steps(0)
    for thread, (start, end) in enumerate([(100, 600), (110, 560), (120, 650)]):
        given.add("api_calls", name="cuModuleLoadData", kind="runtime", pid=1, tid=thread, start_ns=1000 * start,
                  dur_ns=1000 * (end - start))  # fmt: skip
    found = answer(RULE, given, tmp_path)
    assert (found.problem, found.saving_ns) == (
        "3 calls compile or load code within the recorded steps, for 0.550 ms in all.",
        550_000,
    )


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no steps.")
