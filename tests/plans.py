"""A small model, plans of its convolutions, and what runs under them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from traceview.convolution import runtime
from traceview.convolution.winograd.machine_code import instruction_set

needs_kernels = pytest.mark.skipif(instruction_set() is None, reason="the fused kernels need AVX2 under Linux")


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def model() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 20, 5, padding=2, bias=False),
        torch.nn.ReLU(),
        torch.nn.Conv2d(20, 8, 3, stride=2),
        torch.nn.Flatten(),
    )


def entry(name: str, module: Any, x: torch.Tensor, implementation: str | None, layout: str = "nhwc") -> dict[str, Any]:
    """A layer of a plan that runs Winograd in all passes."""
    (stride_h, stride_w), (pad_h, pad_w) = module.stride, module.padding
    shape = {
        "batch": x.shape[0], "in_channels": x.shape[1], "height": x.shape[2], "width": x.shape[3],
        "out_channels": module.out_channels, "filter_height": module.kernel_size[0],
        "filter_width": module.kernel_size[1], "stride_h": stride_h, "stride_w": stride_w, "pad_h": pad_h,
        "pad_w": pad_w, "dilation_h": 1, "dilation_w": 1, "groups": 1, "dtype": "float32",
    }  # fmt: skip
    choice = {"backend": "winograd", "implementation": implementation} if implementation else None
    return {"module": name, "shape": shape, "layout": layout, **dict.fromkeys(runtime.DIRECTIONS, choice)}


def plan_of(model: torch.nn.Sequential, x: torch.Tensor, tiles: int = 4) -> dict[str, Any]:
    layers = []
    for name, module in model.named_children():
        if isinstance(module, torch.nn.Conv2d):
            size = -(-module.kernel_size[0] // module.stride[0])
            layers.append(entry(name, module, x, f"F({tiles}x{tiles},{size}x{size}) by 64"))
        x = module(x)
    return {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": layers}


def step(model: torch.nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    """The output, and gradients of input and parameters."""
    x = x.clone().requires_grad_()
    model.zero_grad()
    y = model(x)
    y.square().mean().backward()
    return [y.detach(), x.grad, *(it.grad for it in model.parameters())]


def calls(layers: list[runtime.Planned]) -> list[tuple[str, str]]:
    """The passes that ran by a plan, as they will be appended."""
    seen: list[tuple[str, str]] = []
    for layer in layers:
        layer.clock = lambda name, direction, ns: seen.append((name, direction))
    return seen
