"""One algorithm for all filters of a network, or several, or too few filters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "one_algorithm_everywhere"

GEMM, WINOGRAD = (
    "void implicit_convolve_sgemm<float>(int)",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
)
LAYERS = (
    ((2, 64, 32, 32), (64, 64, 5, 5), 2),
    ((2, 64, 32, 32), (96, 64, 3, 3), 1),
    ((2, 96, 32, 32), (64, 96, 1, 1), 0),
)


def steps(last: str = GEMM, layers: int = 3, kernel_us: float = 50) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        for number, (shape, weights, padding) in enumerate(LAYERS[:layers]):
            at = start + 10 + 100 * number
            conv(given, at, shape, weights, padding=padding)
            name = last if number == 1 else GEMM
            given.kernel(name, at + 20, at + 20 + kernel_us, launched=at + 2)
        given.kernel("ampere_h16816gemm_128x64_ldg8_nn", start + 400, start + 900, launched=start + 390)
    return given


@pytest.mark.slow
def test_found_for_the_layers_that_admit_fewer_operations(tmp_path: Path) -> None:
    found = answer(RULE, steps(), tmp_path)
    assert (found.status, found.problem) == (
        "found",
        "Every convolution is computed as implicit_gemm; 2 layers admit a method with fewer operations.",
    )
    assert found.saving_ns is not None and 96_000 < found.saving_ns < 100_000
    told = re.fullmatch(r"by operations the cheapest .* would take ([\d.]+) ms instead of 0.100 ms", found.evidence[0])
    assert told and 0.020 < float(told[1]) < 0.060


@pytest.mark.long
def test_what_runs_beside_something_earlier_is_not_lost(tmp_path: Path) -> None:
    given = steps()
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel<4>", start + 25, start + 55, launched=start + 1, stream=8)
    found = answer(RULE, given, tmp_path)
    assert found.saving_ns is not None and 73_000 < found.saving_ns < 75_000
    assert found.evidence[2].startswith("conv1 64x64x5x5 (guessed) fprop: 0.025 ms, ")


@pytest.mark.long
def test_with_two_algorithms_or_two_filters_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(WINOGRAD), tmp_path / "two").status == "not found"
    assert answer(RULE, steps(layers=2), tmp_path / "few").status == "not found"


@pytest.mark.slow
def test_with_little_to_gain_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(kernel_us=13), tmp_path).status == "not found"


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")
