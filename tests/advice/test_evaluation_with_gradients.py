"""Evaluation with gradients: as the collector counts it, and by what is kept in steps without a backward pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from asked import connected
from given import US, Given, write
from memories import BACKWARD, allocated

from traceview.analysis import advice

RULE = "evaluation_with_gradients"


def layers(n: int, kept_bytes: int, sequence: int | None) -> Given:
    """Three passes through so many layers, whose results stay to the end; with a number of autograd or without."""
    given = training(3, device=None)
    for at in (0, 1000, 2000):
        for place in range(n):
            begin = at + 100 + 100 * place
            given.span("module", f"net.{place} (Linear)", begin, begin + 90)
            given.add("ops", name="aten::mm", pid=1, tid=1, start_ns=begin * US, dur_ns=80 * US, sequence=sequence)
            allocated(given, begin + 10, at + 900, size_bytes=kept_bytes)
        allocated(given, at + 50, at + 60, size_bytes=100_000)
    return given


@pytest.mark.slow
@pytest.mark.parametrize(("n_unused", "status"), [(2, "found"), (0, "not found")])
def test_what_the_collector_counted(n_unused: int, status: str, tmp_path: Path) -> None:
    given = training()
    given.about = {"evaluated": {"passes": 3, "with_gradients": n_unused}}
    found = answer(RULE, given, tmp_path)
    assert found.status == status
    if n_unused:
        assert found.place == "Inside of steps"
        assert found.problem == (
            "2 of 3 forward passes in evaluation mode run with gradients, and no backward pass uses them."
        )


@pytest.mark.slow
@pytest.mark.parametrize(("n_unused", "status"), [(2, "found"), (0, "cannot tell")])
def test_passes_before_a_backward_pass_of_some_model_leave_it_open(n_unused: int, status: str, tmp_path: Path) -> None:
    given = training()
    given.about = {"evaluated": {"passes": 9, "with_gradients": n_unused, "maybe_used": 3}}
    found = answer(RULE, given, tmp_path)
    assert found.status == status
    said = found.problem if n_unused else found.reason
    assert said.startswith("At least 2 of 9 " if n_unused else "3 of 9 forward passes in evaluation mode run with")


@pytest.mark.slow
@pytest.mark.parametrize("noted", [0, 1])
def test_a_rank_that_leaves_it_open_hides_no_other_and_is_not_counted(noted: int, tmp_path: Path) -> None:
    ranks = [layers(4, 10_000, 7) for _ in range(2)]
    for rank, given in enumerate(ranks):
        given.rank = rank
    ranks[noted].about = {"evaluated": {"passes": 9, "with_gradients": 0, "maybe_used": 3}}
    write(tmp_path, *ranks)
    with connected(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([RULE]))
    assert (found.status, found.rank, found.n_ranks) == ("found", 1 - noted, 1)


@pytest.mark.slow
def test_what_steps_without_a_backward_pass_hold(tmp_path: Path) -> None:
    found = answer(RULE, layers(4, 10_000, 7), tmp_path)
    assert (found.status, found.saving_ns, found.confidence[:6]) == ("found", None, "medium")
    assert found.problem == (
        "No step has a backward pass. Step 1 holds 0.040 MB of what 4 layers made until the last of them has begun, "
        "40.0 % of the peak."
    )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "kept_bytes", "sequence"), [(4, 10_000, None), (2, 10_000, 7), (4, 1000, 7)])
def test_without_gradients_of_few_layers_or_little_is_not(
    n: int, kept_bytes: int, sequence: int | None, tmp_path: Path
) -> None:
    assert answer(RULE, layers(n, kept_bytes, sequence), tmp_path).status == "not found"


@pytest.mark.slow
def test_training_without_a_noted_evaluation_cannot_tell(tmp_path: Path) -> None:
    given = layers(4, 10_000, 7)
    given.op(BACKWARD, 600, 700)
    assert answer(RULE, given, tmp_path).status == "cannot tell"


def test_nothing_cannot_tell(tmp_path: Path) -> None:
    assert answer(RULE, Given(), tmp_path).status == "cannot tell"
