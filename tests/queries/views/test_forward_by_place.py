"""The pass of calls whose kernels serve all of them: told by place among forward calls, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

pytestmark = pytest.mark.slow

KERNELS = {
    "f": "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1>",
    "d": "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
    "w": "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5>",
    "?": "maxwell_gcgemm_64x32_nt",
}


def passes(calls: str, tmp_path: Path, marked: bool = True) -> list[object]:
    """Return the pass of each call of one step, by its letter; ? is an FFT's product, of any pass."""
    given = Given()
    if marked:
        given.span("step", "ProfilerStep#0", 0, 1000)
    for number, letter in enumerate(calls):
        at = 10 * number
        if letter == "?":
            given.kernel("void fft2d_r2c_32x32<float, 0, 0>(float2*)", at + 2, at + 3)
        given.kernel(KERNELS[letter], at + 4, at + 6)
        if letter == "?":
            given.kernel("void fft2d_c2r_32x32<float, 0, 0>(float*)", at + 7, at + 8)
    query = "SELECT direction FROM conv_calls ORDER BY start_ns"
    return [direction for (direction,) in rows(given.open(tmp_path), query)]


def test_between_forward_calls_it_is_forward(tmp_path: Path) -> None:
    assert passes("f?fdw", tmp_path) == ["fprop", "fprop", "fprop", "dgrad", "wgrad"]


def test_among_gradients_and_after_the_last_forward_call_it_stays_untold(tmp_path: Path) -> None:
    assert passes("ff?d?w", tmp_path) == ["fprop", "fprop", None, "dgrad", None, "wgrad"]


@pytest.mark.long
def test_where_passes_alternate_it_stays_untold(tmp_path: Path) -> None:
    assert passes("f?dwfdw", tmp_path)[1] is None


@pytest.mark.long
def test_without_steps_it_stays_untold(tmp_path: Path) -> None:
    assert passes("f?fdw", tmp_path, marked=False)[1] is None
