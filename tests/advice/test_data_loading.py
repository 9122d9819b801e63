"""Loading data: on both sides of a twentieth of the step, and beside what the device runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

from traceview.analysis import advice

RULE = "data_loading"


def steps(load_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        given.span("phase", "data", start, start + load_us)
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 30, launched=start + 1)
        given.kernel("ampere_sgemm_128x64_nn", start + 20, start + 30, launched=start + 2, stream=8)
    return given


def test_above_the_threshold_the_time_in_which_the_device_is_idle_is_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(71), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 51_000)
    assert found.problem == "Loading data takes 0.071 ms, of which the device runs nothing for 0.051 ms."


def test_no_more_workers_than_free_cores_and_pinned_memory_only_beside_a_device(tmp_path: Path) -> None:
    """PyTorch warns of four workers on two cores, and of pinned memory without an accelerator."""
    given = steps(71)
    given.add("captures", rank=0, framework="PyTorch")
    loader = "DataLoader(..., num_workers=n, persistent_workers=True, prefetch_factor=2{})"
    workers = ", n at least 1 and at most the cores that are free"
    assert answer(RULE, given, tmp_path).fix == loader.format(", pin_memory=True") + workers
    (rule,) = advice.load([RULE])
    assert advice.fix_of(rule, ("pytorch_cpu", "pytorch")) == loader.format("") + workers


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(69), tmp_path).status == "not found"


@pytest.mark.long
def test_threads_that_load_at_once_lose_a_moment_once(tmp_path: Path) -> None:
    """Two threads that launch, the second one a kernel of a moment."""
    given = steps(300)
    for start in (0, 1000, 2000):
        given.add("ranges", kind="phase", name="data", pid=1, tid=2, start_ns=1000 * (start + 100), dur_ns=250_000)
    given.kernel("ampere_sgemm_128x64_nn", -100, -99, launched=-110)
    given.rows["api_calls"][-1]["tid"] = 2
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 330_000
    assert found.problem == "Loading data takes 0.350 ms, of which the device runs nothing for 0.330 ms."


@pytest.mark.slow
def test_a_thread_that_copies_what_it_loads_ahead_keeps_no_step_waiting(tmp_path: Path) -> None:
    given = steps(71)
    for start in (0, 1000, 2000):
        given.copy("HtoD", start + 80, start + 90, launched=start + 75)
        given.rows["api_calls"][-1]["tid"] = 2
    assert answer(RULE, given, tmp_path / "one").status == "found"
    for row in given.rows["ranges"]:
        row["tid"] = 2 if row["kind"] == "phase" else 1
    assert answer(RULE, given, tmp_path / "ahead").status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace has no timed work on a device.")


@pytest.mark.slow
def test_without_steps_the_first_batch_alone_is_a_guess(tmp_path: Path) -> None:
    given = steps(300)
    given.rows["ranges"] = [row for row in given.rows["ranges"] if row["kind"] == "phase"]
    found = answer(RULE, given, tmp_path / "three")
    assert (found.status, found.of) == ("found", "the recording")
    assert found.confidence.startswith("high")
    given.rows["ranges"] = given.rows["ranges"][1:2]
    found = answer(RULE, given, tmp_path / "one")
    assert found.confidence.startswith("low: one wait of 0.300 ms is most of it")


@pytest.mark.slow
def test_workers_are_not_advised_where_they_load_already(tmp_path: Path) -> None:
    given = steps(71)
    for row in given.rows["ranges"]:
        if row["kind"] == "phase":
            row["domain"] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    assert answer(RULE, given, tmp_path / "alone").status == "not found"
    found = answer("data_workers", given, tmp_path / "workers")
    assert (found.status, found.saving_ns) == ("found", 51_000)
    assert "num_workers=n" not in found.fix and "pin_memory" not in found.fix
