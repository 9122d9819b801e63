"""Convolution in the frequency domain, of whole images: products of transforms, by `torch.fft`.

The transform covers image and padding; by the correlation theorem Y = X conj(W), X = Y W and W = Y conj(X), summed over
channels, filters and images. Its memory does not depend on the size of the filter, nor do its products.
"""

from __future__ import annotations

from typing import Any

import torch

from . import runners
from .runners import OPERANDS, offered
from .runners import version as version

NAME = "torch_fft"
DEVICES = ("cpu", "cuda")
OPERATORS = ("aten::_fft_r2c", "aten::bmm", "aten::_fft_c2r")


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """One, with the reason where it cannot be."""
    reason = None
    if (layer.stride_h, layer.stride_w) != (1, 1):
        reason = f"stride {layer.stride_h} x {layer.stride_w}: a product of transforms gives every position"
    elif layer.groups != 1 or (layer.dilation_h, layer.dilation_w) != (1, 1):
        reason = "dilated filters and groups are not transformed"
    elif layer.dtype not in ("float32", "float64"):
        reason = f"no transform of {layer.dtype}"
    return [offered("whole-image FFT", "fft", "nchw", reason)]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The pass."""
    return Runner(layer, direction)


def fast(size: int) -> int:
    """The least size from this on that has no prime factor above 5."""
    while True:
        left = size
        for factor in (2, 3, 5):
            while left % factor == 0:
                left //= factor
        if left == 1:
            return size
        size += 1


class Runner(runners.Runner):
    """One pass."""

    held_bytes = 0
    operators = OPERATORS

    def __init__(self, layer: Any, direction: str) -> None:
        self.operands, self.direction, self.layer = OPERANDS[direction], direction, layer
        self.size = [fast(layer.height + 2 * layer.pad_h), fast(layer.width + 2 * layer.pad_w)]
        window = (layer.filter_height, layer.filter_width)
        self.window = window
        self.out = (layer.height + 2 * layer.pad_h - window[0] + 1, layer.width + 2 * layer.pad_w - window[1] + 1)

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Images as they are; the filter transformed, one matrix (filters by channels) for each frequency."""
        if name != "filter":
            return tensor.contiguous()
        spectrum = self._transformed(tensor)
        # As the product reads it, so that no run copies it.
        turned = spectrum.conj().transpose(1, 2).resolve_conj() if self.direction == "fprop" else spectrum
        packed = turned.contiguous()
        self.held_bytes = packed.numel() * packed.element_size()
        return packed

    def _transformed(self, tensor: torch.Tensor) -> torch.Tensor:
        """[frequency, first, second dimension]"""
        spectrum: torch.Tensor = torch.fft.rfft2(tensor, s=self.size)
        return spectrum.flatten(2).permute(2, 0, 1)

    def _image(self, tensor: torch.Tensor) -> torch.Tensor:
        pads = (self.layer.pad_w, self.layer.pad_w, self.layer.pad_h, self.layer.pad_h)
        return self._transformed(torch.nn.functional.pad(tensor, pads))

    def _back(self, product: torch.Tensor) -> torch.Tensor:
        first, second = product.shape[1:]
        spectrum = product.permute(1, 2, 0).reshape(first, second, self.size[0], self.size[1] // 2 + 1)
        images: torch.Tensor = torch.fft.irfft2(spectrum, s=self.size)
        return images

    def run(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The pass, into a new tensor."""
        if self.direction == "fprop":
            whole = self._back(torch.bmm(self._image(first), second))
            return whole[..., : self.out[0], : self.out[1]]
        if self.direction == "dgrad":
            top, left, layer = self.layer.pad_h, self.layer.pad_w, self.layer
            whole = self._back(torch.bmm(self._transformed(first), second))
            return whole[..., top : top + layer.height, left : left + layer.width]
        whole = self._back(torch.bmm(self._transformed(second).conj().transpose(1, 2), self._image(first)))
        return whole[..., : self.window[0], : self.window[1]]
