"""Winograd in PyTorch's operators: exact in every pass, within its workspace, and chosen where no machine code runs."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from cases import first  # noqa: E402
from convolutions import errors, reasons, spec_of, tensors_of  # noqa: E402

from traceview.convolution import (  # noqa: E402
    candidates,
    measure,
    runtime,
)
from traceview.convolution.backends import winograd, winograd_torch  # noqa: E402
from traceview.convolution.plan import SIZES  # noqa: E402


@pytest.mark.parametrize(
    "text",
    first(
        3,
        ["5x9x7 k9 3x3 p1", "3x17x15 k6 7x7 s2 p3", "1x1x1 k1 3x3 p1",
         "8x13x11 k4 5x5 p2", "6x8x8 k3 3x3", "4x6x6 k5 2x2 p1"],
    ),
)  # fmt: skip
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_pass_agrees_with_double_precision(text: str, direction: str) -> None:
    found = errors(winograd_torch, text, direction)
    assert len(found) >= 9 and max(found.values()) < 4e-5, found


def test_what_it_cannot_do_has_a_reason() -> None:
    assert "dilated" in reasons(winograd_torch, "8x9x9 k8 3x3 d2", "fprop")["F(2x2,3x3) by 32"]


def test_the_workspace_is_what_was_said() -> None:
    spec = spec_of("16x20x20 k24 3x3 p1", batch=4)
    given, runner = tensors_of(spec), winograd_torch.Pass(spec, "fprop", 4, 64)
    winograd.workspace().drop()
    with torch.no_grad():
        packed = [runner.pack(name, given[name]) for name in runner.operands]
        result, profile = measure.profiled(lambda: runner.run(*packed))
        most = measure.most_allocated(profile)
    filter_copy = 4 * 16 * 24 * 9
    assert (
        runner.workspace_bytes <= most - 4 * result.numel() <= runner.workspace_bytes + filter_copy + 5 * 64 + (1 << 14)
    )


def test_it_takes_the_place_of_machine_code_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> Any:
        raise OSError("no processor with AVX2 under Linux")

    monkeypatch.setattr(winograd, "kernels", absent)
    monkeypatch.setattr(candidates, "BACKENDS", ("winograd",))
    monkeypatch.setattr(winograd_torch, "BLOCKS", (128,))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        spec = spec_of("64x16x16 k64 3x3 p1", batch=2)
        shape = {name: getattr(spec, name) for name in (*SIZES, "dtype")}
        rows = candidates.measured({"module": "m", "shape": shape, "dgrad": True})["rows"]
        timed = {(row["backend"], row["direction"]) for row in rows if row.get("time_ns")}
        assert {("winograd_torch", way) for way in runtime.DIRECTIONS} <= timed
        assert not [row for row in rows if row["backend"] == "winograd" or row.get("reason")]
        choice = {"backend": "winograd_torch", "implementation": "F(4x4,3x3) by 128"}
        layer = {"module": "", "shape": shape, "layout": "nhwc", **dict.fromkeys(runtime.DIRECTIONS, choice)}
        conv, x = torch.nn.Conv2d(64, 64, 3, padding=1), torch.randn(2, 64, 16, 16, requires_grad=True)
        wanted = torch.autograd.grad(conv(x).square().sum(), (x, conv.weight, conv.bias))
        (planned,) = runtime.apply(conv, {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": [layer]})
        found = torch.autograd.grad(conv(x).square().sum(), (x, conv.weight, conv.bias))
        assert all(isinstance(planned.passes[way], winograd_torch.Pass) for way in runtime.DIRECTIONS)
        for one, other in zip(wanted, found, strict=True):
            assert torch.allclose(one, other, rtol=1e-3, atol=1e-4 * float(one.abs().max()))
    finally:
        torch.set_num_threads(before)
