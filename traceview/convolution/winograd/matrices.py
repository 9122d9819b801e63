"""Matrices of Winograd convolution: those of F(m, r), exact, and the sizes of a convolution of stride 1.

    y = A' [ (G w) . (B' x) ]      for m outputs in a row, a filter of r and m + r - 1 inputs

The construction is Cook's and Toom's: polynomials are multiplied through their values at m + r - 2 points and infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

POINTS = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))
"""Small, and in opposite pairs: rounding errors grow with them, and pairs share sums."""


@lru_cache
def matrices(m: int, r: int) -> tuple[list[list[Fraction]], list[list[Fraction]], list[list[Fraction]]]:
    """A' (m x a), G (a x r) and B' (a x a) with a = m + r - 1, of the one-dimensional F(m, r)."""
    n = m + r - 2
    points = [Fraction(point) for point in POINTS[:n]]
    scale = [math.prod((p - q for q in points if q != p), start=Fraction(1)) for p in points]
    last = [Fraction(0)] * n + [Fraction(1)]
    a = [[point**row for point in points] + [Fraction(row == m - 1)] for row in range(m)]
    g = [[point**column / factor for column in range(r)] for point, factor in zip(points, scale)]
    g.append([Fraction(column == r - 1) for column in range(r)])
    b = []
    for skipped in (*points, None):
        polynomial = [Fraction(1)]
        for point in points:
            if point != skipped:
                polynomial = [
                    low - point * high for low, high in zip([Fraction(0), *polynomial], [*polynomial, Fraction(0)])
                ]
        b.append(polynomial + [Fraction(0)] * (len(last) - len(polynomial)))
    return a, g, b


@dataclass(frozen=True)
class Shape:
    """A convolution of stride 1: N images of height x width x channels, `filters` of size x size, padding."""

    images: int
    channels: int
    height: int
    width: int
    filters: int
    size: int
    pad: int

    @property
    def out_height(self) -> int:
        return self.height + 2 * self.pad - self.size + 1

    @property
    def out_width(self) -> int:
        return self.width + 2 * self.pad - self.size + 1
