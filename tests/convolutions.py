"""Passes of small convolutions in double precision, and back-ends run against them."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from traceview.experiments.algorithms.layers import parse


def spec_of(text: str, batch: int = 3, device: str = "cpu") -> SimpleNamespace:
    """A layer as back-ends get it."""
    layer, _ = parse(text)
    return SimpleNamespace(**layer.facts(), batch=batch, device=device)


def tensors_of(spec: Any) -> dict[str, torch.Tensor]:
    """Input, filter, gradient of the output, and under `fprop`, `dgrad`, `wgrad` what autograd makes of them."""
    generator = torch.Generator().manual_seed(0)
    shape = (spec.out_channels, spec.in_channels // spec.groups, spec.filter_height, spec.filter_width)
    image = (spec.batch, spec.in_channels, spec.height, spec.width)
    x = torch.randn(image, dtype=torch.float64, generator=generator, requires_grad=True)
    w = torch.randn(shape, dtype=torch.float64, generator=generator, requires_grad=True)
    steps = (spec.stride_h, spec.stride_w), (spec.pad_h, spec.pad_w), (spec.dilation_h, spec.dilation_w)
    y = torch.nn.functional.conv2d(x, w, None, *steps, spec.groups)
    g = torch.randn(y.shape, dtype=torch.float64, generator=generator)
    y.backward(g)
    given = {"input": x.detach().float(), "filter": w.detach().float(), "grad_output": g.float()}
    assert x.grad is not None and w.grad is not None
    return {**given, "fprop": y.detach(), "dgrad": x.grad, "wgrad": w.grad}


def errors(backend: ModuleType, text: str, direction: str) -> dict[tuple[str, str, str], float]:
    """The largest error over the largest value of every implementation that can run, by name and layouts."""
    spec, found = spec_of(text), {}
    tensors = tensors_of(spec)
    for row in backend.implementations(spec, direction):
        if row["reason"] is None:
            runner = backend.prepare(row, spec, direction)
            packed = [runner.pack(name, tensors[name]) for name in runner.operands]
            runner.run(*packed)
            out = runner.unpack(runner.run(*packed))
            expected = tensors[direction]
            assert out.shape == expected.shape, row
            name = row["implementation"], row["layout_in"], row["layout_out"]
            assert name not in found, "each stands there once"
            found[name] = float((out.double() - expected).abs().max() / expected.abs().max())
    return found


def reasons(backend: ModuleType, text: str, direction: str, **given: Any) -> dict[str, str]:
    """Why implementations cannot run a layer, by name."""
    spec = spec_of(text)
    spec.__dict__.update(given)
    rows = backend.implementations(spec, direction)
    return {row["implementation"]: row["reason"] for row in rows if row["reason"] is not None}
