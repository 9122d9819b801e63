"""How the algorithm was chosen, and which admissible ones never ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import shapes
from advised import training
from cases import first
from given import Given, conv, section

WINOGRAD = shapes.KERNELS["WINOGRAD"][0]
PRECOMP = shapes.KERNELS["IMPLICIT_PRECOMP_GEMM"][0]
X, W = (8, 64, 28, 28), (64, 64, 3, 3)


def steps(loser: str | None = None, **about: Any) -> Given:
    """Three steps of one convolution by a matrix product; the first also tries another kernel."""
    given = training()
    given.about = about
    for start in (0, 1000, 2000):
        conv(given, start + 1, X, W, padding=1)
        if loser and not start:
            given.kernel(loser, start + 50, start + 90, launched=start + 3)
        given.kernel(PRECOMP, start + 100, start + 200, launched=start + 5)
    return given


def chosen(given: Given, folder: Path) -> tuple[str, str, int]:
    (row,) = section(given.open(folder), "algorithms/choice")
    return row["chosen"], row["because"], row["losers"]


@pytest.mark.long
def test_a_search_shows_in_the_first_iteration(tmp_path: Path) -> None:
    given = steps(WINOGRAD, flags={"cudnn.benchmark": False})
    assert chosen(given, tmp_path) == ("search", "kernels of the first iteration never run again", 1)


@pytest.mark.parametrize(
    ("about", "way", "because"),
    first(
        2,
        [
            ({"flags": {"cudnn.benchmark": False}}, "heuristic", "torch.backends.cudnn.benchmark is False"),
            (
                {"environment": {"TF_CUDNN_USE_AUTOTUNE": "1"}},
                "search",
                "TF_CUDNN_USE_AUTOTUNE is 1; the search itself is not in the recording",
            ),
            ({"environment": {"THEANO_FLAGS": "dnn.conv.algo_fwd=fft"}}, "fixed", "THEANO_FLAGS ask for fft"),
            (
                {"environment": {"THEANO_FLAGS": "dnn.conv.algo_fwd=guess_once"}},
                "heuristic",
                "THEANO_FLAGS ask for guess_once",
            ),
        ],
    ),
)
def test_a_recorded_setting_says_it(tmp_path: Path, about: dict[str, Any], way: str, because: str) -> None:
    assert chosen(steps(**about), tmp_path) == (way, because, 0)


def test_without_either_it_cannot_be_told(tmp_path: Path) -> None:
    assert chosen(steps(), tmp_path)[0] == "cannot tell"


@pytest.mark.slow
def test_families_that_lost_or_never_ran(tmp_path: Path) -> None:
    rows = section(steps(WINOGRAD).open(tmp_path), "algorithms/families")
    verdicts = {row["algorithm"]: (row["verdict"], row["kernels"]) for row in rows}
    assert verdicts["implicit_precomp_gemm"] == ("used", 3)
    assert verdicts["winograd"] == ("tried and lost", 1)
    assert verdicts["winograd_nonfused"] == ("never tried though admissible", 0)


@pytest.mark.slow
def test_what_no_layer_admits_says_why(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start + 1, X, W, stride=2, padding=1)
        given.kernel(PRECOMP, start + 100, start + 200, launched=start + 5)
    rows = {row["algorithm"]: row for row in section(given.open(tmp_path), "algorithms/families")}
    assert (rows["fft"]["verdict"], rows["fft"]["reason"]) == ("not admissible", "stride 2, not 1")


@pytest.mark.long
def test_without_shapes_what_ran_is_still_listed(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel(PRECOMP, start + 100, start + 200)
    (row,) = section(given.open(tmp_path), "algorithms/families")
    assert (row["algorithm"], row["kernels"], row["layers"]) == ("implicit_precomp_gemm", 3, None)
    assert row["verdict"] == "ran; which layers admit it is not known"


@pytest.mark.long
def test_without_shapes_what_is_gone_after_the_first_iteration_lost(tmp_path: Path) -> None:
    given = training()
    given.kernel(WINOGRAD, 50, 90)
    for start in (0, 1000, 2000):
        given.kernel(PRECOMP, start + 100, start + 200)
    rows = {row["algorithm"]: row["verdict"] for row in section(given.open(tmp_path), "algorithms/families")}
    assert rows == {"implicit_precomp_gemm": "ran; which layers admit it is not known", "winograd": "tried and lost"}
