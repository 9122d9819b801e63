"""Operator names -> category, by the rules of `ops.toml`; knows how each framework spells an operator.

Invariant: what is matched is the operator's own name, never the scopes around it.
"""

from __future__ import annotations

import re

WRAPPERS = re.compile(r"^(?:autograd::engine::evaluate_function: |\[[A-Za-z ]+\] ?)+")
SUFFIX = re.compile(r"_\d+$")
TYPED = re.compile(r"^[^:]+:[A-Za-z_]\w*$")
"""TensorFlow's and ONNX Runtime's `name:Type`."""
FUNCTION = re.compile(r"^torch\.(?:nn\.functional\.|Tensor\.)?(?=\w+$)")
"""PyTorch's functions by their Python names, as PyProf writes them."""
VIEW = re.compile(
    r"^aten::(?:transpose|permute|t|adjoint|numpy_T|swap(?:axes|dims)|move(?:dim|axis)|view(?:_as)?|_unsafe_view|as_strided|alias"
    r"|expand(?:_as)?|(?:un)?squeeze|select|slice|narrow|unbind|split(?:_with_sizes)?|chunk|detach|unfold|diagonal)_?$"
    r"|^(?:Transpose|Permute|T|View|Swapdims|Movedim|Alias|Expand|Unsqueeze|Squeeze)Backward\d$"
)
"""PyTorch's operators that only describe a tensor anew."""
REWRITE = re.compile(r"^aten::copy_ < aten::clone < aten::(?:contiguous|reshape|_reshape_copy)(?: |$)")
"""PyTorch's copy of a tensor whose elements stand in another order: an ordered one is not copied there."""
BLOCKED = re.compile(r"_nchwc$")
"""ONNX Runtime's name for a node that it moved to its own blocked layout."""
JAX_FUNCTION = re.compile(r"/p?jit\((\w*(?:elu|softmax|sigmoid|silu|swish|softplus|dropout)\w*)\)/\w+$")
"""A function of JAX that says more than the primitive it is made of: `jit(step)/jvp(conv1)/jit(relu)/max`."""

KERAS_UPDATE = re.compile(
    r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)*(?:sgd|adam\w{0,2}|rmsprop|adagrad|adadelta|nadam|ftrl|lion|lamb|muon)(?:_\d+)?/[^:]*"
    r":\w+$"
)
"""Keras 3 writes the update of the weights as general arithmetic, in a scope named after its optimizer."""


def leaf(op: str) -> str:
    """The operator's own name, without namespaces, autograd prefixes, TensorFlow scopes, callers and trailing numbers.

    >>> leaf("gradient_tape/model/conv1/Conv2D/Conv2DBackpropFilter")
    'Conv2DBackpropFilter'
    >>> leaf("tower/conv1/convolution:Conv2D")
    'Conv2D'
    >>> leaf("relu1_nchwc:Conv")
    'Conv_nchwc'
    >>> leaf("aten::transpose < aten::linear")
    'aten::view'
    >>> leaf("aten::copy_ < aten::clone")
    'copy_'
    >>> leaf("aten::copy_ < aten::clone < aten::contiguous")
    'contiguous'
    >>> leaf("jit(step)/jvp(conv1)/jit(relu)/max")
    'relu'
    >>> leaf("jit(step)/transpose(jvp(conv2))/conv_general_dilated")
    'conv_general_dilated_grad'
    >>> leaf("StatefulPartitionedCall/sgd/Mul_7:Mul")
    'Optimizer.step'
    >>> leaf("torch.nn.functional.conv2d")
    'conv2d'
    """
    if REWRITE.match(op):
        return "contiguous"
    name = FUNCTION.sub("", WRAPPERS.sub("", op.split(" < ")[0].strip()))
    if name.startswith(("Optimizer.", "nccl:")):
        return name
    if VIEW.match(name):
        return "aten::view"
    if "::" in name:
        return name.rsplit("::", 1)[1] if not name.startswith(("nccl", "c10d")) else name
    function = JAX_FUNCTION.search(name)
    if function:
        return function.group(1)
    if KERAS_UPDATE.match(name):
        return "Optimizer.step"
    if TYPED.match(name) or (":" in name and "/" in name):
        scope, kind = name.rsplit(":", 1)
        name = kind if kind and not kind.isdigit() else scope
        if BLOCKED.search(scope):
            name += "_nchwc"
    own = SUFFIX.sub("", name.rsplit("/", 1)[-1])
    # JAX names a gradient after the forward operator and says so in the scope.
    return f"{own}_grad" if own.startswith("conv") and "transpose(" in name else own
