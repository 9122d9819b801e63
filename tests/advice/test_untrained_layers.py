"""Layers that no optimizer trains: their backward pass, what they keep, and what is no waste."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import US, Given
from memories import allocated

pytestmark = pytest.mark.slow

RULE = "untrained_layers"


def steps(untrained: list[str] | None, backward: float = 0, held_bytes: int = 0, sequence: int | None = 5) -> Given:
    """Steps of two layers on a CPU; the first one's backward pass takes so long, and it keeps so much."""
    given = training(3, device=None)
    for number in range(3):
        at = 1000 * number
        for place, name in enumerate(("body.0", "head")):
            begin = at + 100 + 200 * place
            given.span("module", f"{name} (Linear)", begin, begin + 100)
            numbered = None if sequence is None else sequence + 10 * number + place
            given.add("ops", name="aten::mm", pid=1, tid=1, start_ns=begin * US, dur_ns=80 * US, sequence=numbered)
        if held_bytes:
            allocated(given, at + 110, at + 420, size_bytes=held_bytes)
        allocated(given, at + 350, at + 360, size_bytes=100_000)
        if backward:
            given.add(
                "ops", name="MmBackward0", pid=1, tid=2, start_ns=(at + 500) * US, dur_ns=round(backward * US),
                sequence=(sequence or 0) + 10 * number, forward_thread=1,
            )  # fmt: skip
    if untrained is not None:
        given.about["untrained"] = untrained
    return given


def test_a_backward_pass_of_what_is_not_trained_is_found(tmp_path: Path) -> None:
    given = steps(["body"], backward=100)
    allocated(given, None, None, size_bytes=5000, how="noted", kind="gradient", label="body.0.weight")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.place, found.saving_ns) == ("found", "body", 100_000)
    assert found.problem == (
        "No optimizer has the parameters of body, which ask for gradients. Their backward pass takes 0.100 ms a step. "
        "At the peak their gradients and what they made are 0.005 MB of 0.105."
    )


def test_without_allocations_no_memory_is_said_and_a_module_without_gradients_is_not_named(tmp_path: Path) -> None:
    """As a frozen copy under torch.no_grad() is: its parameters ask for gradients and get none."""
    given = steps(["body", "teacher"], backward=100)
    given.rows.pop("allocations")
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.evidence) == ("found", ("body: 0.100 ms backward",))
    assert found.problem == (
        "No optimizer has the parameters of body, which ask for gradients. Their backward pass takes 0.100 ms a step."
    )


def test_what_a_detached_part_keeps_is_found(tmp_path: Path) -> None:
    found = answer(RULE, steps(["body"], held_bytes=5000), tmp_path)
    assert (found.status, found.saving_ns) == ("found", None)
    assert found.evidence == ("body: 0.000 ms backward; 0.000 MB of gradients and 0.005 MB that they made at the peak",)


@pytest.mark.parametrize(
    "given",
    [
        steps([], backward=100, held_bytes=5000),
        steps(["body"], backward=4),
        steps(["body"], held_bytes=1500),
        steps(["body"], held_bytes=5000, sequence=None),
        steps(["bo"], backward=100, held_bytes=5000),
    ],
    ids=["all trained", "short", "small", "without gradients", "another name"],
)
def test_what_is_trained_short_small_or_without_gradients_is_not(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize("given", [Given(), steps(None, backward=100)])
def test_without_the_collector_it_cannot_tell(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "cannot tell"
