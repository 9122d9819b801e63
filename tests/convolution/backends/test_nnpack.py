"""NNPACK inside PyTorch: forward passes and data gradients agree with double precision; what cannot be has a reason."""

from __future__ import annotations

import ctypes

import pytest

torch = pytest.importorskip("torch")

from convolutions import errors, reasons, spec_of, tensors_of  # noqa: E402

from traceview.convolution.backends import nnpack  # noqa: E402
from traceview.convolution.backends.workspace import workspace  # noqa: E402


class Profile(ctypes.Structure):
    """struct nnp_profile: seconds."""

    _fields_ = [(name, ctypes.c_double) for name in ("total", "input", "kernel", "output", "product")]


@pytest.fixture(autouse=True)
def _present() -> None:
    if nnpack.library().reason:
        pytest.skip(str(nnpack.library().reason))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("8x13x14 k16 3x3 p1", {"ft8x8", "ft16x16", "wt8x8"}),
        ("8x27x27 k12 5x5 p2", {"ft8x8", "ft16x16"}),
        ("3x20x24 k8 11x9 p5x4", {"ft16x16"}),
        ("4x9x9 k4 3x3", {"ft8x8", "ft16x16", "wt8x8"}),
    ],
)
@pytest.mark.parametrize("direction", ["fprop", "dgrad"])
def test_every_algorithm_agrees_with_double_precision(text: str, names: set[str], direction: str) -> None:
    found = errors(nnpack, text, direction)
    assert {name for name, _, _ in found} == names
    assert max(found.values()) < 1e-4


def test_what_cannot_be_says_why() -> None:
    assert "stride 4 x 4" in reasons(nnpack, "3x27x27 k8 11x11 s4", "fprop")["ft16x16"]
    assert "no filter gradient" in reasons(nnpack, "8x9x9 k8 3x3", "wgrad")["wt8x8"]
    told = reasons(nnpack, "8x32x32 k8 17x17", "fprop")
    assert "more than its tiles of 16" in told["ft16x16"] and "Winograd is for 3 x 3" in told["wt8x8"]
    assert "groups" in reasons(nnpack, "8x9x9 k8 3x3 g2", "fprop")["ft8x8"]
    assert "not a forward pass" in reasons(nnpack, "8x9x9 k8 3x3 p3", "dgrad")["ft8x8"]
    assert "not float64" in reasons(nnpack, "8x9x9 k8 3x3", "fprop", dtype="float64")["ft8x8"]


def test_the_workspace_is_asked_of_nnpack_and_larger_tiles_take_more_with_small_images() -> None:
    rows = {row["implementation"]: row for row in nnpack.implementations(spec_of("8x9x9 k16 3x3 p1"), "fprop")}
    assert rows["ft16x16"]["workspace_bytes"] > rows["ft8x8"]["workspace_bytes"] > 0


def test_nnpacks_own_clock_shows_the_transforms_of_the_algorithm() -> None:
    spec = spec_of("16x27x27 k16 5x5 p2", batch=4)
    tensors, problem = tensors_of(spec), nnpack.Problem(spec, "fprop", "ft16x16")
    runner, profile = nnpack.Runner("ft16x16", spec, "fprop"), Profile()
    out = torch.empty(problem.shape)
    given = [tensors["input"], tensors["filter"], problem.bias, out]
    size = ctypes.c_size_t(runner.workspace_bytes)
    place = workspace().address(runner.workspace_bytes)
    problem.call(*[each.data_ptr() for each in given], place, ctypes.byref(size), profile=ctypes.byref(profile))
    assert min(profile.input, profile.kernel, profile.output, profile.product) > 0


def test_with_several_threads() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert max(errors(nnpack, "8x13x14 k16 3x3 p1", "fprop").values()) < 1e-4
    finally:
        torch.set_num_threads(before)
