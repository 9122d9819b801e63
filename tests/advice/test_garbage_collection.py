"""Pauses of Python's garbage collector in the steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given

RULE = "garbage_collection"
EPOCH_US = 10**15


def paused(*pauses: tuple[int, int], device: str | None = None) -> Given:
    """Three steps of 1,000 us whose work fills the first 500, with pauses that start and last so many microseconds."""
    given = training(device=device)
    given.origin_unix_ns = 1000 * EPOCH_US
    given.about = {"garbage": [[2, EPOCH_US + start, 1000 * lasting] for start, lasting in pauses]}
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 500, [(8, 8), (8, 8)], ["", ""])
        if device:
            given.kernel("ampere_sgemm_128x64_nn", start + 20, start + 500, launched=start + 15)
    return given


@pytest.mark.slow
def test_pauses_in_steps_are_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, paused((600, 300), (1600, 150), (9000, 5000)), tmp_path)
    assert (found.status, found.saving_ns, found.place) == ("found", 150_000, "The longest pause takes 0.300 ms")
    assert found.problem == "Python's garbage collector runs for 0.150 ms."
    assert found.evidence == ("2 pauses of 0.1 ms or more in 3 steps, 2 of them through all objects (generation 2)",)
    assert found.confidence.startswith("high")


@pytest.mark.slow
def test_one_pause_is_a_guess(tmp_path: Path) -> None:
    assert answer(RULE, paused((600, 300)), tmp_path).confidence.startswith("low")


@pytest.mark.slow
def test_on_a_device_only_idle_time_counts(tmp_path: Path) -> None:
    found = answer(RULE, paused((400, 300), (1400, 300), device="NVIDIA A100-SXM4-40GB"), tmp_path)
    assert found.saving_ns == pytest.approx(2 * 200_000 / 3, abs=1)


@pytest.mark.slow
def test_only_time_in_steps_counts_and_that_once(tmp_path: Path) -> None:
    """The first pause begins 50 us before the first step, one is noted twice, and the last ends beyond the steps."""
    found = answer(RULE, paused((-50, 100), (1600, 300), (1600, 300), (2900, 5000)), tmp_path)
    assert found.saving_ns == pytest.approx((50_000 + 300_000 + 100_000) / 3, abs=1)
    assert found.problem == "Python's garbage collector runs for 0.150 ms."
    assert found.place == "The longest pause takes 5.000 ms"
    assert found.evidence[0].startswith("3 pauses of 0.1 ms or more in 3 steps")


@pytest.mark.slow
@pytest.mark.parametrize("given", [paused((600, 14), (1600, 14)), paused()], ids=["short", "none"])
def test_others_are_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


def test_without_notes_it_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, training(), tmp_path).status == "cannot tell"


@pytest.mark.slow
def test_notes_that_are_no_pauses_are_left_out(tmp_path: Path) -> None:
    given = paused((600, 300), (1600, 300))
    given.about["garbage"] += [
        7,
        ["a", "b"],
        [2, 9 * 10**18, 1000],
        [2, 5, 9 * 10**18],
        [2, EPOCH_US + 1700, -5],
        {"x": 1},
    ]
    assert answer(RULE, given, tmp_path).saving_ns == 200_000
