"""Waiting for workers that load data: on both sides of a twentieth of the step."""

from __future__ import annotations

from pathlib import Path

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


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(49), tmp_path).status == "not found"


def test_a_loader_without_workers_is_another_rule(tmp_path: Path) -> None:
    given = steps(60, "_SingleProcessDataLoaderIter")
    assert answer(RULE, given, tmp_path / "workers").status == "not found"
    assert answer("data_loading", given, tmp_path / "loading").status == "found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
