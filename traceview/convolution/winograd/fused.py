"""Winograd convolution with kernels of its own (AVX2, AVX-512): tiles are transformed, multiplied and transformed back
a block at a time, so that what lies between stays in the processor's caches.

    y = A' [ (G w G') . (B' x B) ] A      for every tile of m x m outputs and filters of r x r   (F(m x m, r x r))

Lavin and Gray 2015 (arXiv:1509.09308); the matrices are Cook and Toom's, in exact fractions. Images are NHWC in memory.
Invariant: nothing outside of the tensors given and of the workspace is read or written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import torch

from .kernels import ROWS, Product, Transform, constants, product, transform
from .machine_code import LANES, Function, instruction_set
from .matrices import Shape, matrices

FLOAT_BYTES = 4
PAGE_FLOATS = 1024
CACHED_FLOATS = 1 << 17
"""Maximum number of floats made of a filter before they are used: half of a usual second-level cache."""


def _floats(matrix: list[list[Fraction]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in matrix)


def _transposed(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    return [list(column) for column in zip(*matrix)]


def up(value: int, unit: int) -> int:
    """The next multiple of a unit."""
    return -(-value // unit) * unit


Strides = tuple[int, int, int]
Space = list[torch.Tensor]
Calls = list[tuple[Function, int, int]]
"""For a block of tiles: the code of each kind of tile, with the address of the pairs of offsets and their number."""


class Tiles:
    """The tiles of a batch of images in blocks, by how much of each lies within the image."""

    def __init__(self, shape: Shape, m: int, block: int) -> None:
        self.shape, self.m = shape, m
        self.down, self.across = up(shape.out_height, m) // m, up(shape.out_width, m) // m
        self.count = shape.images * self.down * self.across
        # Blocks of nearly the same size.
        blocks = -(-self.count // min(block, self.count))
        self.block = -(-self.count // blocks)
        self.starts = range(0, self.count, self.block)
        number = torch.arange(self.count)
        self.image = number // (self.down * self.across)
        self.top = number // self.across % self.down * m
        self.left = number % self.across * m
        self.keep: list[torch.Tensor] = []

    def rows(self, start: int) -> int:
        """Tiles of the block that starts there."""
        return min(self.block, self.count - start)

    def calls(
        self,
        make: Callable[[range, range], Function],
        size: int,
        offset: int,
        extent: tuple[int, int],
        channels: int,
        row: int,
        swap: bool,
    ) -> list[Calls]:
        """Per block the calls for tiles of `size` rows and columns, `offset` before the output's, in images of
        `extent` x channels; `swap`: the image is what is written."""
        height, width = extent
        kinds = []
        for at, limit in ((self.top - offset, height), (self.left - offset, width)):
            kinds.append(((-at).clamp(min=0), (limit - at).clamp(max=size)))
        key = ((kinds[0][0] * 64 + kinds[0][1]) * 64 + kinds[1][0]) * 64 + kinds[1][1]
        image = ((self.image * height + self.top - offset) * width + self.left - offset) * channels * FLOAT_BYTES
        answer = []
        for start in self.starts:
            part = slice(start, start + self.rows(start))
            block: Calls = []
            tile = torch.arange(self.rows(start)) * (row * FLOAT_BYTES)
            for kind in sorted(set(key[part].tolist())):
                chosen = (key[part] == kind).nonzero().flatten()
                pair = (tile[chosen], image[part][chosen]) if swap else (image[part][chosen], tile[chosen])
                pairs = torch.stack(pair, 1).contiguous()
                self.keep.append(pairs)
                rest, high_x = divmod(kind, 64)
                rest, low_x = divmod(rest, 64)
                low_y, high_y = divmod(rest, 64)
                block.append((make(range(low_y, high_y), range(low_x, high_x)), pairs.data_ptr(), len(chosen)))
            answer.append(block)
        return answer


class Kernels:
    """Code that was made, by what it is for, and the tables of constants."""

    def __init__(self, isa: str) -> None:
        self.isa = isa
        self.lanes = LANES[isa]
        self.lock = threading.Lock()
        self.products: dict[Product, Function] = {}
        self.transforms: dict[Transform, Function] = {}
        self.tables: dict[tuple[tuple[float, ...], ...], torch.Tensor] = {}

    def product(self, spec: Product) -> Function:
        """The code of a product, made once."""
        with self.lock:
            if spec not in self.products:
                self.products[spec] = product(self.isa, spec)
            return self.products[spec]

    def transform(self, spec: Transform) -> Function:
        """The code of a transform, made once."""
        with self.lock:
            if spec not in self.transforms:
                self.transforms[spec] = transform(self.isa, spec)
            return self.transforms[spec]

    def table(self, matrix: tuple[tuple[float, ...], ...]) -> int:
        """The address of a matrix's constants; they stay there."""
        with self.lock:
            if matrix not in self.tables:
                values = torch.tensor(constants(matrix) or [0.0], dtype=torch.float32)
                self.tables[matrix] = values[:, None].repeat(1, self.lanes).contiguous()
            return self.tables[matrix].data_ptr()


@lru_cache
def kernels() -> Kernels:
    """Return the kernels of this processor. Raises OSError where it has none."""
    isa = instruction_set()
    if isa is None:
        raise OSError("no processor with AVX2 under Linux")
    return Kernels(isa)


class Forward:
    """y = conv(x, w) + bias with one tile size; or dx = conv(dy, w turned round), with the roles of channels changed.

    x and y are whole in memory as N, H, W, C; weights come as channels, r, r, filters, the first three in any order.
    """

    def __init__(self, shape: Shape, m: int, block: int, parts: int = 1) -> None:
        self.shape, self.m = shape, m
        code = self.kernels = kernels()
        a = self.a = m + shape.size - 1
        self.at, self.g, self.bt = (_floats(matrix) for matrix in matrices(m, shape.size))
        lanes = code.lanes
        self.panel = 2 * lanes
        self.c, self.k = up(shape.channels, lanes), up(shape.filters, lanes)
        tiles = self.tiles = Tiles(shape, m, block)
        panels = -(-self.k // self.panel)
        at_once = -(-panels // parts)
        # In parts the images are transformed once for each; whole, and with one block of tiles, each panel of the
        # filter is used once, and no more of it is made than a cache holds.
        self.is_split = parts > 1
        if len(tiles.starts) == 1 and not self.is_split:
            at_once = max(1, CACHED_FLOATS // (a * a * shape.channels * self.panel))
        self.groups = [range(at, min(at + at_once, panels)) for at in range(0, panels, at_once)]
        most = at_once * self.panel if self.is_split else up(self.k, self.panel)
        self.u_row, self.m_row = _row(self.c), _row(most)
        self.u_next = _apart(tiles.block * self.u_row)
        self.m_next = _apart(tiles.block * self.m_row)
        self.v_next = _apart(len(self.groups[0]) * shape.channels * self.panel)

        def into(rows: range, columns: range) -> Function:
            out = (a * self.u_next, self.u_next)
            return _transform(self.bt, rows, columns, (shape.width * self.c, self.c), (a, a), out, self.c)

        def out_of(has_bias: bool, channels: int) -> Callable[[range, range], Function]:
            def make(rows: range, columns: range) -> Function:
                size, out = (len(rows), len(columns)), (shape.out_width * self.k, self.k)
                given = (a * self.m_next, self.m_next)
                return _transform(self.at, range(a), range(a), given, size, out, channels, has_bias)

            return make

        self.inward = tiles.calls(into, a, shape.pad, (shape.height, shape.width), self.c, self.u_row, False)
        extent = (shape.out_height, shape.out_width)
        self.outward = {
            (biased, channels): tiles.calls(out_of(biased, channels), m, 0, extent, self.k, self.m_row, True)
            for channels in {self._channels(group) for group in self.rounds()}
            for biased in (False, True)
        }
        self.products = {
            (rows, self._channels(group)): self._product(rows, self._channels(group))
            for rows in {tiles.rows(start) for start in tiles.starts}
            for group in self.groups
        }
        self.filters: dict[tuple[int, ...], Filter] = {}
        self.floats = _sizes(a, self.u_next, self.v_next, self.m_next)

    def rounds(self) -> list[range]:
        """Panels of the filter that are gone through before the images are transformed again."""
        return self.groups if self.is_split else [range(self.groups[-1].stop)]

    def _channels(self, group: range) -> int:
        """Count the channels of the result that a group of panels makes."""
        return min(group.stop * self.panel, self.k) - group.start * self.panel

    def _product(self, rows: int, channels: int) -> Function:
        vectors = channels // self.kernels.lanes
        depth = self.shape.channels
        return self.kernels.product(
            Product(
                *(rows, depth, vectors, False),
                *_in_bytes(self.u_row, 1, self.u_next),
                *_in_bytes(self.panel, depth * self.panel, self.v_next, self.m_row, self.m_next),
            )
        )

    def run(self, x: int, w: int, strides: Strides, bias: int, y: int, space: Space, rounds: list[range]) -> None:
        """Addresses of the tensors; strides of w by row, column and channel; channels of x and y fill vectors, and
        behind w there is room for a panel. 0 stands for no bias. `rounds`: those of `rounds()` to run."""
        u, v, t = (part.data_ptr() for part in space)
        if strides not in self.filters:
            self.filters[strides] = Filter(self, strides)
        change = self.filters[strides]
        inward, outward = self.kernels.table(self.bt), self.kernels.table(self.at)
        for whole in rounds:
            groups = [whole] if self.is_split else self.groups
            column = whole.start * self.panel * FLOAT_BYTES
            out = self.outward[bool(bias), self._channels(whole)]
            for number, start in enumerate(self.tiles.starts):
                for code, address, count in self.inward[number]:
                    code.call(address, count, x, u, inward, 0)
                for group in groups:
                    if not number:
                        change.run(w, v, group)
                    at = t + (group.start - whole.start) * self.panel * FLOAT_BYTES
                    self.products[self.tiles.rows(start), self._channels(group)].call(u, v, at, self.a**2)
                for code, address, count in out[number]:
                    code.call(address, count, t, y + column, outward, bias and bias + column)


class Filter:
    """V = G w G', a panel of filters after the other."""

    def __init__(self, of: Forward, strides: tuple[int, int, int]) -> None:
        r, depth, panel = of.shape.size, of.shape.channels, of.panel
        self.table = of.kernels.table(of.g)
        self.code = _transform(
            of.g, range(r), range(r), strides[:2], (of.a, of.a), (of.a * of.v_next, of.v_next), panel
        )
        channel = torch.arange(depth)
        # The transform of a row with a negative stride begins at its last one.
        target = torch.arange(len(of.groups[0]))[:, None] * depth + channel
        source = torch.arange(len(of.groups[0]))[:, None] * panel + channel * strides[2]
        self.pairs = (torch.stack((source.flatten(), target.flatten() * panel), 1) * FLOAT_BYTES).contiguous()
        self.depth, self.panel_bytes = depth, panel * FLOAT_BYTES

    def run(self, w: int, v: int, group: range) -> None:
        """Run one group."""
        start = w + group.start * self.panel_bytes
        self.code.call(self.pairs.data_ptr(), len(group) * self.depth, start, v, self.table, 0)


class BackwardFilter:
    """dw from x and dy, both whole in memory as N, H, W, C; written as rows of filters, in any order of the rest."""

    def __init__(self, shape: Shape, m: int, block: int, strides: tuple[int, int, int], parts: int = 1) -> None:
        self.shape, self.m = shape, m
        code = self.kernels = kernels()
        a = self.a = m + shape.size - 1
        at, g, bt = matrices(m, shape.size)
        self.bt, self.a_matrix, self.gt = _floats(bt), _floats(_transposed(at)), _floats(_transposed(g))
        lanes = code.lanes
        self.c, self.k = up(shape.channels, lanes), up(shape.filters, lanes)
        tiles = self.tiles = Tiles(shape, m, block)
        self.is_split = parts > 1
        at_once = up(-(-shape.channels // parts), lanes)
        if len(tiles.starts) == 1 and not self.is_split:
            at_once = up(max(1, CACHED_FLOATS // (a * a * self.k)), ROWS[code.isa])
        self.groups = [
            range(first, min(first + at_once, shape.channels)) for first in range(0, shape.channels, at_once)
        ]
        most = at_once if self.is_split else self.c
        self.u_row, self.m_row = _row(most), _row(self.k)
        self.u_next = _apart(tiles.block * self.u_row)
        self.m_next = _apart(tiles.block * self.m_row)
        self.v_next = _apart(len(self.groups[0]) * self.k)

        def into(channels: int) -> Callable[[range, range], Function]:
            def make(rows: range, columns: range) -> Function:
                out = (a * self.u_next, self.u_next)
                return _transform(self.bt, rows, columns, (shape.width * self.c, self.c), (a, a), out, channels)

            return make

        def gradient(rows: range, columns: range) -> Function:
            given, out = (shape.out_width * self.k, self.k), (a * self.m_next, self.m_next)
            return _transform(self.a_matrix, rows, columns, given, (a, a), out, self.k)

        image = (shape.height, shape.width)
        self.inward = {
            channels: tiles.calls(into(channels), a, shape.pad, image, self.c, self.u_row, False)
            for channels in {self._channels(group) for group in self.rounds()}
        }
        extent = (shape.out_height, shape.out_width)
        self.gradient = tiles.calls(gradient, m, 0, extent, self.k, self.m_row, False)
        r = shape.size
        self.out = _transform(self.gt, range(a), range(a), (a * self.v_next, self.v_next), (r, r), strides[:2], self.k)
        channel = torch.arange(len(self.groups[0]))
        self.pairs = (torch.stack((channel * self.k, channel * strides[2]), 1) * FLOAT_BYTES).contiguous()
        self.step = strides[2] * FLOAT_BYTES
        self.floats = _sizes(a, self.u_next, self.v_next, self.m_next)

    def run(self, x: int, dy: int, dw: int, space: list[torch.Tensor], rounds: list[range]) -> None:
        """Addresses of the tensors; channels of all three fill vectors."""
        u, v, t = (part.data_ptr() for part in space)
        inward, gradient = self.kernels.table(self.bt), self.kernels.table(self.a_matrix)
        table = self.kernels.table(self.gt)
        last = len(self.tiles.starts) - 1
        for whole in rounds:
            groups = [whole] if self.is_split else self.groups
            for number, start in enumerate(self.tiles.starts):
                for code, address, count in self.inward[self._channels(whole)][number]:
                    code.call(address, count, x + whole.start * FLOAT_BYTES, u, inward, 0)
                for code, address, count in self.gradient[number]:
                    code.call(address, count, dy, t, gradient, 0)
                rows = self.tiles.rows(start)
                for group in groups:
                    at = u + (group.start - whole.start) * FLOAT_BYTES
                    self._product(len(group), rows, number > 0).call(at, t, v, self.a**2)
                    if number == last:
                        self.out.call(self.pairs.data_ptr(), len(group), v, dw + group.start * self.step, table, 0)

    def rounds(self) -> list[range]:
        """Channels of the input that are gone through before the tiles are transformed again."""
        return self.groups if self.is_split else [range(self.shape.channels)]

    def _channels(self, group: range) -> int:
        """Count the channels of the input, filled up to vectors."""
        return up(len(group), self.kernels.lanes)

    def _product(self, channels: int, tiles: int, adds: bool) -> Function:
        lanes = self.kernels.lanes
        return self.kernels.product(
            Product(
                *(channels, tiles, self.k // lanes, adds),
                *_in_bytes(1, self.u_row, self.u_next, self.m_row, 2 * lanes, self.m_next, self.k, self.v_next),
            )
        )


def _transform(
    matrix: tuple[tuple[float, ...], ...],
    rows: range,
    columns: range,
    given: tuple[int, int],
    size: tuple[int, int],
    out: tuple[int, int],
    channels: int,
    has_bias: bool = False,
) -> Function:
    """A transform with strides in floats."""
    code = kernels()
    lanes = code.lanes
    return code.transform(
        Transform(matrix, rows, columns, *size, channels // lanes, has_bias, *_in_bytes(*given, *out))
    )


def _in_bytes(*floats: int) -> Any:
    """A tuple."""
    return tuple(FLOAT_BYTES * value for value in floats)


def _sizes(a: int, *apart: int) -> list[int]:
    """Return the sizes of the workspace's parts: a * a matrices in each."""
    return [a * a * floats for floats in apart]


def _apart(floats: int) -> int:
    """At least `floats`, such that the same place of one matrix after the other is in other lines of a cache."""
    return up(floats, PAGE_FLOATS) + 16


def _row(floats: int) -> int:
    """The length of a row of tiles: not a multiple of what maps rows to the same lines of a cache."""
    return floats + 16 if floats % 512 == 0 else floats
