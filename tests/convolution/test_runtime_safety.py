"""A plan under attack: odd sizes and tensors, threads, forks and modes give PyTorch's numbers or run PyTorch's own."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from plans import calls, entry, model, needs_kernels, one_thread, plan_of, step  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from traceview.convolution import (  # noqa: E402
    passes,
    runtime,
)
from traceview.convolution.backends import winograd  # noqa: E402

__all__ = ["one_thread"]
pytestmark = needs_kernels


def planned(conv: Any, x: torch.Tensor, tiles: int = 4, threads: int = 1) -> list[runtime.Planned]:
    """A convolution alone, under a plan of Winograd in all passes."""
    size = -(-conv.kernel_size[0] // conv.stride[0])
    layer = entry("", conv, x, f"F({tiles}x{tiles},{size}x{size}) by 64")
    return runtime.apply(conv, {"traceview_plan": 1, "numerics": "close", "threads": threads, "layers": [layer]})


def agree(one: list[Any], other: list[Any]) -> bool:
    """Whether results are the same but for rounding."""
    return all(
        torch.allclose(a, b, atol=2e-5 * float(a.abs().max()), rtol=1e-3) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize(
    ("channels", "filters", "size", "batch"),
    [(1, 1, 1, 1), (7, 13, 1, 2), (17, 31, 5, 3), (16, 8, 2, 1), (3, 257, 7, 2), (131, 1, 3, 1)],
)
def test_sizes_at_the_edges(channels: int, filters: int, size: int, batch: int) -> None:
    conv, x = torch.nn.Conv2d(channels, filters, 3, padding=1), torch.randn(batch, channels, size, size)
    before = step(conv, x)
    (layer,) = planned(conv, x)
    assert agree(before, step(conv, x)) and all(layer.passes[way] for way in runtime.DIRECTIONS)


def test_an_empty_batch_runs_as_before() -> None:
    conv, x = torch.nn.Conv2d(4, 8, 3), torch.randn(2, 4, 9, 9)
    seen = calls(planned(conv, x))
    assert conv(x[:0]).shape == (0, 8, 7, 7) and not seen


@pytest.mark.parametrize("sizes", [(8192, 8192, 4), (1 << 16, 1, 1 << 14)])
def test_sizes_beyond_32_bits_are_refused_before_anything_runs(sizes: tuple[int, int, int]) -> None:
    channels, filters, side = sizes
    conv = torch.nn.Conv2d(1, 1, 3, padding=1)
    shape = entry("", conv, torch.empty(1, 1, 4, 4), None)["shape"]
    shape |= {"in_channels": channels, "out_channels": filters, "height": side, "width": side}
    layer = runtime.Planned({"module": "m", "shape": shape, "layout": "nhwc"}, {"numerics": "close", "threads": 1}, str)
    rows = winograd.implementations(layer.spec, "fprop")
    whole = [row["reason"] or "" for row in rows if row["parts"] == 1]
    assert len(whole) == 15 and all("offsets have 32 bits" in reason for reason in whole)


@pytest.mark.parametrize(
    "name",
    [
        "_C._dispatch_keys",
        "_C._functorch.maybe_current_level",
        "_C._len_torch_dispatch_stack",
        "_C._len_torch_function_stack",
        "_C._get_default_device",
        "autograd.forward_ad._current_level",
    ],
)
def test_without_a_private_name_of_pytorch_everything_is_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    conv, x = torch.nn.Conv2d(4, 8, 3, padding=1), torch.randn(2, 4, 9, 9)
    before = conv(x)
    (layer,) = planned(conv, x)
    seen = calls([layer])
    where, _, last = name.rpartition(".")
    with monkeypatch.context() as patched:
        patched.delattr(attrgetter(where)(torch), last)
        patched.setattr(runtime, "elsewhere", Counter())
        assert (passes._plain() is None) == (last == "_dispatch_keys")
        after = conv(x)
        told = dict(runtime.elsewhere)
    assert torch.equal(before, after) and not seen
    assert told == {"a PyTorch that does not tell its modes or kinds of tensors": 1}
    conv(x)
    assert seen


def test_autocast_that_is_asked_without_a_device_runs_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    conv, x = torch.nn.Conv2d(4, 8, 3, padding=1), torch.randn(2, 4, 9, 9)
    (layer,) = planned(conv, x)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda: False)
    assert "does not tell" in str(layer.why_not(x, conv.weight, conv.bias))


def odd(kind: str, x: torch.Tensor) -> torch.Tensor:
    """Return the same numbers in another layout in memory."""
    if kind == "misaligned":
        return torch.cat([torch.zeros(1), x.flatten()])[1:].view_as(x)
    if kind == "strided":
        return torch.stack([x, x], -1)[..., 0]
    if kind == "transposed":
        return x.transpose(2, 3).contiguous().transpose(2, 3)
    if kind == "expanded":
        return x[:1, :, :1, :1].expand_as(x)
    if kind == "negated":
        return torch._neg_view(x)
    return x.contiguous(memory_format=torch.channels_last)


BACKENDS = (("winograd", "F(4x4,3x3) by 64"), ("nnpack", "ft8x8"), ("torch_gemm", "im2col + GEMM"))


@pytest.mark.parametrize("kind", ["misaligned", "strided", "transposed", "expanded", "negated", "channels last"])
@pytest.mark.parametrize(("backend", "implementation"), BACKENDS)
def test_tensors_that_lie_in_memory_in_other_ways(kind: str, backend: str, implementation: str) -> None:
    conv, x = torch.nn.Conv2d(5, 9, 3, padding=1), torch.randn(2, 5, 10, 11)
    dy = odd(kind, torch.randn(2, 9, 10, 11))
    plain = step(conv, x)
    layer = entry("", conv, x, None)
    for way in ("fprop", "dgrad", "wgrad") if backend != "nnpack" else ("fprop", "dgrad"):
        layer[way] = {"backend": backend, "implementation": implementation}
    runtime.apply(conv, {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": [layer]})
    assert agree(plain, step(conv, x)), "what is checked first lies as usual"

    def gradients() -> list[Any]:
        given = odd(kind, x).detach().requires_grad_()
        y = conv(given)
        return [y.detach(), *torch.autograd.grad(y, (given, conv.weight, conv.bias), dy)]

    under = gradients()
    runtime.remove(conv)
    assert agree(gradients(), under)


def test_gradients_of_the_bias_alone() -> None:
    conv, x = torch.nn.Conv2d(5, 9, 3), torch.randn(2, 5, 10, 11)
    conv.weight.requires_grad_(False)
    planned(conv, x)
    conv(x).square().sum().backward()
    wanted = 2 * torch.nn.functional.conv2d(x, conv.weight, conv.bias).sum((0, 2, 3))
    assert torch.allclose(conv.bias.grad, wanted.detach(), rtol=1e-3, atol=1e-3) and conv.weight.grad is None


def test_gradients_of_gradients_of_the_filter() -> None:
    conv, x = torch.nn.Conv2d(3, 4, 3), torch.randn(2, 3, 9, 9)

    def penalty() -> torch.Tensor:
        (first,) = torch.autograd.grad(conv(x).square().sum(), conv.weight, create_graph=True)
        (found,) = torch.autograd.grad(first.square().sum(), conv.weight)
        return found

    wanted = penalty()
    planned(conv, x)
    assert torch.allclose(wanted, penalty(), rtol=1e-3, atol=1e-4 * float(wanted.abs().max()))


@pytest.mark.parametrize(("threads", "side"), [(1, 24), (2, 24), (2, 8)])
@pytest.mark.parametrize(("backend", "implementation"), BACKENDS)
def test_several_python_threads_at_once(threads: int, side: int, backend: str, implementation: str) -> None:
    torch.set_num_threads(threads)
    conv = torch.nn.Conv2d(16, 32, 3, padding=1)
    inputs = [torch.randn(4, 16, side, side) for _ in range(4)]
    layer = entry("", conv, inputs[0], None)
    layer["fprop"] = {"backend": backend, "implementation": implementation}
    with torch.no_grad():
        wanted = [conv(x) for x in inputs]
        (made,) = runtime.apply(conv, {"traceview_plan": 1, "numerics": "close", "threads": threads, "layers": [layer]})
        conv(inputs[0])
        assert made.passes["fprop"] is not None

        def run(number: int) -> bool:
            torch.set_num_threads(threads)
            with torch.no_grad():
                return agree([wanted[number % 4]], [conv(inputs[number % 4])])

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(run, range(40)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["winograd", "nnpack"])
def test_a_forked_child_computes_too(backend: str) -> None:
    torch.set_num_threads(2)
    conv, x = torch.nn.Conv2d(16, 32, 3, padding=1), torch.randn(4, 16, 12, 12)
    layer = runtime.Planned(entry("", conv, x, None), {"numerics": "close", "threads": 2}, str)
    choice = {"backend": backend, "implementation": dict(BACKENDS[:2])[backend]}
    with torch.no_grad():
        runner = runtime.prepare(choice, layer.spec, "fprop")
        wanted = passes.run(runner, x, conv.weight)
        child = os.fork()
        if not child:
            os._exit(0 if torch.equal(passes.run(runner, x, conv.weight), wanted) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_deterministic_runs_give_the_same_bits() -> None:
    net, x = model(), torch.randn(3, 3, 15, 13)
    runtime.apply(net, plan_of(net, x))
    step(net, x)
    torch.use_deterministic_algorithms(True)
    try:
        assert all(torch.equal(one, other) for one, other in zip(step(net, x), step(net, x), strict=True))
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["compiled", "counted", "subclass", "mkldnn", "zeros"])
def test_modes_and_other_kinds_of_tensors_run_as_before(case: str) -> None:
    class Named(torch.Tensor):
        pass

    net, x = model(), torch.randn(3, 3, 15, 13)
    seen = calls(runtime.apply(net, plan_of(net, x)))
    with torch.no_grad():
        if case == "compiled":
            torch.compile(net, backend="eager")(x)
        elif case == "counted":
            with FlopCounterMode(display=False) as counter:
                net(x)
            assert counter.get_total_flops() > 0
        elif case == "subclass":
            net(x.as_subclass(Named))
        elif case == "mkldnn":
            net[0](x.to_mkldnn())
        else:
            net(torch._efficientzerotensor(x.shape))
    assert not [one for one in seen if one[0] == "0"]


def test_what_fails_later_goes_on_as_before() -> None:
    conv, x = torch.nn.Conv2d(3, 4, 3), torch.randn(2, 3, 9, 9)
    (layer,) = planned(conv, x)
    said: list[str] = []
    layer.say = said.append
    wanted = conv(x).detach()

    def broken(*rest: Any) -> None:
        raise RuntimeError("out of registers")

    layer.passes["fprop"] = broken
    assert all(agree([wanted], [conv(x)]) for _ in range(2))
    assert said == [": fprop goes on as it was, winograd failed (out of registers)"]
