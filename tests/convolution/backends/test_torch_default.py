"""PyTorch's default: all passes in both layouts agree with autograd in double precision."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from convolutions import errors, spec_of  # noqa: E402

from traceview.convolution.backends import torch_default  # noqa: E402


@pytest.mark.parametrize("text", ["6x9x8 k4 3x3 s2 p1", "4x7x9 k6 3x2 d2 g2"])
@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
def test_every_pass_is_that_of_autograd(text: str, direction: str) -> None:
    found = errors(torch_default, text, direction)
    assert [name[1] for name in found] == ["nchw", "nhwc"]
    assert max(found.values()) < 1e-5


def test_channels_last_is_what_runs_there() -> None:
    spec = spec_of("8x9x9 k16 3x3")
    row = torch_default.implementations(spec, "fprop")[1]
    runner = torch_default.prepare(row, spec, "fprop")
    packed = [runner.pack("input", torch.randn(3, 8, 9, 9)), runner.pack("filter", torch.randn(16, 8, 3, 3))]
    assert runner.run(*packed).is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("direction", ["dgrad", "wgrad"])
def test_a_tensor_that_is_only_asked_its_layout_has_the_strides_of_one_that_is_read(direction: str) -> None:
    spec = spec_of("1x9x9 k16 3x3")
    row = torch_default.implementations(spec, direction)[1]
    runner = torch_default.prepare(row, spec, direction)
    name = torch_default.RESULT[direction]
    assert runner.blank.stride() == runner.pack(name, torch.randn(runner.blank.shape)).stride()
