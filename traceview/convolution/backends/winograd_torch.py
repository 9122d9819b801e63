"""Winograd convolution in PyTorch's operators, in all three passes: where there is no machine code for the processor.

Tiles are cut out of padded images, channels last; both transforms are one matrix product each, with the Kronecker
product of a matrix of `winograd_matrices.py` with itself; the products over channels are one batch of matrix products.
As many images as make some number of tiles are computed at a time, which bounds the workspace.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from ..winograd.matrices import Shape, matrices
from .runners import LAST, OPERANDS, LastRunner, offered
from .runners import version as version
from .winograd import TILES, Geometry, unfit
from .workspace import FLOAT_BYTES, workspace

NAME = "winograd_torch"
DEVICES = ("cpu",)
BLOCKS = (32, 128, 512)
"""Tiles at a time, about."""


def implementations(layer: Any, direction: str) -> list[dict[str, Any]]:
    """Each size of tiles, each number of tiles at a time."""
    why = unfit(layer)
    size = -(-layer.filter_height // layer.stride_h)
    return [
        offered(f"F({m}x{m},{size}x{size}) by {block}", "winograd", "nhwc", why, m=m, block=block)
        for m in TILES.get(size, (4,))
        for block in BLOCKS
    ]


def prepare(implementation: dict[str, Any], layer: Any, direction: str) -> Pass:
    """The pass with one size of tiles."""
    return Pass(layer, direction, implementation["m"], implementation["block"])


@lru_cache
def squares(m: int, r: int) -> tuple[torch.Tensor, ...]:
    """A' x A', G x G and B' x B', Kronecker products."""
    exact = [torch.tensor([[float(v) for v in row] for row in matrix]).double() for matrix in matrices(m, r)]
    return tuple(torch.kron(matrix, matrix).float().contiguous() for matrix in exact)


class Pass(LastRunner):
    """The convolution of one direction."""

    takes_bias = True
    operators = ("aten::bmm",)

    def __init__(self, layer: Any, direction: str, m: int, block: int) -> None:
        self.direction, self.operands, self.m = direction, OPERANDS[direction], m
        g = self.geometry = Geometry(layer)
        s = g.shape
        if direction == "dgrad":
            s = Shape(s.images, s.filters, s.out_height, s.out_width, s.channels, s.size, s.size - 1 - s.pad)
        self.shape, self.a = s, m + s.size - 1
        self.down, self.across = -(-s.out_height // m), -(-s.out_width // m)
        self.images = max(1, min(s.images, block // (self.down * self.across)))
        self.padded = (self.down * m + s.size - 1, self.across * m + s.size - 1)
        tiles, squared = self.images * self.down * self.across, self.a**2
        self.sizes = (
            squared * s.channels * s.filters,
            self.images * self.padded[0] * self.padded[1] * s.channels,
            tiles * max(squared * s.channels, m * m * s.filters),
            squared * tiles * s.channels,
            squared * tiles * s.filters,
        )
        self.workspace_bytes = FLOAT_BYTES * sum(self.sizes)

    def run(self, first: torch.Tensor, second: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """The pass; of wgrad `second` is the gradient of the output."""
        g, space = self.geometry, workspace().parts(*self.sizes)
        if self.direction == "wgrad":
            return g.filter_unphased(self._filter_gradient(g.phases(first), second, space))
        if self.direction == "dgrad":
            turned = g.filter_phases(second).flip(2, 3).transpose(0, 1)
            return g.unphased(self._forward(first, turned, space))
        out = self._forward(g.phases(first), g.filter_phases(second), space)
        return out if bias is None else out.add_(bias.view(-1, 1, 1))

    def _chunks(self) -> list[slice]:
        ends = range(0, self.shape.images, self.images)
        return [slice(begin, min(begin + self.images, self.shape.images)) for begin in ends]

    def _tiles(self, x: torch.Tensor, space: list[torch.Tensor]) -> torch.Tensor:
        """B' x B of every tile: places, tiles, channels."""
        _, room, cut, made, _ = space
        n, c, a, m = x.shape[0], self.shape.channels, self.a, self.m
        high, wide = self.padded
        padded = room[: n * high * wide * c].view(n, high, wide, c).zero_()
        pad = self.shape.pad
        rows, columns = min(x.shape[2], high - pad), min(x.shape[3], wide - pad)
        padded[:, pad : pad + rows, pad : pad + columns].copy_(x.permute(0, 2, 3, 1)[:, :rows, :columns])
        steps = (wide * c, c, high * wide * c, m * wide * c, m * c, 1)
        tiles = n * self.down * self.across
        pieces = cut[: a * a * tiles * c].view(a, a, n, self.down, self.across, c)
        pieces.copy_(padded.as_strided((a, a, n, self.down, self.across, c), steps, padded.storage_offset()))
        out = made[: a * a * tiles * c].view(a * a, tiles * c)
        torch.mm(squares(m, self.shape.size)[2], pieces.view(a * a, -1), out=out)
        return out.view(a * a, tiles, c)

    def _forward(self, x: torch.Tensor, w: torch.Tensor, space: list[torch.Tensor]) -> torch.Tensor:
        s, a, m, k = self.shape, self.a, self.m, self.shape.filters
        outward, of_filter, _ = squares(m, s.size)
        filters = space[0][: a * a * s.channels * k].view(a * a, s.channels * k)
        torch.mm(of_filter, w.permute(2, 3, 1, 0).reshape(s.size**2, -1), out=filters)
        y = torch.empty((s.images, k, s.out_height, s.out_width), memory_format=LAST)
        for part in self._chunks():
            tiles = self._tiles(x[part], space)
            n, count = part.stop - part.start, tiles.shape[1]
            products = space[4][: a * a * count * k].view(a * a, count, k)
            torch.bmm(tiles, filters.view(a * a, s.channels, k), out=products)
            made = space[2][: m * m * count * k].view(m * m, count * k)
            torch.mm(outward, products.view(a * a, -1), out=made)
            whole = made.view(m, m, n, self.down, self.across, k).permute(2, 3, 0, 4, 1, 5)
            for tile, image in self._pairs(whole, y[part].permute(0, 2, 3, 1)):
                image.copy_(tile)
        return y

    def _pairs(self, tiles: torch.Tensor, images: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Pair places in tiles (n, down, m, across, m, k) with those in images (n, height, width, k), whose borders cut
        the last tiles.
        """
        m, high, wide = self.m, images.shape[1], images.shape[2]
        down, across = high // m, wide // m
        right, k = wide - across * m, images.shape[3]
        steps = images.stride()
        columns, begin = (m * steps[2], steps[2], steps[3]), images.storage_offset()
        found = []
        if down and across:
            shape = (len(images), down, m, across, m, k)
            inner = images.as_strided(shape, (steps[0], m * steps[1], steps[1], *columns), begin)
            found.append((tiles[:, :down, :, :across], inner))
        for row in range(down if right else 0):
            found.append((tiles[:, row, :, across, :right], images[:, row * m : row * m + m, across * m :]))
        for row in range(down * m, high):
            last = tiles[:, down, row - down * m]
            if across:
                line = images.as_strided((len(images), across, m, k), (steps[0], *columns), begin + row * steps[1])
                found.append((last[:, :across], line))
            if right:
                found.append((last[:, across, :right], images[:, row, across * m :]))
        return found

    def _filter_gradient(self, x: torch.Tensor, dy: torch.Tensor, space: list[torch.Tensor]) -> torch.Tensor:
        s, a, m, k = self.shape, self.a, self.m, self.shape.filters
        outward, of_filter, _ = squares(m, s.size)
        total = space[0][: a * a * s.channels * k].view(a * a, s.channels, k)
        for part in self._chunks():
            tiles = self._tiles(x[part], space)
            n, count = part.stop - part.start, tiles.shape[1]
            pieces = space[2][: m * m * count * k].view(m, m, n, self.down, self.across, k)
            whole = pieces.zero_().permute(2, 3, 0, 4, 1, 5)
            for tile, image in self._pairs(whole, dy[part].permute(0, 2, 3, 1)):
                tile.copy_(image)
            gradients = space[4][: a * a * count * k].view(a * a, count * k)
            torch.mm(outward.t(), pieces.view(m * m, -1), out=gradients)
            given = tiles.transpose(1, 2), gradients.view(a * a, count, k)
            if part.start:
                total.baddbmm_(*given)
            else:
                torch.bmm(*given, out=total)
        dw = torch.mm(of_filter.t(), total.view(a * a, -1)).view(s.size, s.size, s.channels, k)
        return dw.permute(3, 2, 0, 1).contiguous()
