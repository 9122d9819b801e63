"""Operands that no layer should get: a plan leaves them to PyTorch, which raises, or gives the same result."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from forked import endings, run_each  # noqa: E402
from plans import entry, needs_kernels, one_thread  # noqa: E402

from traceview.convolution import runtime  # noqa: E402
from traceview.convolution.plan import MODULE, SHAPE  # noqa: E402

__all__ = ["one_thread"]
BACKENDS = ("winograd", "nnpack", "torch_gemm", "winograd_torch", "onednn")
CHANNELS, FILTERS, SIDE, BATCH = 16, 32, 9, 2
Change = Callable[[torch.Tensor], Any]


class Named(torch.Tensor):
    pass


def leaked(tensor: torch.Tensor) -> Any:
    """Return a tensor that a transform wrapped, after its end."""
    found: list[torch.Tensor] = []
    torch.vmap(lambda it: found.append(it) or it)(torch.stack([tensor, tensor]))
    return found[0]


def unstored(tensor: torch.Tensor) -> Any:
    return torch.nn.parameter.UninitializedParameter()


def longer(tensor: torch.Tensor) -> torch.Tensor:
    return torch.cat([tensor, tensor])


def freed(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose memory was given back, as FSDP does between passes."""
    part = tensor.detach().clone()
    part.untyped_storage().resize_(0)
    return part


CHANGES: dict[str, Change] = {
    "freed": freed,
    "none": lambda it: None,
    "a number": lambda it: 1.0,
    "a list": lambda it: it.tolist(),
    "numpy": lambda it: it.detach().numpy(),
    "shorter": lambda it: it[:1],
    "longer": longer,
    "empty": lambda it: it[:0],
    "one number": lambda it: it.flatten()[0],
    "flat": lambda it: it.flatten(),
    "a dimension more": lambda it: it[None],
    "a dimension behind": lambda it: it[..., None],
    "a dimension less": lambda it: it[0],
    "last cut": lambda it: it[..., 1:],
    "double": lambda it: it.double(),
    "half": lambda it: it.half(),
    "bfloat16": lambda it: it.bfloat16(),
    "integers": lambda it: it.int(),
    "booleans": lambda it: it > 0,
    "complex": lambda it: it.to(torch.complex64),
    "meta": lambda it: it.to("meta"),
    "sparse": lambda it: it.to_sparse(),
    "mkldnn": lambda it: it.detach().to_mkldnn(),
    "quantised": lambda it: torch.quantize_per_tensor(it.detach(), 0.1, 0, torch.quint8),
    "nested": lambda it: torch.nested.nested_tensor(list(it.detach())),
    "negated": torch._neg_view,
    "zeros without memory": lambda it: torch._efficientzerotensor(it.shape),
    "imaginary part": lambda it: torch.complex(it, -it).conj().imag,
    "subclass": lambda it: it.detach().as_subclass(Named),
    "functional": lambda it: torch._to_functional_tensor(it.detach()),
    "leaked": lambda it: leaked(it.detach()),
    "uninitialised": unstored,
    "expanded": lambda it: it.flatten()[:1].expand(it.shape),
    "every second": lambda it: torch.stack([it, it], -1)[..., 0],
    "misaligned": lambda it: torch.cat([torch.zeros(1), it.flatten()])[1:].view_as(it),
    "turned": lambda it: it.transpose(0, -1).contiguous().transpose(0, -1),
    "channels last": lambda it: it.contiguous(memory_format=torch.channels_last) if it.dim() == 4 else it,
}


def outcome(conv: Any, case: str, x: torch.Tensor, dy: torch.Tensor) -> Any:
    """Return the results of a call and its gradients, or the type of the error they raise."""
    x = x.clone().requires_grad_()
    try:
        with warnings.catch_warnings(), ExitStack() as stack:
            warnings.simplefilter("ignore")
            y = called(conv, case, x, stack)
            results = [y]
            if case.startswith("grad_output "):
                change = CHANGES[case.partition(" ")[2]]
                y.grad_fn.register_prehook(lambda given: (change(given[0]),))
            if y.requires_grad:
                results += torch.autograd.grad(y, (x, *conv.parameters()), dy, allow_unused=True)
        return [it.detach() if isinstance(it, torch.Tensor) else it for it in results]
    except Exception as error:
        return type(error)


def called(conv: Any, case: str, x: torch.Tensor, stack: ExitStack) -> Any:
    """The module's result with something changed."""
    operand, _, name = case.partition(" ")
    if operand == "input":
        return conv(CHANGES[name](x))
    if operand in ("weight", "bias"):
        given = {"weight": conv.weight, "bias": conv.bias}
        given[operand] = CHANGES[name](given[operand])
        return conv._conv_forward(x, given["weight"], given["bias"])
    if operand == "data":
        conv.weight.data = longer(conv.weight.data)
        conv.bias.data = CHANGES[name](conv.bias.data)
    elif operand == "set":
        part, value = SETTINGS[name]
        setattr(conv, part, value)
    elif operand == "with":
        stack.enter_context(MODES[name]())
    elif operand == "default":
        torch.set_default_dtype(getattr(torch, name))
    return conv(x)


SETTINGS: dict[str, tuple[str, Any]] = {
    "groups": ("groups", 2),
    "no groups": ("groups", 0),
    "stride": ("stride", (2, 2)),
    "stride of 0": ("stride", (0, 0)),
    "stride of fractions": ("stride", (1.0, 1.0)),
    "padding": ("padding", (0, 0)),
    "negative padding": ("padding", (-1, -1)),
    "padding in words": ("padding", "valid"),
    "dilation": ("dilation", (2, 2)),
    "a number": ("dilation", 1),
    "reflection": ("padding_mode", "reflect"),
    "no bias": ("bias", None),
    "weight": ("weight", torch.nn.Parameter(torch.ones(FILTERS, CHANNELS, 5, 5))),
    "bias": ("bias", torch.nn.Parameter(torch.ones(1))),
}
MODES: dict[str, Callable[[], Any]] = {
    "meta": lambda: torch.device("meta"),
    "cpu": lambda: torch.device("cpu"),
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "fake": lambda: torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True),
    "forward gradients": torch.autograd.forward_ad.dual_level,
    "anomalies": torch.autograd.detect_anomaly,
}


def names() -> list[str]:
    """All cases."""
    changed = [f"{operand} {name}" for operand in ("input", "weight", "bias", "grad_output") for name in CHANGES]
    sizes = [f"data {name}" for name in ("shorter", "longer", "empty")]
    set_ = [f"set {name}" for name in SETTINGS]
    # PyTorch's own node loses a subclass in gradients that its operator keeps.
    changed.remove("grad_output subclass")
    return [*changed, *sizes, *set_, *(f"with {name}" for name in MODES), "default bfloat16", "default float64"]


def planned(backend: str) -> tuple[Any, Any, torch.Tensor, torch.Tensor]:
    """A convolution under a plan that has run, the same without one, an input and a gradient of the output."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    conv, x = torch.nn.Conv2d(CHANNELS, FILTERS, 3, padding=1), torch.randn(BATCH, CHANNELS, SIDE, SIDE)
    dy, plain = torch.randn(BATCH, FILTERS, SIDE, SIDE), copy.deepcopy(conv)
    layer = entry("", conv, x, None, "nchw" if backend in ("nnpack", "torch_gemm") else "nhwc")
    spec = runtime.Planned(layer, {"numerics": "close", "threads": 1}, str).spec
    for way in runtime.DIRECTIONS if backend != "nnpack" else ("fprop", "dgrad"):
        rows = import_module(f"traceview.convolution.backends.{backend}").implementations(spec, way)
        first = next(row for row in rows if not row["reason"])
        layer[way] = {"backend": backend, "implementation": first.get("label", first["implementation"])}
    said: list[str] = []
    plan = {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": [layer]}
    (made,) = runtime.apply(conv, plan, said.append)
    outcome(conv, "once", x, dy)
    assert not said and all(made.passes[way] for way in runtime.DIRECTIONS if layer[way]), said
    return conv, plain, x, dy


def differs(case: str, conv: Any, plain: Any, x: torch.Tensor, dy: torch.Tensor) -> str:
    """How a plan's outcome differs from PyTorch's own, in words; "" where it does not."""
    one, other = outcome(conv, case, x, dy), outcome(plain, case, x, dy)
    torch.set_default_dtype(torch.float32)
    if isinstance(one, type) or isinstance(other, type):
        return "" if one is other else f"{_short(one)} under the plan, {_short(other)} without"
    return next((f"result {place}: {told}" for place, pair in enumerate(zip(one, other, strict=True))
                 if (told := _difference(*pair))), "")  # fmt: skip


def _difference(one: Any, other: Any) -> str:
    if one is None or other is None:
        return "" if one is other else "missing"
    kinds = [(type(it), it.dtype, it.shape, it.layout, it.device) for it in (one, other)]
    if kinds[0] != kinds[1]:
        return f"{kinds[0]}, not {kinds[1]}"
    if one.device.type != "cpu" or type(one) is not torch.Tensor or one.layout is not torch.strided or not one.numel():
        return ""
    return "" if torch.allclose(one, other, rtol=1e-2, atol=1e-3 * float(other.abs().max())) else "another"


def _short(result: Any) -> str:
    return result.__name__ if isinstance(result, type) else "a result"


@needs_kernels
@pytest.mark.parametrize("case", ["bias shorter", "bias freed", "with meta", "set reflection"])
def test_a_bias_of_another_size_a_mode_and_reflection_end_as_without_a_plan(case: str) -> None:
    assert case in names() and not differs(case, *planned("winograd"))


@needs_kernels
@pytest.mark.long
@pytest.mark.parametrize("backend", BACKENDS)
def test_operands_that_no_layer_should_get_end_as_without_a_plan(backend: str) -> None:
    """With a bias of another size machine code read past its end."""
    found = endings(__file__, backend)
    assert len(found) == len(names()) and not {name: told for name, told in found.items() if told}


@needs_kernels
def test_a_lazy_convolution_and_one_that_is_smaller_than_its_filter_stay_as_they_are() -> None:
    conv, x = torch.nn.Conv2d(4, 8, 3), torch.randn(2, 4, 9, 9)
    layer = entry("0", conv, x, None)
    plan = {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": [layer]}
    for keys in (MODULE, SHAPE):
        lazy = torch.nn.Sequential(torch.nn.LazyConv2d(8, 3))
        assert runtime.apply(lazy, {**plan, "keys": keys}, str) == [] and lazy(x).shape == (2, 8, 7, 7)
    layer["shape"]["height"] = 2
    assert runtime.apply(torch.nn.Sequential(conv), plan, str) == []


if __name__ == "__main__":
    given = planned(sys.argv[1])
    run_each({name: partial(differs, name, *given) for name in names()})
