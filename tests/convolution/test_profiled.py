"""A profile of a program under a plan names what each pass ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")


from traceview import store  # noqa: E402
from traceview.convolution import runtime  # noqa: E402

SHAPE = {
    "batch": 4, "in_channels": 8, "height": 12, "width": 12, "out_channels": 16, "filter_height": 3, "filter_width": 3,
    "stride_h": 1, "stride_w": 1, "pad_h": 1, "pad_w": 1, "dilation_h": 1, "dilation_w": 1, "groups": 1,
    "dtype": "float32",
}  # fmt: skip
GEMM = {"backend": "torch_gemm", "implementation": "im2col + GEMM"}
WINOGRAD = {"backend": "winograd_torch", "implementation": "F(2x2,3x3) by 32"}


def layer(module: str, **more: Any) -> dict[str, Any]:
    return {"module": module, "shape": SHAPE | more.pop("shape", {}), "layout": "nchw", **more}


def test_passes_of_a_plan_have_their_algorithm_and_shapes(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Conv2d(8, 16, 3, padding=1))
    layers = [
        layer("0", shape={"in_channels": 3, "out_channels": 8}, fprop=None, dgrad=None, wgrad=GEMM),
        layer("1", fprop=WINOGRAD, dgrad=GEMM, wgrad=WINOGRAD),
    ]
    runtime.apply(model, {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": layers})
    x = torch.randn(4, 3, 12, 12)
    model(x).square().mean().backward()
    with torch.profiler.profile(record_shapes=True) as profile:
        model(x).square().mean().backward()
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    runtime.remove(model)
    with store.open_capture(tmp_path / "trace.json") as connection:
        query = """SELECT direction, algorithm, evidence, input_shape, filter_shape, padding, flop FROM conv_calls
            WHERE algorithm IS NOT NULL AND evidence[1] LIKE 'traceview::%' ORDER BY start_ns"""
        found = connection.execute(query).fetchall()
        strays = "SELECT count(*) FROM conv_calls WHERE direction = 'fprop' AND op_name LIKE '%backward%'"
        assert connection.execute(strays).fetchall() == [(0,)]
    flop = 2 * 4 * 12 * 12 * 9
    second = ([4, 8, 12, 12], [16, 8, 3, 3], [1, 1], flop * 8 * 16)
    winograd = "traceview::winograd_torch_{} F2x2,3x3 by 32"
    gemm = "traceview::torch_gemm_{} im2col + GEMM"
    assert found == [
        ("fprop", "winograd", [winograd.format("fprop")], *second),
        ("dgrad", "explicit_gemm", [gemm.format("dgrad")], *second),
        ("wgrad", "winograd", [winograd.format("wgrad")], *second),
        ("wgrad", "explicit_gemm", [gemm.format("wgrad")], [4, 3, 12, 12], [8, 3, 3, 3], [1, 1], flop * 3 * 8),
    ]
