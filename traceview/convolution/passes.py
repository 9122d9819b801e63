"""One pass of a convolution in a PyTorch program: what a plan names for it, and whether its tensors allow it.

It runs in the Python of the user, where traceview may be absent: it imports torch and the back-ends beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from typing import Any

import torch

from .plan import BACKENDS, PlanError

TENSORS = (torch.Tensor, torch.nn.Parameter)
"""Subclasses may hold anything."""

UNTOLD = (AttributeError, TypeError)
"""Errors of a PyTorch without one of the names that `is_float` and `is_plain` ask: most are its own, and may change."""

RECORD = getattr(getattr(torch._C, "_profiler", None), "_RecordFunctionFast", None)
FORWARD, BACKWARD = "traceview::convolution", "traceview::convolution_backward"
"""Operators that a profiler sees. They have the arguments of aten::convolution and aten::convolution_backward."""
MOST_NAME = 80


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


def is_float(tensor: Any) -> bool:
    """Whether a tensor is what its memory says: fp32 numbers of the CPU, and neither a lazy negation nor zeros without
    memory, nor one whose memory was freed (as FSDP does), nor what a transform or another mode of PyTorch wrapped or
    left behind."""
    is_plain_float = type(tensor) in TENSORS and tensor.dtype is torch.float32 and _kind(tensor) == PLAIN
    return is_plain_float and tensor.data_ptr() != 0


def _kind(tensor: torch.Tensor) -> Any:
    """All that PyTorch's dispatcher knows of a tensor, as a number."""
    return torch._C._dispatch_keys(tensor).raw_repr()


def _plain() -> Any:
    try:
        with torch.inference_mode(False):
            return _kind(torch.empty(0, dtype=torch.float32, device="cpu"))
    except UNTOLD:
        return None


PLAIN = _plain()
"""Kind of tensors that are nothing but numbers in the memory of the CPU."""


def is_plain() -> bool:
    """Whether tensors are computed here and now: not traced, compiled, transformed or cast on the way, and new ones are
    fp32 on the CPU unless it is said."""
    return not (
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state() is not None
        or torch.is_autocast_enabled("cpu")
        or torch.is_inference_mode_enabled()
        or torch.autograd.forward_ad._current_level >= 0
        or torch._C._functorch.maybe_current_level() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._len_torch_function_stack() > 0
        or torch.get_default_dtype() is not torch.float32
        or torch._C._get_default_device() != "cpu"
    )


def steps_of(layer: Any) -> tuple[Any, ...]:
    """Stride, padding, dilation, transposed, padding of the output, groups: as aten::convolution takes them."""
    pairs = [[getattr(layer, f"{name}_h"), getattr(layer, f"{name}_w")] for name in ("stride", "pad", "dilation")]
    return (*pairs, False, [0, 0], layer.groups)


def own(
    direction: str, first: torch.Tensor, second: torch.Tensor, steps: Sequence[Any], bias: Any = None, like: Any = None
) -> torch.Tensor:
    """Run PyTorch's own operator; of gradients `like` has the shape and the layout of the result."""
    if direction == "fprop":
        return torch.ops.aten.convolution(first, second, bias, *steps)  # type: ignore[no-any-return]
    results = torch.ops.aten.convolution_backward(*_backward(direction, first, second, steps, like))
    return results[0 if direction == "dgrad" else 1]  # type: ignore[no-any-return]


def _backward(direction: str, first: Any, second: Any, steps: Sequence[Any], like: Any) -> list[Any]:
    dy, x, w = (first, like, second) if direction == "dgrad" else (second, first, like)
    return [dy, x, w, None, *steps, [direction == "dgrad", direction == "wgrad", False]]


def filter_of(shape: dict[str, Any]) -> tuple[int, ...]:
    """The shape of a layer's filter."""
    per_group = shape["in_channels"] // shape["groups"]
    return (shape["out_channels"], per_group, shape["filter_height"], shape["filter_width"])


def output_of(shape: dict[str, Any]) -> tuple[int, ...]:
    """The shape of a layer's output; a size below 1 where the filter is larger than the image."""
    sizes = []
    for size, way in (("height", "h"), ("width", "w")):
        reach = shape[f"dilation_{way}"] * (shape[f"filter_{size}"] - 1) + 1
        sizes.append((shape[size] + 2 * shape[f"pad_{way}"] - reach) // shape[f"stride_{way}"] + 1)
    return (shape["batch"], shape["out_channels"], *sizes)


def has_filter(module: Any) -> bool:
    """Whether a module is a convolution whose filter is there: that of a lazy one comes with its first call."""
    return isinstance(module, torch.nn.Conv2d) and type(getattr(module, "weight", None)) in TENSORS


def settings_of(module: Any) -> tuple[Any, ...]:
    """Return the settings of a convolution besides its tensors."""
    return (module.stride, module.padding, module.dilation, module.groups, module.padding_mode)


def recorded(
    choice: dict[str, Any] | None, direction: str, operands: tuple[Any, Any], bias: Any, like: Any, steps: Sequence[Any]
) -> ExitStack:
    """A context that a profiler records as two operators, one within the other: an operator with its shapes, and the
    algorithm. Where PyTorch cannot record such an operator (before 2.1), nothing is recorded.

    `choice`: what the plan names. `like`: a tensor of the shape of the result, of gradients. `steps`: stride, padding,
    dilation, transposed, padding of the output, groups.
    """
    stack = ExitStack()
    if RECORD is None:
        return stack
    if direction == "fprop":
        stack.enter_context(RECORD(FORWARD, [*operands, bias, *steps]))
    else:
        stack.enter_context(RECORD(BACKWARD, _backward(direction, *operands, steps, like)))
    if choice:
        # Without parentheses, which would make it look like a function of C++.
        name = re.sub(r"[()]", "", choice["implementation"])
        stack.enter_context(RECORD(f"traceview::{choice['backend']}_{direction} {name}"[:MOST_NAME], []))
    return stack
