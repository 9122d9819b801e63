"""PyTorch's default choice: the operators of `torch.nn.Conv2d`, on plain and on channels-last tensors."""

from __future__ import annotations

from typing import Any

import torch

from . import runners
from .runners import FORMATS, OPERANDS, RESULT, shapes
from .runners import version as version

NAME = "torch"
DEVICES = ("cpu", "cuda")


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """The default in both layouts; which kernel that is, PyTorch decides when it runs."""
    return [
        {
            "implementation": "default" if layout == "nchw" else "default channels_last",
            "algorithm": None,
            "layout_in": layout,
            "layout_out": layout,
            "reason": None,
        }
        for layout in FORMATS
    ]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The pass in one of the layouts."""
    return Runner(layer, direction, FORMATS[implementation["layout_in"]])


class Runner(runners.Runner):
    """One pass through `aten::convolution` or `aten::convolution_backward` with a mask."""

    def __init__(self, layer: Any, direction: str, memory_format: torch.memory_format) -> None:
        self.operands = OPERANDS[direction]
        self.direction = direction
        self.memory_format = memory_format
        steps = [[layer.stride_h, layer.stride_w], [layer.pad_h, layer.pad_w], [layer.dilation_h, layer.dilation_w]]
        self.forward = (None, *steps, False, [0, 0], layer.groups)
        self.backward = (None, *steps, False, [0, 0], layer.groups, [direction == "dgrad", direction == "wgrad", False])
        # Of what the gradient does not depend on, the operator reads the shape and the layout only.
        self.blank = None
        if direction != "fprop":
            empty = torch.empty(
                shapes(layer)[RESULT[direction]], dtype=getattr(torch, layer.dtype), device=layer.device
            )
            self.blank = empty.contiguous(memory_format=memory_format)

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in this layout."""
        return tensor.contiguous(memory_format=self.memory_format)

    def run(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The pass."""
        aten = torch.ops.aten
        if self.direction == "fprop":
            out: torch.Tensor = aten.convolution(first, second, *self.forward)
        elif self.direction == "dgrad":
            out = aten.convolution_backward(first, self.blank, second, *self.backward)[0]
        else:
            out = aten.convolution_backward(second, first, self.blank, *self.backward)[1]
        return out
