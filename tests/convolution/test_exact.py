"""Double precision: a right result has a small error, and one that is wrong in the part that is compared does not."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from traceview.convolution.exact import Exact  # noqa: E402


def layer(groups: int) -> SimpleNamespace:
    """A strided, padded convolution of 12 channels to 8."""
    steps = {"stride_h": 2, "stride_w": 1, "pad_h": 1, "pad_w": 2, "dilation_h": 1, "dilation_w": 2}
    sizes = {"batch": 3, "in_channels": 12, "height": 9, "width": 11, "out_channels": 8}
    return SimpleNamespace(**sizes, filter_height=3, filter_width=3, groups=groups, **steps)


@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_results_of_autograd_are_right_and_changed_ones_are_not(direction: str, groups: int) -> None:
    spec = layer(groups)
    torch.manual_seed(0)
    x = torch.randn(3, 12, 9, 11, requires_grad=True)
    w = torch.randn(8, 12 // groups, 3, 3, requires_grad=True)
    y = torch.nn.functional.conv2d(x, w, None, (2, 1), (1, 2), (1, 2), groups)
    dy = torch.randn_like(y)
    y.backward(dy)
    operands = {"fprop": (x, w), "dgrad": (dy, w), "wgrad": (x, dy)}[direction]
    result = {"fprop": y.detach(), "dgrad": x.grad, "wgrad": w.grad}[direction]
    exact = Exact(spec, direction, operands)
    assert exact.error(result) < 1e-5
    for place in (0, -1):
        changed = result.clone()
        changed[place, -1, 1, 1] += 1e-3 * exact.largest
        assert exact.error(changed) == pytest.approx(1e-3, rel=0.02)
    result[-1, 0, 0, 0] = math.nan
    assert math.isnan(exact.error(result))
    assert exact.error(result[:, :, :1]) == math.inf


def test_a_result_of_zeros_has_an_error_too() -> None:
    zeros, filters = torch.zeros(3, 12, 9, 11), torch.ones(8, 12, 3, 3)
    exact = Exact(layer(1), "fprop", (zeros, filters))
    assert exact.error(torch.full((3, *exact.result.shape[1:]), 0.5)) == 0.5
