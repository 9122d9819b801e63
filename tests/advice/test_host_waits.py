"""Waits of the host after which the device has run dry: long or short, or with work still queued."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "host_waits"
READS = " (.item(), float(), bool() or an if on a tensor)"


def steps(idle_us: float, queued: bool = False) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.op("aten::item", start + 90, start + 130)
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 110, launched=start + 1)
        given.call("cudaStreamSynchronize", start + 100, start + 120)
        if queued:
            given.kernel("ampere_sgemm_32x32_nn", start + 110, start + 140, launched=start + 2)
        given.kernel("ampere_sgemm_128x64_nn", start + 110 + idle_us, start + 600, launched=start + 150)
    return given


@pytest.mark.slow
def test_the_idle_stretch_after_it_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(51), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 51_000, f"Mostly after aten::item{READS}")
    assert found.evidence == (f"cudaStreamSynchronize under aten::item{READS}: 1.0 times, 0.051 ms",)


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("cudaMemcpy_v3020", "found"),
        ("cudaMemcpy_ptds_v7000", "found"),
        ("cudaMemcpy2D_v3020", "found"),
        ("cudaMemcpyFromSymbol_v3020", "found"),
        ("cuMemcpyDtoH_v2_ptds", "found"),
        ("cuMemcpy3D_v2", "found"),
        ("cudaThreadSynchronize_v3020", "found"),
        ("cudaStreamSynchronize_ptsz_v7000", "found"),
        # They return when the copy is queued.
        ("cudaMemcpyAsync_ptsz_v7000", "not found"),
        ("cudaMemcpy2DAsync_v3020", "not found"),
        ("cudaMemcpyPeer_v4000", "not found"),
        ("cuMemcpyDtoD_v2", "not found"),
    ],
)
def test_calls_that_wait_are_known_in_all_variants(call: str, status: str, tmp_path: Path) -> None:
    given = steps(51)
    for row in given.rows["api_calls"]:
        row["name"] = row["name"].replace("cudaStreamSynchronize", call)
    assert answer(RULE, given, tmp_path).status == status


def test_the_line_that_waits_is_named(tmp_path: Path) -> None:
    given = steps(51)
    given.add("ranges", kind="python", name="train.py(12): main", pid=1, tid=1, start_ns=0, dur_ns=3_000_000)
    assert answer(RULE, given, tmp_path).place == f"Mostly after aten::item{READS} at train.py:12"


@pytest.mark.slow
def test_a_copy_that_waits_is_named(tmp_path: Path) -> None:
    given = steps(51)
    for row in given.rows["ops"]:
        row["name"] = row["name"].replace("aten::item", "aten::copy_")
    assert answer(RULE, given, tmp_path).place == "Mostly after aten::copy_ (a copy without non_blocking=True)"


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(49), tmp_path).status == "not found"


@pytest.mark.slow
def test_a_wait_in_which_one_of_two_devices_runs_dry_counts_once(tmp_path: Path) -> None:
    given = steps(50)
    given.device("NVIDIA A100-SXM4-40GB", device=1)
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 600, launched=start + 3, device=1)
    found = answer(RULE, given, tmp_path, wait_step_pct="1")
    assert found.evidence == (f"cudaStreamSynchronize under aten::item{READS}: 1.0 times, 0.025 ms",)


def test_a_wait_of_a_thread_for_another_device_is_not_named(tmp_path: Path) -> None:
    """It began last before the first device went on, and was taken for what that one had waited for."""
    given = steps(51)
    given.device("NVIDIA A100-SXM4-40GB", device=1)
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 990, launched=start + 3, device=1)
        given.rows["api_calls"][-1]["tid"] = 2
        given.call("cudaEventSynchronize", start + 150, start + 200)
        given.rows["api_calls"][-1]["tid"] = 2
    found = answer(RULE, given, tmp_path, wait_step_pct="1")
    assert found.evidence == (f"cudaStreamSynchronize under aten::item{READS}: 1.0 times, 0.025 ms",)


def recorded(*gaps_us: float) -> Given:
    """A recording without steps, with a pause after each synchronisation."""
    given, at = Given(), 0.0
    for gap in (*gaps_us, 0):
        given.kernel("decode", at + 10, at + 110, launched=at + 1)
        given.call("cudaStreamSynchronize", at + 100, at + 120)
        at += 100 + gap
    return given


def test_a_recording_without_steps_is_told_too(tmp_path: Path) -> None:
    found = answer(RULE, recorded(300, 300, 300), tmp_path)
    assert (found.status, found.saving_ns, found.of) == ("found", 900_000, "the recording")
    assert found.confidence.startswith("medium")


def test_one_wait_of_a_recording_is_a_guess(tmp_path: Path) -> None:
    found = answer(RULE, recorded(5, 5, 900), tmp_path)
    assert found.status == "found" and found.confidence.startswith("low: one wait of 0.9")


@pytest.mark.slow
def test_long_waits_of_a_recording_are_a_guess(tmp_path: Path) -> None:
    given = recorded(300, 12_000, 300, 11_000, 15_000, 300)
    found = answer(RULE, given, tmp_path / "long")
    assert found.confidence.startswith("low: 3 waits longer than 10 ms are most of it")
    assert answer(RULE, given, tmp_path / "short", wait_start_ms="20").confidence.startswith("medium")


@pytest.mark.long
def test_with_work_queued_behind_it_the_device_does_not_wait(tmp_path: Path) -> None:
    assert answer(RULE, steps(90, queued=True), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no calls of the device's runtime.")
