"""Pageable host memory: on both sides of one percent of the step, and at the rate of the link."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "pageable_copies"


def steps(copy_us: float, memory: str = "pageable", size_bytes: int = 1_000_000) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        end = start + 10 + copy_us
        given.copy("HtoD", start + 10, end, src_kind=memory, dst_kind="device", size_bytes=size_bytes)
        given.kernel("ampere_sgemm_128x64_nn", end + 5, end + 100)
    return given


@pytest.mark.slow
def test_a_loader_that_pins_already_is_not_blamed(tmp_path: Path) -> None:
    given = steps(200)
    given.about = {"loaders": [{"batches": 3, "workers": 4, "prefetch_factor": 2, "pin_memory": True, "batch": 8}]}
    assert answer(RULE, given, tmp_path).problem.endswith(
        "The DataLoader (4 workers, prefetch_factor=2, pin_memory=True, batch 8) pins its batches already: these are "
        "copies of others."
    )


@pytest.mark.slow
def test_above_the_threshold_copy_and_wait_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(200), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 205_000)
    assert found.saving_pct == 20.5


@pytest.mark.slow
def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(4, size_bytes=20_000), tmp_path).status == "not found"


def test_a_direction_is_no_kind_of_memory(tmp_path: Path) -> None:
    """ROCm's Kineto writes `Memcpy HtoD (Host -> Device)`."""
    assert answer(RULE, steps(200, "host"), tmp_path).status == "cannot tell"


@pytest.mark.long
def test_pinned_memory_and_copies_at_the_rate_of_the_link_are_fine(tmp_path: Path) -> None:
    assert answer(RULE, steps(200, "pinned"), tmp_path / "pinned").status == "not found"
    # PCI Express 4.0 gives an A100 31.5 GB/s.
    assert answer(RULE, steps(200, size_bytes=6_000_000), tmp_path / "fast").status == "not found"


@pytest.mark.long
def test_the_wait_after_copies_that_end_together_is_one(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        for stream in (7, 8):
            facts = {"size_bytes": 262144, "src_kind": "pageable", "dst_kind": "device", "stream": stream}
            given.copy("HtoD", start + 20, start + 120, launched=start + 1, **facts)
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 600, launched=start + 490)
    assert answer(RULE, given, tmp_path).saving_ns == 480_000


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "the trace holds no copy whose kind of host memory is recorded.",
    )


@pytest.mark.slow
def test_what_is_brought_to_the_device_before_its_first_kernel_is_a_guess(tmp_path: Path) -> None:
    def given(first_kernel: float) -> Given:
        given = Given()
        for start in (0, 500, 1000):
            given.copy("HtoD", start, start + 400, src_kind="pageable", dst_kind="device", size_bytes=1_000_000)
        given.kernel("ampere_sgemm_128x64_nn", first_kernel, first_kernel + 5)
        given.kernel("ampere_sgemm_128x64_nn", 1500, 1600)
        return given

    found = answer(RULE, given(1450), tmp_path / "after")
    assert found.confidence == (
        "low: 1.200 ms of it are before the first kernel, as where weights are brought to the device once"
    )
    assert answer(RULE, given(410), tmp_path / "between").confidence.startswith("high")


@pytest.mark.slow
def test_one_copy_of_a_recording_without_steps_is_a_guess(tmp_path: Path) -> None:
    given = Given()
    given.kernel("ampere_sgemm_128x64_nn", 0, 5)
    given.copy("HtoD", 10, 410, src_kind="pageable", dst_kind="device", size_bytes=1_000_000)
    given.kernel("ampere_sgemm_128x64_nn", 410, 500)
    found = answer(RULE, given, tmp_path)
    assert found.confidence.startswith("low: one copy of 0.400 ms is most of it")


@pytest.mark.slow
@pytest.mark.parametrize("rule", [RULE, "copy_bound"])
def test_one_long_copy_in_many_steps_is_no_habit(rule: str, tmp_path: Path) -> None:
    given = training(6, 1000)
    for start in range(0, 6000, 1000):
        end = start + (910 if start == 3000 else 110)
        given.copy("HtoD", start + 10, end, src_kind="pageable", dst_kind="device", size_bytes=1_000_000)
        given.kernel("ampere_sgemm_128x64_nn", end, end + 50)
    found = answer(rule, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", 1_400_000 // 6)
    assert found.confidence == "low: one copy of 0.900 ms is most of it, once in 6 steps"
