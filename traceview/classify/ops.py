"""Operator names -> category, by the rules of `ops.toml`; knows how each framework spells an operator.

The one law: what is matched is the operator's own name, never the scopes around it.
"""

from __future__ import annotations

import re

WRAPPERS = re.compile(r"^(?:autograd::engine::evaluate_function: |\[[A-Za-z ]+\] ?)+")
SUFFIX = re.compile(r"_\d+$")


def leaf(op: str) -> str:
    """The operator's own name, without namespaces, autograd prefixes, TensorFlow scopes, callers and trailing numbers.

    >>> leaf("gradient_tape/model/conv1/Conv2D/Conv2DBackpropFilter")
    'Conv2DBackpropFilter'
    >>> leaf("tower/conv1/convolution:Conv2D")
    'Conv2D'
    >>> leaf("aten::copy_ < aten::clone")
    'copy_'
    """
    name = WRAPPERS.sub("", op.split(" < ")[0].strip())
    if name.startswith(("Optimizer.", "nccl:")):
        return name
    if "::" in name:
        return name.rsplit("::", 1)[1] if not name.startswith(("nccl", "c10d")) else name
    if ":" in name and "/" in name:
        scope, kind = name.rsplit(":", 1)
        name = kind if kind and not kind.isdigit() else scope
    return SUFFIX.sub("", name.rsplit("/", 1)[-1])
