"""Explicit GEMM: the image unrolled into a matrix (im2col), then a matrix product, in PyTorch's operators.

Of filters of 1 x 1 the image is that matrix already, where channels lie last: one product for the whole batch.

Forward by `aten::_slow_conv2d_forward`, gradients by `aten::im2col`, `aten::col2im` and products, image by image, as
Caffe did it.
"""

from __future__ import annotations

from typing import Any

import torch

from . import runners
from .runners import LAST, OPERANDS, offered
from .runners import version as version

NAME = "torch_gemm"
DEVICES = ("cpu",)
POINTWISE = "GEMM of 1x1"
OPERATORS = {
    "fprop": ("aten::_slow_conv2d_forward",),
    "dgrad": ("aten::mm", "aten::col2im"),
    "wgrad": ("aten::im2col", "aten::addmm_"),
}


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """One, for any stride and padding, without dilation and groups; another for filters of 1 x 1."""
    reason = None
    if layer.groups != 1 or (layer.dilation_h, layer.dilation_w) != (1, 1):
        reason = "PyTorch's unrolled convolution knows no groups and no dilation"
    elif layer.dtype != "float32":
        reason = f"float32 only, not {layer.dtype}"
    rows = [offered("im2col + GEMM", "explicit_gemm", "nchw", reason)]
    if (layer.filter_height, layer.filter_width, layer.pad_h, layer.pad_w) == (1, 1, 0, 0):
        rows.append(offered(POINTWISE, "explicit_gemm", "nhwc", reason))
    return rows


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Any:
    """The pass."""
    return (Pointwise if implementation["implementation"] == POINTWISE else Runner)(layer, direction)


class Runner(runners.Runner):
    """One pass. The unrolled matrix is new memory in every run."""

    def __init__(self, layer: Any, direction: str) -> None:
        self.operands, self.operators = OPERANDS[direction], OPERATORS[direction]
        self.layer = layer
        self.window = [layer.filter_height, layer.filter_width]
        self.geometry = ([1, 1], [layer.pad_h, layer.pad_w], [layer.stride_h, layer.stride_w])
        self.run = {"fprop": self._forward, "dgrad": self._backward_data, "wgrad": self._backward_filter}[direction]

    def _forward(self, image: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        _, pads, strides = self.geometry
        out: torch.Tensor = torch.ops.aten._slow_conv2d_forward(image, filters, self.window, None, strides, pads)
        return out

    def _backward_data(self, gradient: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        layer, aten = self.layer, torch.ops.aten
        out = torch.empty(layer.batch, layer.in_channels, layer.height, layer.width)
        matrix = filters.view(layer.out_channels, -1).t()
        for place in range(layer.batch):
            columns = aten.mm(matrix, gradient[place].view(layer.out_channels, -1))
            out[place] = aten.col2im(columns, [layer.height, layer.width], self.window, *self.geometry)
        return out

    def _backward_filter(self, image: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        layer, aten = self.layer, torch.ops.aten
        out = torch.zeros(layer.out_channels, layer.in_channels * self.window[0] * self.window[1])
        for place in range(layer.batch):
            columns = aten.im2col(image[place], self.window, *self.geometry)
            out.addmm_(gradient[place].view(layer.out_channels, -1), columns.t())
        return out.view(layer.out_channels, layer.in_channels, *self.window)


class Pointwise(runners.LastRunner):
    """One pass of a convolution of 1 x 1: rows are places, columns are channels."""

    takes_bias = True

    def __init__(self, layer: Any, direction: str) -> None:
        self.operands, self.layer = OPERANDS[direction], layer
        self.operators = ("aten::addmm" if direction == "fprop" else "aten::mm",)
        self.run = {"fprop": self._forward, "dgrad": self._backward_data, "wgrad": self._backward_filter}[direction]

    def _seen(self, image: torch.Tensor) -> torch.Tensor:
        """The places of the image that the filter stands on."""
        return image[:, :, :: self.layer.stride_h, :: self.layer.stride_w]

    def _forward(self, image: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        seen = self._seen(image)
        n, c, high, wide = seen.shape
        added = torch.zeros(1) if bias is None else bias
        # No view of what the product gave: autograd refuses to change one in place, as ReLU(inplace=True) does.
        out = torch.empty((n, len(filters), high, wide), memory_format=LAST)
        places, rows = out.permute(0, 2, 3, 1).view(-1, len(filters)), seen.permute(0, 2, 3, 1).reshape(-1, c)
        torch.addmm(added, rows, filters.reshape(-1, c).t(), out=places)
        return out

    def _backward_data(
        self, gradient: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        n, k, high, wide = gradient.shape
        made = torch.mm(gradient.permute(0, 2, 3, 1).reshape(-1, k), filters.reshape(k, -1))
        small = made.view(n, high, wide, -1).permute(0, 3, 1, 2)
        if (self.layer.stride_h, self.layer.stride_w) == (1, 1):
            return small
        shape = n, self.layer.in_channels, self.layer.height, self.layer.width
        out = torch.empty(shape, memory_format=LAST).zero_()
        self._seen(out).copy_(small)
        return out

    def _backward_filter(
        self, image: torch.Tensor, gradient: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        rows = gradient.permute(0, 2, 3, 1).reshape(-1, gradient.shape[1])
        seen = self._seen(image).permute(0, 2, 3, 1).reshape(-1, image.shape[1])
        return torch.mm(rows.t(), seen).view(rows.shape[1], seen.shape[1], 1, 1)
