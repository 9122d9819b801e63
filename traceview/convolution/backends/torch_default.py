"""PyTorch's default choice: the operators of `torch.nn.Conv2d`, on plain and on channels-last tensors."""

from __future__ import annotations

from typing import Any

import torch

from ..passes import own, steps_of
from . import runners
from .runners import FORMATS, OPERANDS, RESULT, offered, shapes
from .runners import version as version

NAME = "torch"
DEVICES = ("cpu", "cuda")


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """The default in both layouts; which kernel that is, PyTorch decides when it runs."""
    names = {"nchw": "default", "nhwc": "default channels_last"}
    return [offered(name, None, layout) for layout, name in names.items()]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The pass in one of the layouts."""
    return Runner(layer, direction, FORMATS[implementation["layout_in"]])


class Runner(runners.Runner):
    """One pass through `aten::convolution` or `aten::convolution_backward` with a mask."""

    def __init__(self, layer: Any, direction: str, memory_format: torch.memory_format) -> None:
        self.operands, self.direction, self.memory_format = OPERANDS[direction], direction, memory_format
        self.steps, self.blank = steps_of(layer), None
        if direction != "fprop":
            # Of what the gradient does not depend on, the operator reads the shape and the layout only: with the
            # strides that `pack` gives, which differ from those of an empty tensor where a size is 1.
            facts = {"dtype": getattr(torch, layer.dtype), "device": layer.device}
            self.blank = torch.empty(shapes(layer)[RESULT[direction]], **facts).contiguous(memory_format=memory_format)

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in this layout."""
        return tensor.contiguous(memory_format=self.memory_format)

    def run(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The pass."""
        return own(self.direction, first, second, self.steps, like=self.blank)
