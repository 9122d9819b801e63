"""A setting asks for an algorithm: it ran, or the framework fell back without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapes
from advised import answer, training
from given import Given, conv

RULE = "requested_algorithm_absent"
REASON = "no recorded setting asks for one algorithm of convolutions (Theano's dnn.conv.algo_*)."
WINOGRAD = shapes.KERNELS["WINOGRAD"][0]
PRECOMP = shapes.KERNELS["IMPLICIT_PRECOMP_GEMM"][0]
X, W = (8, 64, 28, 28), (64, 64, 3, 3)


def steps(asked: str, fallback_us: float = 100) -> Given:
    """A convolution of stride 1 by Winograd for 100 microseconds, and one of stride 2 by a matrix product."""
    given = training()
    given.about = {"environment": {"THEANO_FLAGS": f"device=cuda,dnn.conv.algo_fwd={asked}"}}
    for start in (0, 1000, 2000):
        conv(given, start + 1, X, W, padding=1)
        given.kernel(WINOGRAD, start + 100, start + 200, launched=start + 3)
        conv(given, start + 22, X, W, stride=2, padding=1)
        given.kernel(PRECOMP, start + 300, start + 300 + fallback_us, launched=start + 24)
    return given


@pytest.mark.slow
def test_a_layer_that_fell_back_is_named_with_the_broken_condition(tmp_path: Path) -> None:
    found = answer(RULE, steps("winograd"), tmp_path)
    assert (found.status, found.saving_ns) == ("found", None)
    assert (
        found.problem == "dnn.conv.algo_fwd=winograd: 50.0 % of the time in convolution calls is in other algorithms."
    )
    (line,) = found.evidence
    assert (
        line == "conv2 64x64x3x3 (guessed) fprop: implicit_precomp_gemm instead of winograd, 0.100 ms (stride 2, not 1)"
    )


@pytest.mark.slow
def test_below_the_threshold_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps("winograd", fallback_us=6), tmp_path / "above").status == "found"
    assert answer(RULE, steps("winograd", fallback_us=5), tmp_path / "below").status == "not found"


@pytest.mark.long
def test_a_choice_left_to_the_library_asks_for_none(tmp_path: Path) -> None:
    found = answer(RULE, steps("time_once"), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", REASON)


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")
