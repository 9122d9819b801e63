"""Idle stretches at the start and the end of a step: on both sides of a twentieth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice

RULE = "idle_at_step_edges"
NOTHING = "no long call or operator that was recorded fills that time"


def steps(before_us: float, after_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + before_us, start + 500, launched=start)
        given.kernel("ampere_sgemm_128x64_nn", start + 600, start + 1000 - after_us, launched=start)
    return given


def test_both_ends_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(50, 26), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 50_667, "Mostly before gemm"), "of two gaps"


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("rule", [RULE, "host_waits"])
def test_one_gap_in_many_steps_is_no_habit(rule: str, devices: int, tmp_path: Path) -> None:
    """Devices wait 600 us in one of six steps, and 10 us before any other: at its start, or for the host."""
    given = training(6)
    if devices > 1:
        given.device("NVIDIA A100-SXM4-40GB", device=1)
    for number in range(6):
        start, idle_us = 1000 * number, 595 if number == 3 else 5
        for device in range(devices):
            at = start + idle_us
            given.kernel("ampere_sgemm_128x64_nn", at, start + 995, launched=at - 1, device=device)
        if rule == "host_waits":
            given.call("cudaStreamSynchronize", start - 10, start + 2)
    found = answer(rule, given, tmp_path)
    assert found.status == "found"
    assert (
        found.confidence
        == f"low: one {'wait' if rule == 'host_waits' else 'gap'} of 0.600 ms is most of it, once in 6 steps"
    )


@pytest.mark.parametrize("recorded", ["operator", "call", "system", "short", "other thread"])
def test_calls_that_fill_the_gap_are_named(recorded: str, tmp_path: Path) -> None:
    """Between steps the launching thread pins memory or reads a file for 350 of 400 us, or nothing tells."""
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 390, start + 995, launched=start + 380)
        if recorded == "operator":
            given.op("aten::pin_memory", start + 10, start + 370)
            given.call("cudaHostAlloc", start + 20, start + 360)
        elif recorded == "call":
            given.call("cudaHostAlloc_v3020", start + 20, start + 370)
        elif recorded == "short":
            given.call("cudaHostAlloc", start + 20, start + 200)
        else:
            span = {"start_ns": 1000 * (start + 20), "dur_ns": 350_000, "pid": 1, "tid": 1 + (recorded != "system")}
            given.add("events", name="read", category="osrt_api", **span)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 263_333)
    names = {"operator": "aten::pin_memory", "call": "cudaHostAlloc", "system": "read"}
    told = f"meanwhile the host is mostly in {names[recorded]}" if recorded in names else NOTHING
    assert found.confidence == f"high that it is idle; {told}"


def test_calls_of_another_cause_are_not_named(tmp_path: Path) -> None:
    """The device is idle for 400 us; cudaMalloc takes 300 of them, which are no time between steps."""
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 390, start + 995, launched=start + 380)
        given.call("cudaMalloc", start + 20, start + 320)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.confidence) == ("found", "high that it is idle")


@pytest.mark.slow
def test_workers_that_load_already_are_said(tmp_path: Path) -> None:
    given = steps(50, 26)
    given.about = {"loaders": [{"batches": 3, "workers": 4, "prefetch_factor": 2, "pin_memory": False, "batch": 8}]}
    found = answer(RULE, given, tmp_path).problem
    assert found.endswith("The DataLoader works ahead already (4 workers, prefetch_factor=2, batch 8).")


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(50, 24), tmp_path).status == "not found"


@pytest.mark.long
def test_work_of_the_step_before_is_no_idle_time(tmp_path: Path) -> None:
    given = steps(60, 0)
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start - 10, start + 60, launched=start - 90)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_of_iterations_of_an_inference_engine_it_cannot_tell(tmp_path: Path) -> None:
    """It said to change the DataLoader and zero_grad."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000, 3000):
        given.span("user", "step[DECODE bs=4]", start, start + 990)
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", start + 200, start + 990, launched=start + 5)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "the steps are iterations of an inference engine: engine_gaps says what is idle between these.",
    )


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no steps.")


@pytest.mark.parametrize("rule", [RULE, "rank_skew"])
def test_workers_that_stay_are_advised_where_epochs_begin(rule: str) -> None:
    """It said so to all, also where no loader or no epoch is in the recording."""
    (loaded,) = advice.load([rule])
    (said,) = (part for part in loaded.extra["fix"]["pytorch"].split("; ") if "persistent_workers" in part)
    assert said.startswith("if ") and re.search(r"persistent_workers=True if .* where epochs begin$", said)


@pytest.mark.parametrize(("name", "is_engine"), [("step[0]", False), ("step[DECODE bs=8]", True)])
def test_a_range_that_a_program_calls_a_step_is_no_mark_of_an_engine(
    tmp_path: Path, name: str, is_engine: bool
) -> None:
    given = Given()
    given.span("nvtx", name, 0, 100)
    given.kernel("gemm", 10, 90, launched=5)
    found = given.open(tmp_path).execute("SELECT is_engine FROM known_frameworks").fetchall()
    assert found == [(is_engine,)]
