"""Gradients that stay allocated between steps: on both sides of the threshold, and what is no waste."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given
from memories import BACKWARD, allocated

RULE = "gradients_kept"
PARAMETER = {"how": "noted", "kind": "parameter", "label": "net.fc.weight"}
GRADIENT = {"how": "noted", "kind": "gradient", "label": "net.fc.weight"}


def steps(peak_in: str = "forward", n: int = 3) -> Given:
    """Steps of forward, backward and optimizer; most is allocated in one of them."""
    given = training(n, device=None)
    for number in range(n):
        at = 1000 * number
        given.span("module", "net.fc (Linear)", at + 100, at + 300)
        given.op("aten::mm", at + 100, at + 200)
        given.op(BACKWARD, at + 400, at + 600)
        given.span("phase", "backward", at + 390, at + 610)
        given.span("phase", "forward", at + 90, at + 310)
        given.span("phase", "optimizer", at + 700, at + 900)
        given.op("aten::add_", at + 710, at + 890)
        place = {"forward": at + 150, "backward": at + 500, "optimizer": at + 800}[peak_in]
        allocated(given, place, place + 10, size_bytes=100_000)
    return given


def test_what_is_in_the_same_place_all_the_time_is_found(tmp_path: Path) -> None:
    given = steps()
    allocated(given, None, None, size_bytes=10_000, **PARAMETER)
    allocated(given, None, None, size_bytes=10_000, **GRADIENT)
    given.span("user", "Optimizer.zero_grad#SGD.zero_grad", 10, 20)
    found = answer(RULE, given, tmp_path)
    assert (found.status, found.saving_ns) == ("found", None)
    assert found.problem == (
        "0.010 MB of gradients stay allocated from one step until the next backward pass, 8.3 % of the peak of the "
        "host: without them it is lower by that at most."
    )
    assert found.confidence.startswith("high")
    assert found.evidence == ("Optimizer.zero_grad is called, and keeps them", "net.fc.weight: 0.010 MB")


def test_a_guessed_gradient_is_found_with_less_confidence(tmp_path: Path) -> None:
    given = steps(n=4)
    allocated(given, 450, None, size_bytes=10_000)
    allocated(given, 3150, 3160, size_bytes=200_000)
    found = answer(RULE, given, tmp_path)
    assert found.status == "found" and found.confidence.startswith("medium")
    assert found.evidence[0] == "no call of Optimizer.zero_grad was recorded: without any they are added up"


@pytest.mark.parametrize("freed", [380, 150.5])
def test_what_is_released_after_the_forward_pass_has_begun_is_found(freed: float, tmp_path: Path) -> None:
    """Each backward pass makes a gradient anew, of which zero_grad between forward and backward pass lets go."""
    given = steps()
    given.span("user", "Optimizer.zero_grad#SGD.zero_grad", 375, 385)
    for at in (450, 1450, 2450):
        allocated(given, at, at - 450 + 1000 + freed, size_bytes=10_000)
    allocated(given, 1150, 1150.3, size_bytes=20_000)
    found = answer(RULE, given, tmp_path)
    assert found.status == "found" and found.problem.startswith("0.010 MB of gradients stay allocated")
    assert found.place == "The peak is in the forward pass of step 2"
    assert found.evidence[0] == "they are released, but only after the forward pass has begun"


def test_what_one_step_alone_releases_late_is_not(tmp_path: Path) -> None:
    given = steps()
    for at, freed in ((450, 1380), (1450, 2010), (2450, 2990)):
        allocated(given, at, freed, size_bytes=10_000)
    allocated(given, 1150, 1150.3, size_bytes=20_000)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_what_is_never_released_and_made_anew_is_not(tmp_path: Path) -> None:
    """Releases by a thread of gloo are not recorded on a CPU: each step seems to leave its buffer."""
    given = steps(n=4)
    for at in (450, 1450, 2450, 3450):
        allocated(given, at, None, size_bytes=10_000)
    allocated(given, 3150, 3150.3, size_bytes=20_000)
    assert answer(RULE, given, tmp_path).status == "not found"


def test_gradients_of_the_step_whose_backward_pass_is_at_the_peak_are_not(tmp_path: Path) -> None:
    given = steps("backward")
    for at in (450, 1450, 2450):
        allocated(given, at, at + 930, size_bytes=10_000)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize(
    ("case", "peak_in"),
    [("released", "forward"), ("small", "forward"), ("bucket", "forward"), ("untrained", "forward"),
     ("kept", "optimizer")],
)  # fmt: skip
def test_what_is_needed_released_or_small_is_not(case: str, peak_in: str, tmp_path: Path) -> None:
    given = steps(peak_in)
    allocated(given, None, None, size_bytes=1500 if case == "small" else 10_000, **PARAMETER)
    if case == "released":
        for at in (450, 1450, 2450):
            allocated(given, at, at + 560, size_bytes=10_000)
    elif case == "small":
        allocated(given, None, None, size_bytes=1500, **GRADIENT)
    else:
        allocated(given, None, None, size_bytes=20_000 if case == "bucket" else 10_000, **GRADIENT)
    if case == "untrained":
        given.about["untrained"] = ["net.fc"]
    assert answer(RULE, given, tmp_path).status == "not found"


def test_gradients_added_up_within_a_step_of_the_optimizer_are_not(tmp_path: Path) -> None:
    """Two marked steps, the optimizer in the second alone."""
    given = training(2, device=None)
    for at in (0, 1000):
        given.span("module", "net.fc (Linear)", at + 100, at + 300)
        given.op("aten::mm", at + 100, at + 200)
        given.op(BACKWARD, at + 400, at + 600)
        allocated(given, at + 150, at + 160, size_bytes=100_000)
    given.span("phase", "optimizer", 1700, 1900)
    given.op("aten::add_", 1710, 1890)
    allocated(given, 450, None, size_bytes=10_000)
    assert answer(RULE, given, tmp_path).status == "not found"


@pytest.mark.parametrize("given", [Given(), training()])
def test_without_allocations_it_cannot_tell(given: Given, tmp_path: Path) -> None:
    assert answer(RULE, given, tmp_path).status == "cannot tell"
