"""One pass of a convolution in a PyTorch program: what a plan names for it, and how far that is from double precision.

It runs in the Python of the user, where traceview may be absent: it imports torch and the back-ends beside it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch

from .plan import BACKENDS

TENSORS = (torch.Tensor, torch.nn.Parameter)
"""Subclasses may hold anything."""


class PlanError(ValueError):
    """A plan that cannot be used, in a sentence."""


def prepare(choice: dict[str, Any], spec: Any, direction: str) -> Any:
    """A back-end's pass. Raises `PlanError` where it has none of that name, or a reason against it."""
    if choice["backend"] not in BACKENDS:
        raise PlanError("no such back-end")
    backend = import_module(f".backends.{choice['backend']}", __package__)
    for row in backend.implementations(spec, direction):
        if row.get("label", row["implementation"]) == choice["implementation"]:
            if row["reason"]:
                raise PlanError(row["reason"])
            return backend.prepare(row, spec, direction)
    raise PlanError(f"there is no implementation {choice['implementation'][:80]!r}")


def run(runner: Any, first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """One pass, as a tensor of its own."""
    if callable(runner):
        return runner(first, second, bias)  # type: ignore[no-any-return]
    one, other = runner.operands
    packed = runner.pack(one, dense(first)), runner.pack(other, dense(second))
    if getattr(runner, "takes_bias", False):
        return runner.unpack(runner.run(*packed, bias))  # type: ignore[no-any-return]
    out: torch.Tensor = runner.unpack(runner.run(*packed))
    return out if bias is None else out.add_(bias.view(-1, 1, 1))


def dense(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, without gaps and repetitions in memory."""
    lies_well = tensor.is_contiguous() or tensor.is_contiguous(memory_format=torch.channels_last)
    return tensor if lies_well else tensor.contiguous()


def is_float(tensor: torch.Tensor) -> bool:
    """Whether the tensor is what its memory says: fp32 numbers of the CPU, no lazy negation or zeros without memory."""
    return (
        type(tensor) in TENSORS
        and tensor.dtype is torch.float32
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and not tensor.is_neg()
        and not tensor._is_zerotensor()
    )


def is_plain() -> bool:
    """Whether tensors are computed here and now: not traced, compiled, transformed or cast on the way."""
    return not (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch.is_autocast_enabled("cpu")
        or torch.is_inference_mode_enabled()
        or torch.autograd.forward_ad._current_level >= 0
        or torch._C._functorch.maybe_current_level() is not None
        or torch._C._len_torch_dispatch_stack() > 0
    )


class Exact:
    """A pass in double precision on given tensors, and how far results are from it.

    Double precision is slow: it computes the first and the last image, and for gradients of filters the others are 0.
    """

    def __init__(self, layer: Any, direction: str, operands: tuple[torch.Tensor, ...]) -> None:
        self.direction = direction
        self.chosen = sorted({0, layer.input[0] - 1})
        first, second = (operand.detach() for operand in operands)
        shapes = {"dgrad": layer.input, "wgrad": layer.filter}
        like = torch.empty(shapes[direction]) if direction in shapes else None
        if direction == "wgrad":
            only = torch.zeros_like(second)
            only[self.chosen] = second[self.chosen]
            second = only
        self.operands = first, second
        with torch.no_grad():
            part = like[self.chosen] if like is not None and direction == "dgrad" else like
            other = second[self.chosen] if direction == "wgrad" else second
            self.result = layer.default(direction, first[self.chosen].double(), other.double(), None, _double(part))
            self.largest = float(self.result.abs().max()) or 1.0
            self.own_error = self._off(layer.default(direction, first, second, None, like))

    def error_of(self, runner: Any) -> float:
        """The largest error of a back-end over the largest value."""
        with torch.no_grad():
            return self._off(run(runner, *self.operands))

    def _off(self, result: torch.Tensor) -> float:
        part = result if self.direction == "wgrad" else result[self.chosen]
        return float((part.double() - self.result).abs().max()) / self.largest


def _double(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.double()
