"""Candidates of a plan: each can be named again, is timed as often as it deserves, and says what it allocates."""

from __future__ import annotations

import sys
import time
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from plans import entry, needs_kernels, one_thread  # noqa: E402

from traceview.convolution import (  # noqa: E402
    candidates,
    passes,
    runtime,
)

__all__ = ["one_thread"]


def layer(conv: Any, x: torch.Tensor) -> dict[str, Any]:
    return {"module": "m", "shape": entry("m", conv, x, None)["shape"], "dgrad": True}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "stride"), [pytest.param(3, 1, marks=pytest.mark.long), (1, 2)])
def test_every_candidate_can_be_named_in_a_plan_and_computes_the_same(size: int, stride: int) -> None:
    conv, x = torch.nn.Conv2d(16, 24, size, stride, size // 2, bias=True), torch.randn(2, 16, 12, 12)
    found = candidates.measured(layer(conv, x))
    timed = [row for row in found["rows"] if row.get("time_ns") and row["backend"] != "torch_default"]
    assert {"torch_gemm"} <= {row["backend"] for row in timed} and all(row["workspace_bytes"] >= 0 for row in timed)
    assert found["change"]["x_ns"] > 0
    with torch.no_grad():
        y = conv(x)
        for row in timed:
            held = {**entry("m", conv, x, None, row["layout"]), row["direction"]: row}
            planned = runtime.Planned(held, {"numerics": "close", "threads": 1}, pytest.fail)
            if row["direction"] == "fprop":
                assert torch.allclose(planned.fprop(x, conv.weight, conv.bias), y, atol=1e-4), row
                with torch.enable_grad():  # As a ReLU in place behind it does.
                    runtime.Convolution.apply(x, conv.weight, conv.bias, planned).relu_().sum().backward()
            else:
                planned.gradients(torch.ones_like(y), x, conv.weight, (True, True, True))
            assert planned.passes[row["direction"]] is not None, row


@pytest.mark.slow
@needs_kernels
def test_winograd_says_the_workspace_that_is_allocated() -> None:
    conv, x = torch.nn.Conv2d(16, 32, 3, padding=1), torch.randn(2, 16, 20, 20)
    row = {"backend": "winograd", "implementation": "F(4x4,3x3) by 64"}
    planned = runtime.Planned(entry("m", conv, x, None), {"numerics": "close", "threads": 1}, str)
    for direction in runtime.DIRECTIONS:
        runner = runtime.prepare(row, planned.spec, direction)
        work = candidates.Pass(planned, direction, {"x": x, "w": conv.weight, "y": conv(x)})
        operands = [it.detach() for it in work.given["nhwc"]]
        with torch.no_grad():
            _, seen = work._allocated(lambda r=runner, o=operands: passes.run(r, *o), runner)  # type: ignore[misc]
        assert runner.workspace_bytes <= seen <= runner.workspace_bytes + (1 << 15), "and tables of offsets"


class Sleepy:
    """A double of a back-end: PyTorch's own, after a nap and with a megabyte that it does not need."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.runs = seconds, 0

    def __call__(self, x: torch.Tensor, w: torch.Tensor, bias: Any = None) -> torch.Tensor:
        self.runs += 1
        end, waste = time.thread_time() + self.seconds, torch.empty(1 << 18)
        while time.thread_time() < end:
            pass
        result = torch.nn.functional.conv2d(x, w, bias, padding=1)
        return result if waste.numel() else waste


@pytest.mark.slow
def test_what_is_far_slower_runs_once_and_memory_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    runners = {"quick": Sleepy(0), "slow": Sleepy(0.2)}
    double = ModuleType("double")
    plain = {"algorithm": None, "layout_in": "nchw", "layout_out": "nchw", "reason": None}
    monkeypatch.setattr(
        double, "implementations", lambda *rest: [{"implementation": it, **plain} for it in runners], False
    )
    monkeypatch.setattr(double, "prepare", lambda row, *rest: runners[row["implementation"]], False)
    monkeypatch.setitem(sys.modules, "traceview.convolution.backends.double", double)
    monkeypatch.setattr(candidates, "BACKENDS", ("double",))
    monkeypatch.setattr(candidates, "DIRECTIONS", ("fprop",))
    x = torch.randn(2, 8, 16, 16)
    conv = torch.nn.Conv2d(8, 8, 3, padding=1)
    found = {row["implementation"]: row for row in candidates.measured(layer(conv, x))["rows"]}
    assert runners["slow"].runs == 1 and found["slow"]["time_ns"] > 2e8
    assert runners["quick"].runs >= 1
    assert 1 << 20 <= found["quick"]["workspace_bytes"] < 1.1 * (1 << 20)
