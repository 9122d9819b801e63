"""Layout changes inside convolutions: on both sides of a tenth of the time in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import answer, training
from given import Given, conv

RULE = "layout_in_convolutions"
TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"


def steps(layout_us: float) -> Given:
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
        given.kernel(TO_NHWC, start + 100, start + 100 + layout_us, launched=start + 1)
        given.kernel("sm80_xmma_fprop_implicit_gemm_tf32f32", start + 200, start + 290, launched=start + 3)
    return given


@pytest.mark.slow
def test_above_a_tenth_it_is_found_with_its_time_as_the_bound(tmp_path: Path) -> None:
    found = answer(RULE, steps(11), tmp_path)
    assert (found.status, found.saving_ns, found.step_ns) == ("found", 11_000, 1_000_000)
    assert found.saving_pct == 1.1
    assert found.problem == "10.9 % of the time in convolution calls only changes the layout of tensors."
    assert found.evidence == (f"{TO_NHWC}: 1.0 calls and 0.011 ms",)


@pytest.mark.slow
def test_below_it_is_not(tmp_path: Path) -> None:
    assert answer(RULE, steps(9), tmp_path / "default").status == "not found"
    assert answer(RULE, steps(9), tmp_path / "lower", layout_conv_pct="9").status == "found"


@pytest.mark.long
def test_what_another_kernel_hides_is_no_saving(tmp_path: Path) -> None:
    given = steps(20)
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 90, start + 115, stream=8)
    assert answer(RULE, given, tmp_path).saving_ns == 5_000


def test_an_empty_capture_cannot_tell(tmp_path: Path) -> None:
    found = answer(RULE, Given(), tmp_path)
    assert (found.status, found.reason) == ("cannot tell", "the trace holds no kernels of a device.")
