"""Runners of back-ends that do nothing around a pass, and the operands, layouts and shapes that all of them share."""

from __future__ import annotations

from typing import Any

import torch

from ..passes import filter_of, output_of

OPERANDS = {"fprop": ("input", "filter"), "dgrad": ("grad_output", "filter"), "wgrad": ("input", "grad_output")}
RESULT = {"fprop": "grad_output", "dgrad": "input", "wgrad": "filter"}
"""The tensor that the result has the shape of."""
LAST = torch.channels_last
FORMATS = {"nchw": torch.contiguous_format, "nhwc": LAST}


def version() -> str:
    """Return the version of PyTorch."""
    return str(torch.__version__)


def shapes(layer: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a layer, by name."""
    image = (layer.batch, layer.in_channels, layer.height, layer.width)
    return {"input": image, "filter": filter_of(vars(layer)), "grad_output": output_of(vars(layer))}


def offered(
    implementation: str, algorithm: str | None, layout: str, reason: str | None = None, **more: Any
) -> dict[str, Any]:
    """One implementation as a back-end lists it; `layout_out` is among `more` where it is another layout."""
    facts = {"implementation": implementation, "algorithm": algorithm, "layout_in": layout, "layout_out": layout}
    return {**facts, "reason": reason, **more}


class Runner:
    """A pass whose operands are taken in plain order, and whose result is what PyTorch has."""

    implementation: str | None = None
    workspace_bytes: Any = None

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in plain order."""
        return tensor.contiguous()

    def unpack(self, out: torch.Tensor) -> torch.Tensor:
        """The result as it is."""
        return out


class LastRunner(Runner):
    """A pass whose activations lie channels last; filters are taken in plain order."""

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Activations channels last; filters as they are."""
        return tensor.contiguous() if name == "filter" else tensor.contiguous(memory_format=LAST)
