"""Many tiny copies: on both sides of twenty per step."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "tiny_copies"


def steps(n_copies: int, direction: str = "DtoH", size_bytes: int = 4) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        for number in range(n_copies):
            at = start + 20 * number
            given.copy(direction, at, at + 1, launched=at, size_bytes=size_bytes)
            given.kernel("ampere_sgemm_128x64_nn", at + 3, at + 15, launched=at + 1)
    return given


def test_above_the_threshold_copies_and_the_waits_after_them_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(21), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 63_000)
    assert found.evidence == ("DtoH under (no operator): 21.0, 0.063 ms",)


@pytest.mark.slow
def test_waits_that_are_most_of_it_may_have_other_causes(tmp_path: Path) -> None:
    """Waits are 42 of 63 us; in a single step one of them is most, and nothing tells that it comes again."""
    assert answer(RULE, steps(21), tmp_path / "several").confidence.startswith("medium: most of it is waits")
    given = training(1, 1000)
    for at in range(21):
        given.copy("HtoD", 2 * at, 2 * at + 1, size_bytes=4)
    given.kernel("ampere_sgemm_128x64_nn", 900, 901)
    found = answer(RULE, given, tmp_path / "one")
    assert found.confidence.startswith("low: one wait after a copy of 0.859 ms")


def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(20), tmp_path).status == "not found"


@pytest.mark.long
def test_larger_copies_and_those_on_the_device_do_not_count(tmp_path: Path) -> None:
    assert answer(RULE, steps(30, size_bytes=4096), tmp_path / "large").status == "not found"
    assert answer(RULE, steps(30, "DtoD"), tmp_path / "device").status == "not found"


@pytest.mark.long
def test_the_wait_after_copies_that_end_together_is_one(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        for number in range(22):
            given.copy("HtoD", start + 20, start + 22, launched=start + 1, stream=7 + number, size_bytes=8)
        given.kernel("ampere_sgemm_128x64_nn", start + 500, start + 600, launched=start + 490)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns == 480_000
    assert "spends 0.002 ms on them and waits 0.478 ms after them." in found.problem


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == (
        "cannot tell",
        "the trace holds no copy by a call of the program whose size is recorded.",
    )


def test_the_dma_requests_of_an_mtia_device_are_not_the_programs_copies(tmp_path: Path) -> None:
    given = steps(21)
    for row in given.rows["memcpys"]:
        row["name"] = "dma_request"
    assert answer(RULE, given, tmp_path).status == "cannot tell"
