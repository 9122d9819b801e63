"""NNPACK inside PyTorch: FFT with tiles of 8 and of 16, and Winograd F(6x6, 3x3), by the C functions that it exports.

The data gradient is a forward pass over the gradient with the filter flipped and its channels exchanged. NNPACK has
functions of its own for no filter gradient in PyTorch's build.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

import torch

from . import runners
from .runners import OPERANDS, offered
from .workspace import workspace

NAME = "nnpack"
DEVICES = ("cpu",)
# Of enum nnp_convolution_algorithm in nnpack.h: number, algorithm, size of the filter that it takes at most.
ALGORITHMS = {"ft8x8": (1, "fft_tiling", 8), "ft16x16": (2, "fft_tiling", 16), "wt8x8": (3, "winograd", 3)}
STATUS = {
    2: "batch",
    3: "channels",
    4: "input channels",
    5: "output channels",
    10: "input size",
    12: "padding",
    13: "filter size",
    17: "algorithm",
    24: "input size",
    25: "filter size",
    26: "algorithm for this layer",
    51: "processor",
    52: "amount of memory",
    53: "size of the workspace",
    54: "alignment of the workspace",
}
UNSUPPORTED_HARDWARE = 51


class Size(ctypes.Structure):
    """struct nnp_size."""

    _fields_ = [("width", c_size_t), ("height", c_size_t)]


class Padding(ctypes.Structure):
    """struct nnp_padding."""

    _fields_ = [("top", c_size_t), ("right", c_size_t), ("bottom", c_size_t), ("left", c_size_t)]


class Library:
    """The exported functions, or why there are none."""

    def __init__(self) -> None:
        self.reason: str | None = None
        file = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
        try:
            loaded = ctypes.CDLL(str(file))
            self.output = loaded.nnp_convolution_output
            self.create = loaded.pthreadpool_create
            status = loaded.nnp_initialize()
        except (OSError, AttributeError) as error:
            self.reason = f"this build of PyTorch exports no NNPACK ({error})"
            return
        if status:
            self.reason = "NNPACK does not support this processor" if status == UNSUPPORTED_HARDWARE else _text(status)
        self.create.restype, self.create.argtypes = c_void_p, [c_size_t]
        sizes: list[Any] = [c_int, c_size_t, c_size_t, c_size_t, Size, Padding, Size]
        pointers: list[Any] = [c_void_p] * 5 + [ctypes.POINTER(c_size_t), c_int, c_void_p, c_void_p, c_void_p]
        self.output.argtypes = [*sizes, *pointers]
        self.pools: dict[int, Any] = {}
        if hasattr(os, "register_at_fork"):
            # Threads do not come along into a forked child.
            os.register_at_fork(after_in_child=self.pools.clear)

    def pool(self) -> Any:
        """Threads of NNPACK, as many as PyTorch has."""
        n = torch.get_num_threads()
        if n > 1 and n not in self.pools:
            self.pools[n] = self.create(n)
        return self.pools.get(n)


@cache
def library() -> Library:
    """The one of this process."""
    return Library()


def version() -> str:
    """NNPACK has none; that of PyTorch, which holds it."""
    return f"in torch {torch.__version__}"


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """FFT with two sizes of tiles, and Winograd, each with its workspace or the reason why not."""
    rows = []
    for name, (_, algorithm, _) in ALGORITHMS.items():
        reason, n_bytes = why_not(layer, direction, name), None
        if reason is None:
            try:
                n_bytes = Problem(layer, direction, name).workspace()
            except RuntimeError as error:
                reason = str(error)
        rows.append(offered(name, algorithm, "nchw", reason, workspace_bytes=n_bytes))
    return rows


def why_not(layer: Any, direction: str, name: str) -> str | None:
    """Why NNPACK cannot run a layer; None where it may."""
    most = ALGORITHMS[name][2]
    size = max(layer.filter_height, layer.filter_width)
    pads = (layer.filter_height - 1 - layer.pad_h, layer.filter_width - 1 - layer.pad_w)
    if library().reason:
        return library().reason
    if direction == "wgrad":
        return "PyTorch's build of NNPACK exports no filter gradient"
    if layer.dtype != "float32":
        return f"float32 only, not {layer.dtype}"
    if (layer.stride_h, layer.stride_w) != (1, 1):
        return f"stride {layer.stride_h} x {layer.stride_w}, and only stride 1 is transformed"
    if (layer.dilation_h, layer.dilation_w) != (1, 1) or layer.groups != 1:
        return "dilated filters and groups are not supported"
    if name == "wt8x8" and (layer.filter_height, layer.filter_width) != (3, 3):
        return f"a filter of {layer.filter_height} x {layer.filter_width}, and its Winograd is for 3 x 3"
    if size > most:
        return f"a filter of {size}, more than its tiles of {most}"
    if direction == "dgrad" and min(pads) < 0:
        return "padding larger than the filter less one, so that the gradient is not a forward pass"
    if max(layer.pad_h, layer.pad_w) >= size:
        return "padding as large as the filter"
    return None


class Problem:
    """The numbers of a forward pass, of a data gradient with the roles exchanged."""

    def __init__(self, layer: Any, direction: str, name: str) -> None:
        high, wide = layer.filter_height, layer.filter_width
        channels, filters = layer.in_channels, layer.out_channels
        size, pads = (layer.height, layer.width), (layer.pad_h, layer.pad_w)
        if direction == "dgrad":
            size = (size[0] + 2 * pads[0] - high + 1, size[1] + 2 * pads[1] - wide + 1)
            pads = (high - 1 - pads[0], wide - 1 - pads[1])
            channels, filters = filters, channels
        out = (size[0] + 2 * pads[0] - high + 1, size[1] + 2 * pads[1] - wide + 1)
        self.shape = (layer.batch, filters, *out)
        self.bias = torch.zeros(filters)
        padding = Padding(pads[0], pads[1], pads[0], pads[1])
        sizes = (Size(size[1], size[0]), padding, Size(wide, high))
        self.numbers = (ALGORITHMS[name][0], layer.batch, channels, filters, *sizes)

    def workspace(self) -> int:
        """Bytes, asked of NNPACK; raises `RuntimeError` where it declines."""
        size = c_size_t(0)
        self.call(None, None, None, None, None, ctypes.byref(size))
        return size.value

    def call(self, *pointers: Any, profile: Any = None) -> None:
        """Call nnp_convolution_output."""
        lib = library()
        status = lib.output(*self.numbers, *pointers, 0, None, lib.pool(), profile)
        if status:
            raise RuntimeError(_text(status))


def _text(status: int) -> str:
    return f"NNPACK does not take this {STATUS[status]}" if status in STATUS else f"NNPACK returned status {status}"


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Runner:
    """The pass by one of the algorithms."""
    return Runner(implementation["implementation"], layer, direction)


class Runner(runners.Runner):
    """One pass. NNPACK transforms the filter in every run."""

    takes_bias = True

    def __init__(self, name: str, layer: Any, direction: str) -> None:
        self.operands, self.direction = OPERANDS[direction], direction
        self.problem, self.implementation = Problem(layer, direction, name), name
        self.workspace_bytes = self.problem.workspace()

    def pack(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor in plain order; for the data gradient the filter flipped, its channels exchanged."""
        if name == "filter" and self.direction == "dgrad":
            return tensor.flip(2, 3).transpose(0, 1).contiguous()
        return tensor.contiguous()

    def run(self, first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """The pass, into a new tensor."""
        out = torch.empty(self.problem.shape)
        added = self.problem.bias if bias is None else bias.contiguous()
        pointers = [tensor.data_ptr() for tensor in (first, second, added, out)]
        place = workspace().address(self.workspace_bytes)
        self.problem.call(*pointers, place, ctypes.byref(c_size_t(self.workspace_bytes)))
        return out
