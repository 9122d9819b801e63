"""The search for algorithms: switched off or on by a recorded setting, and how much convolutions weigh."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "algorithm_search_off"

SHAPE, FILTER = (2, 64, 32, 32), (64, 64, 3, 3)
# Winograd F(4x4,3x3) with its transforms, in GFLOP, at 156 TFLOP/s; or 1.2 MB once at 1555 GB/s.
FLOOR_US = 1e6 * 4 * (2 * 64 * 32 * 32 * 2 + 64 * 64 * 9) / 1555e9


def steps(benchmark: bool, conv_us: float = 100) -> Given:
    given = training()
    given.about = {"flags": {"cudnn.benchmark": benchmark}}
    for start in (0, 1000, 2000):
        conv(given, start + 10, SHAPE, FILTER, padding=1)
        given.kernel("ampere_scudnn_128x64_relu_interior_nn_v1", start + 20, start + 20 + conv_us, launched=start + 12)
        given.kernel("ampere_h16816gemm_128x64_ldg8_nn", start + 500, start + 900, launched=start + 400)
    return given


@pytest.mark.slow
def test_switched_off_the_bound_is_what_convolutions_take_beyond_the_peaks(tmp_path: Path) -> None:
    found = answer(RULE, steps(False), tmp_path)
    assert (found.status, found.problem) == (
        "found",
        "torch.backends.cudnn.benchmark is False; convolutions take 0.100 ms.",
    )
    assert found.saving_ns == round(1000 * (100 - FLOOR_US))


@pytest.mark.long
def test_the_least_time_may_pass_beside_what_began_earlier(tmp_path: Path) -> None:
    given = steps(False)
    for start in (0, 1000, 2000):
        given.kernel("vectorized_elementwise_kernel<4>", start + 10, start + 70, launched=start + 1, stream=8)
    assert answer(RULE, given, tmp_path).saving_ns == 50_000


@pytest.mark.slow
def test_with_few_convolutions_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(False, 22), tmp_path / "above").status == "found"
    assert answer(RULE, steps(False, 21), tmp_path / "below").status == "not found"


@pytest.mark.long
def test_a_call_that_took_no_time_changes_nothing(tmp_path: Path) -> None:
    given = steps(False)
    for start in (0, 1000, 2000):
        conv(given, start + 200, (2, 64, 16, 16), FILTER, padding=1)
        given.kernel("ampere_scudnn_128x64_relu_interior_nn_v1", start + 250, start + 250, launched=start + 202)
    found = answer(RULE, given, tmp_path)
    assert found.problem == "torch.backends.cudnn.benchmark is False; convolutions take 0.100 ms."
    assert found.saving_ns == round(1000 * (100 - FLOOR_US))


@pytest.mark.long
def test_switched_on_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(True), tmp_path).status == "not found"


@pytest.mark.long
def test_without_a_setting_it_cannot_be_told(tmp_path: Path) -> None:
    given = steps(False)
    given.about = {}
    assert answer(RULE, given, tmp_path).reason.startswith("the trace neither records the settings of the library")


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")
