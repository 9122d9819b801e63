"""cuDNN: without a driver every row says so; with a GPU every plan agrees with double precision."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from convolutions import reasons, spec_of, tensors_of  # noqa: E402

from traceview.convolution.backends import cudnn  # noqa: E402


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_row_says_what_is_missing() -> None:
    told = reasons(cudnn, "8x9x9 k8 3x3", "fprop", device="cuda")
    assert list(told) == ["any"]
    assert "no NVIDIA driver here" in told["any"] or "PyTorch sees no GPU" in told["any"]


@pytest.mark.skipif(cudnn.missing() is not None, reason=f"cuDNN cannot run: {cudnn.missing()}")
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_plan_agrees_with_double_precision(direction: str) -> None:
    spec = spec_of("8x16x16 k8 3x3 p1", batch=4, device="cuda")
    tensors = tensors_of(spec)
    rows = [row for row in cudnn.implementations(spec, direction) if row["reason"] is None]
    assert rows
    for row in rows:
        runner = cudnn.prepare(row, spec, direction)
        packed = [runner.pack(name, tensors[name].cuda()) for name in runner.operands]
        out = runner.unpack(runner.run(*packed)).cpu().double()
        assert (out - tensors[direction]).abs().max() / tensors[direction].abs().max() < 1e-2, row
