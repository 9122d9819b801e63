"""Waiting for workers that load data: on both sides of a twentieth of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "data_workers"


def steps(load_us: float, loader: str = "_MultiProcessingDataLoaderIter") -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.span("phase", "data", start, start + load_us)
        given.rows["ranges"][-1]["domain"] = f"enumerate(DataLoader)#{loader}.__next__"
        given.kernel("ampere_sgemm_128x64_nn", start + 80, start + 900, launched=start + 75)
    return given


def test_above_the_threshold_the_wait_of_the_device_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(60), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 60_000)
    assert found.problem.startswith("Workers load the data, and the host still waits 0.060 ms")


def test_one_wait_in_many_steps_is_no_habit(tmp_path: Path) -> None:
    """The device waits 600 us in one of six steps, as at the start of an epoch, and 5 us in each of the others."""
    given = training(6)
    for number in range(6):
        start, load_us = 1000 * number, 600 if number == 3 else 5
        given.span("phase", "data", start, start + load_us)
        given.rows["ranges"][-1]["domain"] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        given.kernel("ampere_sgemm_128x64_nn", start + load_us, start + 1000, launched=start + load_us - 1)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", round(625_000 / 6))
    assert found.confidence == "low: one wait of 0.600 ms is most of it, once in 6 steps"


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(49), tmp_path).status == "not found"


@pytest.mark.slow
@pytest.mark.parametrize("tid", [1, 99])
def test_a_thread_that_loads_ahead_keeps_no_step_waiting(tid: int, tmp_path: Path) -> None:
    """Steps wait 60 us for the loading on their own thread, and for none on another one, which is in no sum."""
    given = steps(60)
    for start in (0, 1000, 2000):
        given.span("phase", "data", start + 1, start + 999)
        given.rows["ranges"][-1].update(tid=99, domain="enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
    for row in given.rows["ranges"]:
        row["tid"] = tid if row["tid"] == 1 and row["kind"] == "phase" else row["tid"]
    found = answer(RULE, given, tmp_path)
    assert found.status == ("found" if tid == 1 else "not found")
    if tid == 1:
        assert (found.saving_ns, "the host still waits 0.060 ms" in found.problem) == (60_000, True)


@pytest.mark.slow
def test_a_loader_without_workers_is_another_rule(tmp_path: Path) -> None:
    given = steps(60, "_SingleProcessDataLoaderIter")
    assert answer(RULE, given, tmp_path / "workers").status == "not found"
    assert answer("data_loading", given, tmp_path / "loading").status == "found"


NOTED = {"batches": 8, "prefetch_factor": 3, "pin_memory": True, "batch": 64}


@pytest.mark.slow
def test_what_was_noted_of_the_loader_decides_and_is_said(tmp_path: Path) -> None:
    """Marks of `traceview collect` lie around those of PyTorch, whose name tells the kind of loader."""
    given = steps(60, "")
    validation = NOTED | {"workers": 0, "batches": 20, "trains": False}
    given.about = {"loaders": [validation, NOTED | {"workers": 4, "trains": True}]}
    found = answer(RULE, given, tmp_path / "workers")
    assert found.problem.startswith(
        "Workers load the data (4 workers, prefetch_factor=3, pin_memory=True, batch 64; no workers, pin_memory=True, "
        "batch 64), and the host still waits 0.060 ms"
    )
    assert answer("data_loading", given, tmp_path / "loading").status == "not found"


def test_a_loader_that_is_noted_without_workers_is_said_to_have_none(tmp_path: Path) -> None:
    given = steps(60, "")
    given.about = {"loaders": [NOTED | {"workers": 0, "pin_memory": False, "batch": None}]}
    found = answer("data_loading", given, tmp_path / "none")
    assert "takes 0.060 ms (no workers), of which" in found.problem


@pytest.mark.slow
def test_marks_inside_of_marks_tell_the_kind_of_loader(tmp_path: Path) -> None:
    given = steps(60, "")
    for start in (0, 1000, 2000):
        given.span("phase", "data", start + 1, start + 59)
        given.rows["ranges"][-1]["domain"] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    assert answer(RULE, given, tmp_path / "workers").status == "found"
    assert answer("data_loading", given, tmp_path / "loading").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
