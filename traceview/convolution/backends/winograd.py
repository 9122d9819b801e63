"""Winograd convolution F(m x m, r x r) in all three passes: 3 x 3, 5 x 5 and other square filters, fp32, on a CPU.

With AVX2 or AVX-512 it runs the kernels of `winograd_fused.py`. A convolution of stride s is one of stride 1 over the
s x s phases of its input, with a filter of ceil(r / s). Activations are channels-last; other layouts are copied.
"""

from __future__ import annotations

import ctypes
import os
import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch.nn import functional

from ..winograd.fused import FLOAT_BYTES, BackwardFilter, Forward, kernels, up
from ..winograd.matrices import Shape
from .runners import LAST, OPERANDS, LastRunner, offered
from .workspace import workspace

NAME = "winograd"
DEVICES = ("cpu",)
TILES = {2: (2, 3, 4, 5, 6), 3: (2, 3, 4, 5, 6), 4: (2, 3, 4), 5: (2, 3, 4)}
"""Sizes of tiles by sizes of filters; beyond m + r = 9 the error grows past what fp32 can take."""
BLOCKS = (64, 128, 256)
"""Tiles at a time, about."""
PARTS = (4, 16)
"""Parts of the filter, one after the other, which need less workspace and more transforms; for the least blocks."""
TILES_OF_A_FILTER = 2
"""Tiles whose transforms take about the time of one filter's, by channel."""


def version() -> str:
    """Return the version of this file, and what the kernels are made for."""
    try:
        return f"1 ({kernels().isa})"
    except OSError:
        return "1"


def reason(layer: Any) -> str | None:
    """Why it cannot run a layer; None where it can."""
    try:
        kernels()
    except OSError as error:
        return str(error)
    return unfit(layer)


def unfit(layer: Any) -> str | None:
    """Why Winograd is not for a layer, whatever computes it; None where it is."""
    tests = (
        (layer.filter_height == layer.filter_width, "the filter is not square"),
        (layer.stride_h == layer.stride_w, "strides differ"),
        (layer.pad_h == layer.pad_w, "paddings differ"),
        (layer.dilation_h == layer.dilation_w == 1, "the filter is dilated"),
        (layer.groups == 1, "the convolution has groups"),
        (layer.dtype == "float32", f"{layer.dtype}, not float32"),
        (layer.device == "cpu", f"{layer.device}, not a CPU"),
        (layer.pad_h < layer.filter_height, "the padding is not smaller than the filter"),
    )
    told = next((why for holds, why in tests if not holds), None)
    size = -(-layer.filter_height // layer.stride_h)
    return told or (None if size in TILES else f"filters of {size} x {size}, not 2 to 5, at stride 1")


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """Each size of tiles, each number of tiles at a time."""
    why = reason(layer)
    size = -(-layer.filter_height // layer.stride_h)
    sizes = None if why else Geometry(layer).shape
    found = []
    for m in TILES.get(size, (4,)):
        for block, parts in (*((block, 1) for block in BLOCKS), *((BLOCKS[0], parts) for parts in PARTS)):
            name = f"F({m}x{m},{size}x{size}) by {block}" + (f" in {parts}" if parts > 1 else "")
            unfitting = why if sizes is None else too_large(sizes, m, block, parts)
            found.append(offered(name, "winograd", "nhwc", unfitting, m=m, block=block, parts=parts))
    return found


def too_large(s: Shape, m: int, block: int, parts: int) -> str | None:
    """Why offsets of 32 bits do not reach through a layer; None where they do."""
    a, channels, filters = m + s.size - 1, up(s.channels, 32), up(s.filters, 32)
    within = a * a * max(-(-channels * filters // parts), 2 * block * (max(channels, filters) + 32))
    reach = FLOAT_BYTES * max(within, (a + 1) * max(s.width, s.out_width) * max(channels, filters))
    return f"distances in memory of {reach} bytes, and offsets have 32 bits" if reach >= 1 << 31 else None


class Geometry:
    """A convolution, and the one of stride 1 that computes it."""

    def __init__(self, layer: Any) -> None:
        self.stride, self.pad, self.full = layer.stride_h, layer.pad_h, layer.filter_height
        self.images, self.channels, self.filters = layer.batch, layer.in_channels, layer.out_channels
        self.height, self.width = layer.height, layer.width
        s = self.stride
        self.size = -(-self.full // s)
        self.out_height = (self.height + 2 * self.pad - self.full) // s + 1
        self.out_width = (self.width + 2 * self.pad - self.full) // s + 1
        if s == 1:
            inner = (self.images, self.channels, self.height, self.width)
        else:
            reach = self.size - 1
            inner = (self.images, self.channels * s * s, self.out_height + reach, self.out_width + reach)
        self.shape = Shape(*inner, self.filters, self.size, self.pad if s == 1 else 0)

    def phases(self, x: torch.Tensor) -> torch.Tensor:
        """N, C, H, W -> N, C s s, H', W': the input as the convolution of stride 1 takes it."""
        s = self.stride
        if s == 1:
            return x
        bottom = self.shape.height * s - self.height - self.pad
        right = self.shape.width * s - self.width - self.pad
        return functional.pixel_unshuffle(functional.pad(x, (self.pad, right, self.pad, bottom)), s)

    def unphased(self, dx: torch.Tensor) -> torch.Tensor:
        """The other way: of a gradient."""
        s = self.stride
        if s == 1:
            return dx
        whole = functional.pixel_shuffle(dx, s)
        whole = functional.pad(whole, (0, max(0, self.pad + self.width - whole.shape[3]), 0,
                                       max(0, self.pad + self.height - whole.shape[2])))  # fmt: skip
        return whole[:, :, self.pad : self.pad + self.height, self.pad : self.pad + self.width]

    def filter_phases(self, w: torch.Tensor) -> torch.Tensor:
        """K, C, R, S -> K, C s s, r, r."""
        s, r = self.stride, self.size
        if s == 1:
            return w
        more = r * s - self.full
        split = functional.pad(w, (0, more, 0, more)).view(self.filters, self.channels, r, s, r, s)
        return split.permute(0, 1, 3, 5, 2, 4).reshape(self.filters, -1, r, r)

    def filter_unphased(self, dw: torch.Tensor) -> torch.Tensor:
        """The other way: of a gradient."""
        s, r = self.stride, self.size
        if s == 1:
            return dw
        split = dw.reshape(self.filters, self.channels, s, s, r, r).permute(0, 1, 4, 2, 5, 3)
        return split.reshape(self.filters, self.channels, r * s, r * s)[:, :, : self.full, : self.full]


def _last(x: torch.Tensor, channels: int, room: torch.Tensor) -> torch.Tensor:
    """The tensor, channels last in memory and filled up with zeros to `channels`, in `room` where needed."""
    n, c, h, w = x.shape
    if c == channels:
        return x.contiguous(memory_format=LAST)
    padded = room[: n * h * w * channels].view(n, h, w, channels)
    padded[..., c:].zero_()
    padded[..., :c].copy_(x.permute(0, 2, 3, 1))
    return padded.permute(0, 3, 1, 2)


class Pass(LastRunner):
    """The convolution of one direction: fprop(x, w, bias), dgrad(dy, w) or wgrad(x, dy)."""

    def __init__(self, layer: Any, direction: str, m: int, block: int, parts: int = 1, threads: int = 1) -> None:
        self.direction, self.operands, self.threads = direction, OPERANDS[direction], threads
        parts = max(parts, threads)
        g = self.geometry = Geometry(layer)
        s = g.shape
        if direction == "dgrad":
            turned = Shape(s.images, s.filters, s.out_height, s.out_width, s.channels, s.size, s.size - 1 - s.pad)
            self.kernel: Any = Forward(turned, m, block, parts)
        elif direction == "fprop":
            self.kernel = Forward(s, m, block, parts)
        else:
            k_row = -(-s.filters // kernels().lanes) * kernels().lanes
            self.kernel = BackwardFilter(s, m, block, (s.size * k_row, k_row, s.size**2 * k_row), parts)
        c, k = self.kernel.c, self.kernel.k
        rest = {
            # A copy of the filter with room for a panel behind it, of what comes in, and of what goes out.
            "fprop": (s.channels * s.size**2 * s.filters + 64, _in(s, c), _out(s, k)),
            "dgrad": (s.channels * s.size**2 * s.filters + 64, _out(s, c), _in(s, k)),
            "wgrad": (s.channels * s.size**2 * k, _in(s, c), _out(s, k)),
        }[direction]
        self.sizes = [*self.kernel.floats, *rest]
        self.elsewhere_bytes = FLOAT_BYTES * (threads - 1) * sum(self.kernel.floats)
        self.workspace_bytes = FLOAT_BYTES * sum(self.sizes) + self.elsewhere_bytes

    def _compute(self, space: list[torch.Tensor], *given: Any) -> None:
        """Run the kernel: each thread goes through other parts of the filter, with a workspace of its own."""
        rounds = self.kernel.rounds()

        def share(number: int) -> None:
            own = workspace().parts(*self.kernel.floats) if number else space
            self.kernel.run(*given, own, rounds[number :: self.threads])

        others = [_pool(self.threads).submit(share, number) for number in range(1, self.threads)]
        share(0)
        for other in others:
            other.result()

    def run(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """The pass without a bias."""
        return self(first, second)

    def __call__(
        self,
        first: torch.Tensor,
        second: torch.Tensor,
        bias: torch.Tensor | None = None,
        into: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The pass; of wgrad `second` is the gradient of the output. `into`: a place for the result, channels last."""
        *space, plain, room, out = workspace().parts(*self.sizes)
        if self.direction == "wgrad":
            return self._wgrad(space, plain, room, out, first, second)
        run = self._fprop if self.direction == "fprop" else self._dgrad
        return run(space, plain, room, out, first, second, bias, into)

    def _fprop(self, space: Any, plain: Any, room: Any, out: Any, x: Any, w: Any, bias: Any, into: Any) -> torch.Tensor:
        s, k = self.geometry.shape, self.kernel.k
        source = _last(self.geometry.phases(x), self.kernel.c, room)
        _transposed(self.geometry.filter_phases(w), plain)
        y: torch.Tensor = into
        if y is None:
            y = torch.empty((s.images, s.filters, s.out_height, s.out_width), memory_format=LAST)
        target = y if k == s.filters else out
        added = 0
        if bias is not None:
            filled = bias.contiguous() if k == s.filters else functional.pad(bias, (0, k - s.filters))
            added = filled.data_ptr()
        strides = (s.size * s.filters, s.filters, s.size**2 * s.filters)
        self._compute(space, source.data_ptr(), plain.data_ptr(), strides, added, target.data_ptr())
        if target is not y:
            whole = out[: _out(s, k)].view(s.images, s.out_height, s.out_width, k)
            y.copy_(whole[..., : s.filters].permute(0, 3, 1, 2))
        return y

    def _dgrad(
        self, space: Any, plain: Any, room: Any, out: Any, dy: Any, w: Any, bias: Any, into: Any
    ) -> torch.Tensor:
        s, c = self.geometry.shape, self.kernel.k
        source = _last(dy, self.kernel.c, room)
        turned = self.geometry.filter_phases(w)
        taps = s.size**2
        plain[: s.filters * taps * s.channels].view(s.filters, taps, s.channels).copy_(
            turned.reshape(s.filters, s.channels, taps).transpose(1, 2)
        )
        dx = into
        if dx is None or self.geometry.stride > 1:
            dx = torch.empty((s.images, s.channels, s.height, s.width), memory_format=LAST)
        target = dx if c == s.channels else out
        strides = (-s.size * s.channels, -s.channels, taps * s.channels)
        start = plain.data_ptr() + (taps - 1) * s.channels * FLOAT_BYTES
        self._compute(space, source.data_ptr(), start, strides, 0, target.data_ptr())
        if target is not dx:
            whole = out[: _in(s, c)].view(s.images, s.height, s.width, c)
            dx.copy_(whole[..., : s.channels].permute(0, 3, 1, 2))
        return self.geometry.unphased(dx)

    def _wgrad(self, space: Any, plain: Any, room: Any, out: Any, x: Any, dy: Any) -> torch.Tensor:
        s, k = self.geometry.shape, self.kernel.k
        source = _last(self.geometry.phases(x), self.kernel.c, room)
        gradient = _last(dy, k, out)
        self._compute(space, source.data_ptr(), gradient.data_ptr(), plain.data_ptr())
        dw = torch.empty((s.filters, s.channels, s.size, s.size))
        dw.view(s.filters, -1).copy_(plain[: s.channels * s.size**2 * k].view(-1, k)[:, : s.filters].t())
        return self.geometry.filter_unphased(dw)


def _transposed(w: torch.Tensor, plain: torch.Tensor) -> None:
    """K, C, R, S -> C, R, S, K; a plain copy of a transposed matrix is the one that PyTorch does in blocks."""
    plain[: w.numel()].view(-1, w.shape[0]).copy_(w.reshape(w.shape[0], -1).t())


def _in(s: Shape, channels: int) -> int:
    return 0 if s.channels == channels else s.images * s.height * s.width * channels


def _out(s: Shape, channels: int) -> int:
    return 0 if s.filters == channels else s.images * s.out_height * s.out_width * channels


class Shares(LastRunner):
    """A pass whose images are shared out among threads, each with a workspace of its own."""

    def __init__(self, layer: Any, direction: str, m: int, block: int, threads: int, parts: int) -> None:
        self.operands, self.direction = OPERANDS[direction], direction
        ends = [layer.batch * number // threads for number in range(threads + 1)]
        self.ranges = [slice(begin, end) for begin, end in zip(ends, ends[1:])]
        self.passes = [
            Pass(SimpleNamespace(**{**vars(layer), "batch": it.stop - it.start}), direction, m, block, parts)
            for it in self.ranges
        ]
        g = Geometry(layer)
        inner, outer = (g.channels, g.height, g.width), (g.filters, g.out_height, g.out_width)
        self.shape = (layer.batch, *(outer if direction == "fprop" else inner))
        self.workspace_bytes = sum(one.workspace_bytes for one in self.passes)
        self.shares = threads

    run = Pass.run

    def __call__(self, first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """The pass; gradients of filters are summed."""
        whole = None if self.direction == "wgrad" else torch.empty(self.shape, memory_format=LAST)

        def share(number: int) -> torch.Tensor:
            part = self.ranges[number]
            with torch.no_grad():
                if whole is None:
                    return self.passes[number](first[part], second[part])
                result = self.passes[number](first[part], second, bias, whole[part])
                if result.data_ptr() != whole[part].data_ptr():
                    whole[part].copy_(result)
                return result

        others = [_pool(len(self.passes)).submit(share, number) for number in range(1, len(self.passes))]
        before = torch.get_num_threads()
        _operators_on(1)
        try:
            results = [share(0), *(other.result() for other in others)]
        finally:
            _operators_on(before)
        if whole is not None:
            return whole
        for other in results[1:]:
            results[0].add_(other)
        return results[0]


@lru_cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that wait for their share; PyTorch's operators on them use no others."""
    return ThreadPoolExecutor(threads - 1, "winograd", _operators_on, (1,))


def _operators_on(threads: int) -> None:
    """How many threads OpenMP takes for what this thread runs; of this thread alone, unlike torch.set_num_threads."""
    library = _openmp()
    if library is not None:
        library.omp_set_num_threads(threads)


@lru_cache
def _openmp() -> ctypes.CDLL | None:
    """The OpenMP that PyTorch has loaded."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    path = next((line.split()[-1] for line in maps.splitlines() if re.search(r"lib(gomp|iomp5|omp)\b", line)), None)
    return ctypes.CDLL(path) if path else None


if hasattr(os, "register_at_fork"):
    # Threads do not come along into a forked child.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Any:
    """The pass with one size of tiles, on as many threads as PyTorch computes on.

    Threads share out images, and each transforms the whole filter; or parts of the filter, and each transforms all
    tiles. What is less is done twice.
    """
    threads = torch.get_num_threads()
    m, block, parts = (implementation[name] for name in ("m", "block", "parts"))
    if threads == 1:
        return Pass(layer, direction, m, block, parts)
    s = Geometry(layer).shape
    tiles = s.images * -(-s.out_height // m) * -(-s.out_width // m)
    if layer.batch < threads or tiles < TILES_OF_A_FILTER * (s.filters if direction == "fprop" else s.channels):
        return Pass(layer, direction, m, block, parts, threads)
    return Shares(layer, direction, m, block, threads, parts)
