"""Admissible algorithms of each layer: one line per layer, direction and algorithm."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared import IMPLICIT, WINOGRAD, network
from given import Given, pick, section

from traceview.analysis import reports


def test_every_algorithm_of_every_layer_with_its_reason(tmp_path: Path) -> None:
    with network((IMPLICIT, WINOGRAD)).open(tmp_path) as connection:
        rows = section(connection, "conv/admissible")
    assert len(rows) == 14
    assert pick(rows[:7], "layer", "algorithm", "used", "admissible", "place") == [
        ("conv1", "implicit_precomp_gemm", 0, True, 1),
        ("conv1", "winograd", 0, True, 2),
        ("conv1", "winograd_nonfused", 0, True, 3),
        ("conv1", "implicit_gemm", 1, True, 4),
        ("conv1", "fft_tiling", 0, True, 5),
        ("conv1", "fft", 0, True, 6),
        ("conv1", "explicit_gemm", 0, True, 7),
    ]
    assert [row["layer"] for row in rows if row["algorithm"] == "winograd" and row["used"] == 1] == ["conv2"]
    assert rows[5]["reason"] == "needs cuDNN 3 or later; NCHW tensors"
    assert rows[1]["workspace_bytes"] == 4 * 16 * 8 * 8


def test_it_is_shown_on_request_only(tmp_path: Path) -> None:
    with network((IMPLICIT, WINOGRAD)).open(tmp_path) as connection:
        usual = reports.run(connection, "conv")
        asked = reports.run(connection, "conv", options=["admissible"])
    assert [part.name for part in usual.sections] == ["layers", "evidence", "shapes"]
    assert [part.name for part in asked.sections] == ["layers", "evidence", "shapes", "admissible"]


@pytest.mark.long
@pytest.mark.parametrize("kernels", [0, 1])
def test_without_shapes_nothing_can_be_said(tmp_path: Path, kernels: int) -> None:
    given = Given()
    for number in range(kernels):
        given.kernel(IMPLICIT, 10 * number, 10 * number + 5)
    with given.open(tmp_path) as connection:
        found = reports.run(connection, "conv", options=["admissible"]).sections[-1]
    assert found.note == (
        "No convolution on an NVIDIA GPU with recorded shapes and stride in this trace; the conditions are cuDNN's."
    )
