"""Winograd: every pass agrees with autograd in double precision, for odd sizes, paddings, strides and channels."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cases import first

torch = pytest.importorskip("torch")

from plans import needs_kernels  # noqa: E402

from traceview.convolution.backends import winograd  # noqa: E402
from traceview.convolution.winograd import (  # noqa: E402
    fused,
    matrices,
)
from traceview.convolution.winograd.fused import Kernels  # noqa: E402
from traceview.convolution.winograd.machine_code import NEEDED, instruction_set  # noqa: E402
from traceview.experiments.algorithms.layers import Layer, parse  # noqa: E402

LAYERS = (
    "2x5x9x7 k9 3x3 p1",
    "2x16x13x11 k32 5x5 p2",
    "3x24x8x8 k40 3x3",
    "1x3x17x15 k16 7x7 s2 p3",
    "2x3x31x31 k20 11x11 s4 p2",
    "2x16x15x14 k48 3x3 s2 p1",
    "1x16x6x6 k16 2x2 p1",
)


class Spec:
    """A layer with its batch and device, as back-ends take it."""

    def __init__(self, layer: Layer, batch: int) -> None:
        self.__dict__.update(layer.facts(), batch=batch, device="cpu")


def tensors(spec: Spec) -> tuple[torch.Tensor, ...]:
    """Input, filter and bias."""
    torch.manual_seed(0)
    w = torch.randn(spec.out_channels, spec.in_channels, spec.filter_height, spec.filter_width)
    return torch.randn(spec.batch, spec.in_channels, spec.height, spec.width), w, torch.randn(spec.out_channels)


def exact(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, spec: Spec) -> tuple[torch.Tensor, ...]:
    """Gradient of the output, output, and gradients of input and filter, in double precision."""
    x, w = x.double().requires_grad_(), w.double().requires_grad_()
    y = torch.nn.functional.conv2d(x, w, b.double(), spec.stride_h, spec.pad_h)
    g = torch.randn(y.shape)
    y.backward(g.double())
    return g, y, x.grad, w.grad


def apart(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference over the largest value."""
    return float((got - wanted.detach()).abs().max() / wanted.detach().abs().max())


@needs_kernels
@pytest.mark.parametrize("isa", list(NEEDED))
@pytest.mark.parametrize("text", first(3, LAYERS))
def test_every_pass_agrees_with_double_precision(text: str, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if isa == "avx512" and instruction_set() != "avx512":
        pytest.skip("no AVX-512 here")
    made = Kernels(isa)
    monkeypatch.setattr(fused, "kernels", lambda: made)
    monkeypatch.setattr(winograd, "kernels", lambda: made)
    layer, batch = parse(text)
    spec = Spec(layer, batch)
    x, w, b = tensors(spec)
    g, y, dx, dw = exact(x, w, b, spec)
    rows = winograd.implementations(spec, "fprop")
    assert {row["m"] for row in rows} >= {2, 3, 4} and not any(row["reason"] for row in rows)
    for row in rows:
        found = [
            winograd.prepare(row, spec, "fprop")(x, w, b),
            winograd.prepare(row, spec, "dgrad").run(g, w),
            winograd.prepare(row, spec, "wgrad").run(x, g),
        ]
        for got, wanted in zip(found, (y, dx, dw), strict=True):
            assert got.shape == wanted.shape
            assert apart(got, wanted) < 3e-5, row["implementation"]


@needs_kernels
def test_small_tiles_are_as_exact_as_the_default() -> None:
    layer, batch = parse("2x64x14x14 k64 3x3 p1")
    spec = Spec(layer, batch)
    x, w, b = tensors(spec)
    _, y, *_ = exact(x, w, b, spec)
    default = torch.nn.functional.conv2d(x, w, b, padding=1)
    errors = [float((got - y.detach()).abs().max()) for got in (default, winograd.Pass(spec, "fprop", 2, 64)(x, w, b))]
    assert errors[1] < 4 * errors[0]


@needs_kernels
def test_the_workspace_is_what_was_said_and_is_shared() -> None:
    layer, batch = parse("2x16x20x20 k24 3x3 p1")
    spec = Spec(layer, batch)
    x, w, b = tensors(spec)
    winograd.workspace().buffer = torch.zeros(0)
    one = winograd.Pass(spec, "fprop", 4, 64)
    one(x, w, b)
    used = 4 * winograd.workspace().buffer.numel()
    assert one.workspace_bytes <= used <= one.workspace_bytes + 6 * 64
    winograd.Pass(spec, "fprop", 2, 64)(x, w, b)
    assert 4 * winograd.workspace().buffer.numel() == used, "a smaller one takes what is there"


@needs_kernels
def test_what_it_cannot_do_has_a_reason() -> None:
    spec = Spec(parse("1x8x9x9 k8 3x3 d2")[0], 1)
    assert winograd.implementations(spec, "fprop")[0]["reason"] == "the filter is dilated"
    spec = Spec(replace(parse("1x8x9x9 k8 3x3")[0], dtype="float64"), 1)
    assert winograd.reason(spec) == "float64, not float32"
    assert "groups" in str(winograd.reason(Spec(parse("1x8x9x9 k8 3x3 g2")[0], 1)))
    assert "1 x 1" in str(winograd.reason(Spec(parse("1x8x9x9 k8 1x1")[0], 1)))


def test_the_matrices_are_those_of_the_paper() -> None:
    a, g, b = matrices.matrices(2, 3)
    # One-dimensional F(2, 3): a filter of 3 over 4 inputs, checked on integers without rounding.
    inputs, weights = [3, -1, 4, 2], [2, 5, -3]
    transformed = [sum(f * v for f, v in zip(row, inputs, strict=True)) for row in b]
    filtered = [sum(f * v for f, v in zip(row, weights, strict=True)) for row in g]
    products = [u * v for u, v in zip(transformed, filtered, strict=True)]
    outputs = [sum(f * v for f, v in zip(row, products, strict=True)) for row in a]
    assert outputs == [3 * 2 - 1 * 5 + 4 * -3, -1 * 2 + 4 * 5 + 2 * -3]
    assert len(products) == 4, "instead of 6 multiplications"


def test_without_the_instructions_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Kernels:
        raise OSError("no processor with AVX2 under Linux")

    monkeypatch.setattr(winograd, "kernels", absent)
    assert winograd.reason(Spec(parse("1x8x9x9 k8 3x3")[0], 1)) == "no processor with AVX2 under Linux"


@needs_kernels
@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("5x16x13x11 k24 5x5 p2", (winograd.Shares, winograd.Shares, winograd.Shares)),
        ("3x3x31x31 k20 11x11 s4 p2", (winograd.Pass, winograd.Pass, winograd.Pass)),
        ("1x80x7x9 k72 3x3 p1", (winograd.Pass, winograd.Pass, winograd.Pass)),
    ],
)
def test_images_or_parts_of_the_filter_are_shared_out_among_threads(
    text: str, kinds: tuple[type, ...], parts: int
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        layer, batch = parse(text)
        spec = Spec(layer, batch)
        x, w, b = tensors(spec)
        g, y, dx, dw = exact(x, w, b, spec)
        row = next(it for it in winograd.implementations(spec, "fprop") if it["m"] == 4 and it["parts"] == parts)
        made = [winograd.prepare(row, spec, name) for name in ("fprop", "dgrad", "wgrad")]
        assert tuple(map(type, made)) == kinds
        found = [made[0](x, w, b), made[1](g, w), made[2](x, g)]
        for got, wanted in zip(found, (y, dx, dw), strict=True):
            assert got.shape == wanted.shape and apart(got, wanted) < 3e-5
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
