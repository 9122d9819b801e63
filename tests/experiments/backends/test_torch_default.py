"""PyTorch's default: all passes in both layouts agree with autograd in double precision."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from traceview.experiments.backends import torch_default  # noqa: E402
from traceview.experiments.layers import parse  # noqa: E402


@pytest.mark.parametrize("text", ["6x9x8 k4 3x3 s2 p1", "4x7x9 k6 3x2 d2 g2"])
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_pass_is_that_of_autograd(text: str, direction: str) -> None:
    layer, _ = parse(text)
    torch.manual_seed(0)
    x = torch.randn(2, layer.in_channels, layer.height, layer.width, dtype=torch.float64, requires_grad=True)
    shape = (layer.out_channels, layer.in_channels // layer.groups, layer.filter_height, layer.filter_width)
    w = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    steps = [(layer.stride_h, layer.stride_w), (layer.pad_h, layer.pad_w), (layer.dilation_h, layer.dilation_w)]
    y = torch.nn.functional.conv2d(x, w, None, *steps, layer.groups)
    g = torch.randn_like(y)
    y.backward(g)
    tensors = {"input": x.detach().float(), "filter": w.detach().float(), "grad_output": g.float()}
    expected = {"fprop": y, "dgrad": x.grad, "wgrad": w.grad}[direction]
    spec = SimpleNamespace(**layer.facts(), batch=2, device="cpu")
    found = torch_default.implementations(spec, direction)
    assert [row["layout_in"] for row in found] == ["nchw", "nhwc"]
    for row in found:
        runner = torch_default.prepare(row, spec, direction)
        packed = [runner.pack(name, tensors[name]) for name in runner.operands]
        if row["layout_in"] == "nhwc":
            assert packed[0].is_contiguous(memory_format=torch.channels_last)
        out = runner.unpack(runner.run(*packed))
        assert out.shape == expected.shape
        assert torch.allclose(out.double(), expected, atol=1e-4)
