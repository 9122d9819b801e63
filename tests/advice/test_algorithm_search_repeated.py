"""Several algorithms under the calls of one step or of several, and their share of the step."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "algorithm_search_repeated"

TRIED = "void implicit_convolve_sgemm<float>(int)"
CHOSEN = "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1"


def steps(searching: int, trial_us: float = 50) -> Given:
    given = training(4)
    for number in range(4):
        start = 1000 * number
        conv(given, start + 10, (2, 8, 32 + number, 32), (8, 8, 3, 3), padding=1)
        if number < searching:
            given.kernel(TRIED, start + 20, start + 20 + trial_us, launched=start + 12)
        given.kernel(CHOSEN, start + 400, start + 410, launched=start + 14)
    return given


def test_in_several_steps_it_is_found_with_the_shapes(tmp_path: Path) -> None:
    found = answer(RULE, steps(2), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 2 * 50_000 // 4)
    assert found.problem == "2 calls run several algorithms, in 2 steps; a layer sees up to 2 shapes."


def test_one_of_the_algorithms_has_to_run(tmp_path: Path) -> None:
    """All four calls search: the one that takes 10 us is not saved."""
    assert answer(RULE, steps(4), tmp_path).saving_ns == 50_000


@pytest.mark.long
def test_in_one_step_it_is_a_search_at_the_start(tmp_path: Path) -> None:
    assert answer(RULE, steps(1), tmp_path).status == "not found"


def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(2, 19), tmp_path).status == "not found"


@pytest.mark.long
def test_a_search_shorter_than_the_shortest_other_call_takes_nothing_from_the_bound(tmp_path: Path) -> None:
    given = steps(3)
    # The kernels of the third step: 1 + 1 us, beside 10 us of the last one, which does not search.
    for row in given.rows["kernels"][4:6]:
        row["dur_ns"] = 1000
    assert answer(RULE, given, tmp_path).saving_ns == 2 * 50_000 // 4


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")
