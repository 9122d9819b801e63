"""A search in the first step, counted or warm-up: on both sides of a twentieth of the time in convolutions."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "autotune_in_the_window"
LOSER, WINNER = "void implicit_convolve_sgemm<float>(int)", "volta_scudnn_128x64_relu_interior_nn_v1"


def steps(search_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start + 10, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
        if start == 0:
            given.kernel(LOSER, 20, 20 + search_us, launched=12)
        given.kernel(WINNER, start + 400, start + 500, launched=start + 14)
    return given


@pytest.mark.slow
def test_a_search_in_a_counted_step_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(30), tmp_path)
    assert (found.status, found.saving_ns) == ("found", 30_000)
    assert (found.step_ns, found.run_ns, found.saving_pct) == (None, 3_000_000, 1)
    assert (
        found.problem == "1 launch of 1 kernel runs in the first of 3 iterations and never again, for 0.030 ms in all."
    )


def test_a_short_one_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(15), tmp_path).status == "not found"


@pytest.mark.long
def test_a_search_in_a_step_that_is_left_out_as_warm_up_costs_the_run_time_all_the_same(tmp_path: Path) -> None:
    given = steps(30)
    given.rows["ranges"][0]["start_ns"], given.rows["ranges"][0]["dur_ns"] = -1_000_000, 2_000_000
    found = answer(RULE, given, tmp_path)
    assert (found.saving_ns, found.step_ns, found.run_ns) == (30_000, None, 4_000_000)
    assert found.problem.endswith("means of steps leave that step out, the time of the run does not.")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")


@pytest.mark.long
def test_two_iterations_cannot_tell_what_is_gone(tmp_path: Path) -> None:
    """Also where several algorithms ran: of one call each, none is known to be a loser."""
    given = Given()
    for start, kernel in ((0, LOSER), (1000, WINNER)):
        conv(given, start + 10, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
        given.kernel(kernel, start + 400, start + 500, launched=start + 14)
    assert answer(RULE, given, tmp_path).status == "cannot tell"
