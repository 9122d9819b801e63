"""A kernel of a convolution that is gone after the first iteration lost the search."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer
from given import Given, conv, pick, section

IMAGE, FILTER = (2, 8, 32, 32), (8, 8, 3, 3)
LOSER, WINNER = "void implicit_convolve_sgemm<float>(int)", "volta_scudnn_128x64_relu_interior_nn_v1"


def search(steps: int) -> Given:
    given = Given()
    for step in range(steps):
        at = 200 * step
        given.span("step", str(step), at, at + 200)
        conv(given, at + 10, IMAGE, FILTER, padding=1)
        if step == 0:
            given.kernel(LOSER, at + 20, at + 70, launched=at + 12)
        given.kernel(WINNER, at + 80, at + 90, launched=at + 14)
    return given


def test_losers_and_what_they_cost(tmp_path: Path) -> None:
    connection = search(4).open(tmp_path)
    losers = section(connection, "autotune/losers")
    assert pick(losers, "name", "launches", "total_ns", "search_pct") == [(LOSER, 1, 50_000, 100.0)]
    (cost,) = section(connection, "autotune/search")
    assert (cost["iterations"], cost["search_ns"], cost["longest_name"]) == (4, 50_000, LOSER)
    assert cost["device_pct"] == 100 * 50 / 90


def test_winner_by_layer(tmp_path: Path) -> None:
    (row,) = section(search(4).open(tmp_path), "autotune/layers")
    assert (row["layer"], row["direction"]) == ("conv1 8x8x3x3 (guessed)", "fprop")
    assert row["winner"] == "implicit_precomp_gemm"
    assert (row["tried"], row["lost"]) == ("implicit_gemm, implicit_precomp_gemm", 1)
    assert (row["first_ns"], row["later_ns"]) == (60_000, 10_000)
    assert (row["won_by"], row["winner_ns"], row["search_ns"]) == ("later calls", 10_000, 50_000)


def test_without_later_calls_the_fastest_trial_won(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, IMAGE, FILTER, padding=1)
    given.kernel(LOSER, 100, 150, launched=1)
    given.kernel(LOSER, 150, 190, launched=2)  # The first algorithm runs twice.
    given.kernel("computeOffsetsKernel", 200, 202, launched=3)
    given.kernel(WINNER, 202, 222, launched=4)
    (row,) = section(given.open(tmp_path), "autotune/layers")
    assert (row["winner"], row["won_by"], row["winner_ns"]) == ("implicit_precomp_gemm", "fastest trial", 22_000)
    assert (row["tried"], row["search_ns"]) == ("implicit_gemm, implicit_precomp_gemm", 90_000)


def test_the_check_of_a_trials_output_is_part_of_the_search(tmp_path: Path) -> None:
    given = search(4)
    given.kernel("redzone_checker", 100, 104, launched=40)
    found = section(given.open(tmp_path), "autotune/losers")
    assert pick(found, "name", "total_ns") == [(LOSER, 50_000), ("redzone_checker", 4_000)]


@pytest.mark.slow
def test_what_a_search_before_the_first_step_cost_a_layer_is_not_known(tmp_path: Path) -> None:
    """Nor is the first step the one that it was in, nor are calls without a layer those of one."""
    given = Given()
    given.kernel(LOSER, 20, 70)
    given.kernel(WINNER, 80, 90)
    for step in range(3):
        at = 200 * (step + 1)
        given.span("step", str(step), at, at + 200)
        given.kernel("cudnn::detail::dgrad_engine<float, 512>(int)", at + 20, at + 40)
    with given.open(tmp_path) as connection:
        (cost,) = section(connection, "autotune/search")
        assert (cost["search_ns"], cost["iterations"]) == (60_000, 3)
        assert (cost["first_step_ns"], cost["later_step_ns"]) == (None, 200_000)
        (row,) = section(connection, "autotune/layers")
        assert (row["layer"], row["tried"]) == ("(no layer)", "implicit_gemm, implicit_precomp_gemm")
        assert [row[name] for name in ("winner", "won_by", "winner_ns", "search_ns", "first_ns")] == [None] * 5
        (choice,) = section(connection, "algorithms/choice")
        assert choice["because"] == "kernels from before the first step never run again"
        assert choice["search_ns"] == 60_000
    assert answer("autotune_in_the_window", given, tmp_path / "advice").problem == (
        "2 launches of 2 kernels run before the first of 3 steps and never again, for 0.060 ms in all."
    )


@pytest.mark.long
def test_two_iterations_prove_nothing(tmp_path: Path) -> None:
    assert section(search(2).open(tmp_path), "autotune/losers") == []


@pytest.mark.long
def test_without_steps_the_calls_of_a_layer_are_counted(tmp_path: Path) -> None:
    given = search(4)
    del given.rows["ranges"]
    assert pick(section(given.open(tmp_path), "autotune/losers"), "name") == [(LOSER,)]


@pytest.mark.long
@pytest.mark.parametrize("with_shapes", [True, False])
def test_without_steps_a_layer_that_was_called_once_lost_no_search(with_shapes: bool, tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (2, 3, 32, 32), (8, 3, 5, 5), padding=2)
    given.kernel(LOSER, 100, 110, launched=2)
    for at in (20, 40, 60):  # three layers of one shape
        conv(given, at, IMAGE, FILTER, padding=1)
        given.kernel(WINNER, at + 100, at + 110, launched=at + 2)
    for row in given.rows["ops"] if not with_shapes else ():
        row["shapes"] = None
    with given.open(tmp_path) as connection:
        for part in ("search", "losers", "layers"):
            assert section(connection, f"autotune/{part}") == []
