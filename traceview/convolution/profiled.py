"""Records for a profiler of a pass that a back-end computes: an operator with its shapes, and the algorithm within it.

It runs in the Python of the user, where traceview may be absent: it imports torch. Where PyTorch cannot record such an
operator (before 2.1), nothing is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import torch

RECORD = getattr(getattr(torch._C, "_profiler", None), "_RecordFunctionFast", None)
FORWARD, BACKWARD = "traceview::convolution", "traceview::convolution_backward"
"""They have the arguments of aten::convolution and aten::convolution_backward."""
MOST_NAME = 80


def operators(
    choice: dict[str, Any] | None, direction: str, operands: tuple[Any, Any], bias: Any, like: Any, steps: Sequence[Any]
) -> ExitStack:
    """A context that is recorded as two operators, one within the other; free where no profiler is on.

    `choice`: what the plan names. `like`: a tensor of the shape of the result, of gradients. `steps`: stride, padding,
    dilation, transposed, padding of the output, groups.
    """
    stack = ExitStack()
    if RECORD is None:
        return stack
    first, second = operands
    if direction == "fprop":
        stack.enter_context(RECORD(FORWARD, [first, second, bias, *steps]))
    else:
        dy, x, w = (first, like, second) if direction == "dgrad" else (second, first, like)
        mask = [direction == "dgrad", direction == "wgrad", False]
        stack.enter_context(RECORD(BACKWARD, [dy, x, w, None, *steps, mask]))
    if choice:
        # Without parentheses, which would make it look like a function of C++.
        name = re.sub(r"[()]", "", choice["implementation"])
        stack.enter_context(RECORD(f"traceview::{choice['backend']}_{direction} {name}"[:MOST_NAME], []))
    return stack
