"""The two kernels of the fused Winograd convolution, as machine code: many small matrix products, and tile transforms.

Strides, sizes and matrices are constants of the code, so each shape has code of its own; making it takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .machine_code import R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBX, RCX, RDI, RDX, RSI, Code, Function

ROWS = {"avx512": 14, "avx2": 6}
"""Rows of a product whose sums stay in registers, two vectors wide."""
UNROLLED = 4


@dataclass(frozen=True)
class Product:
    """C = A B for a row of matrices; strides in bytes. B's columns come in panels of two vectors."""

    rows: int
    depth: int
    vectors: int
    """Number of vectors of columns of B and C."""
    adds: bool
    """C += A B."""
    a_row: int
    a_depth: int
    a_next: int
    b_depth: int
    b_panel: int
    b_next: int
    c_row: int
    c_next: int


def product(isa: str, p: Product) -> Function:
    """A function of the addresses of A, B and C and of the number of matrices."""
    code = Code(isa)
    code.enter()

    def matrix() -> None:
        code.move(R12, RSI)
        code.move(R13, RDX)
        panels, single = divmod(p.vectors, 2)
        if panels:
            code.constant(RBX, panels)
            code.repeat(RBX, lambda: _panel(code, p, 2))
        if single:
            _panel(code, p, 1)
        for register, step in ((RDI, p.a_next), (RSI, p.b_next), (RDX, p.c_next)):
            code.advance(register, step)

    code.repeat(RCX, matrix)
    code.leave()
    return code.finish(4)


def _panel(code: Code, p: Product, width: int) -> None:
    """All rows of one panel, in blocks of nearly the same height."""
    code.move(R14, RDI)
    code.move(R15, R13)
    blocks = -(-p.rows // ROWS[code.isa])
    low, more = divmod(p.rows, blocks)
    for height, count in ((low + 1, more), (low, blocks - more)):
        if count and height:
            code.constant(R9, count)
            code.repeat(R9, lambda height=height: _block(code, p, height, width))  # type: ignore[misc]
    code.advance(R12, p.b_panel)
    code.advance(R13, width * code.vector_bytes)


def _block(code: Code, p: Product, height: int, width: int) -> None:
    """`height` rows by `width` vectors of C."""
    sums = [[row * width + v for v in range(width)] for row in range(height)]
    columns = [height * width + v for v in range(width)]
    spare = [*range(columns[-1] + 1, code.registers)][:2]
    for row in range(height):
        for v, register in enumerate(sums[row]):
            if p.adds:
                code.load(register, R15, row * p.c_row + v * code.vector_bytes)
            else:
                code.zero(register)
    code.move(RAX, R14)
    code.move(R10, R12)

    def steps(count: int) -> None:
        for step in range(count):
            for v, register in enumerate(columns):
                code.load(register, R10, step * p.b_depth + v * code.vector_bytes)
            for row in range(height):
                one = spare[row % len(spare)]
                code.broadcast(one, RAX, row * p.a_row + step * p.a_depth)
                for v, register in enumerate(sums[row]):
                    code.multiply_add(register, one, columns[v])
        code.advance(RAX, count * p.a_depth)
        code.advance(R10, count * p.b_depth)

    if p.depth >= UNROLLED:
        code.constant(R11, p.depth // UNROLLED)
        code.repeat(R11, lambda: steps(UNROLLED))
    if p.depth % UNROLLED:
        steps(p.depth % UNROLLED)
    for row in range(height):
        for v, register in enumerate(sums[row]):
            code.store(register, R15, row * p.c_row + v * code.vector_bytes)
    code.advance(R14, height * p.a_row)
    code.advance(R15, height * p.c_row)


Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Transform:
    """Y = M X M' for many tiles, every channel by itself; strides in bytes.

    Of the tile X only the given rows and columns are read, the others are 0 (an image's border); of Y only those rows
    and columns are written that the image has.
    """

    matrix: tuple[tuple[float, ...], ...]
    """M, rows by columns."""
    rows: range
    columns: range
    out_rows: int
    out_columns: int
    vectors: int
    """Number of vectors of channels in a row of the tile."""
    has_bias: bool
    in_row: int
    in_column: int
    out_row: int
    out_column: int


def constants(matrix: Matrix) -> list[float]:
    """The numbers that the code multiplies by, in the order of its table."""
    return sorted({abs(value) for row in matrix for value in row} - {0.0, 1.0})


def transform(isa: str, t: Transform) -> Function:
    """A function of: pairs of offsets of X and Y, their number, addresses of X, Y, the table of constants (a vector
    each), and the bias."""
    code = Code(isa)
    size = code.vector_bytes
    table = {value: (R8, number * size) for number, value in enumerate(constants(t.matrix))}
    width = len(t.matrix[0])
    code.enter(t.out_rows * width * size)

    def vector() -> None:
        for column in t.columns:
            for register, row in enumerate(t.rows):
                code.load(register, RAX, row * t.in_row + column * t.in_column)
            _apply(
                code,
                [[row[index] for index in t.rows] for row in t.matrix[: t.out_rows]],
                table,
                lambda row, value, column=column: code.store(value, RBX, (row * width + column) * size),  # type: ignore[misc]
            )
        for row in range(t.out_rows):
            for register, column in enumerate(t.columns):
                code.load(register, RBX, (row * width + column) * size)

            def done(column: int, value: int, row: int = row) -> None:
                if t.has_bias:
                    code.add(value, value, (R12, 0))
                code.store(value, R10, row * t.out_row + column * t.out_column)

            _apply(code, [[line[index] for index in t.columns] for line in t.matrix[: t.out_columns]], table, done)
        for register in (RAX, R10, R12):
            code.advance(register, size)

    def tile() -> None:
        code.read(RAX, RDI, 0)
        code.advance_by(RAX, RDX)
        code.read(R10, RDI, 8)
        code.advance_by(R10, RCX)
        code.move(R12, R9)
        code.constant(R11, t.vectors)
        code.repeat(R11, vector)
        code.advance(RDI, 16)

    code.repeat(RSI, tile)
    code.leave()
    return code.finish(6)


def _apply(code: Code, matrix: Matrix, table: dict[float, tuple[int, int]], done: Callable[[int, int], None]) -> None:
    """The products of the rows of `matrix` and of registers 0, 1 ...; `done(row, register)` takes each.

    Rows of opposite points, which agree but for signs, share their sums: one is even + odd, the other even - odd.
    """
    first = len(matrix[0])
    row = 0
    while row < len(matrix):
        here = matrix[row]
        there = matrix[row + 1] if row + 1 < len(matrix) else None
        if there is not None and [abs(v) for v in here] == [abs(v) for v in there]:
            even = [v if v == w else 0.0 for v, w in zip(here, there)]
            opposite = [v if v != w else 0.0 for v, w in zip(here, there)]
            if sum(map(bool, even)) and sum(map(bool, opposite)):
                _sum(code, even, table, first)
                _sum(code, opposite, table, first + 1)
                code.add(first + 2, first, first + 1)
                done(row, first + 2)
                code.subtract(first, first, first + 1)
                done(row + 1, first)
                row += 2
                continue
        _sum(code, here, table, first)
        done(row, first)
        row += 1


def _sum(code: Code, factors: Sequence[float], table: dict[float, tuple[int, int]], to: int) -> None:
    """to = the sum of factors times registers 0, 1 ..."""
    scaled = [(index, value) for index, value in enumerate(factors) if abs(value) not in (0.0, 1.0)]
    plain = [(index, value) for index, value in enumerate(factors) if abs(value) == 1.0]
    plain.sort(key=lambda term: -term[1])
    is_empty = True
    # Negative factors: the table has positive ones, so what they multiply is taken off.
    for index, value in sorted(scaled, key=lambda term: -term[1]):
        if is_empty and value > 0:
            code.multiply(to, index, table[value])
        elif is_empty:
            code.zero(to)
            code.multiply_subtract(to, index, table[-value])
        elif value > 0:
            code.multiply_add(to, index, table[value])
        else:
            code.multiply_subtract(to, index, table[-value])
        is_empty = False
    if is_empty and len(plain) > 1 and plain[0][1] > 0:
        (one, _), (other, sign) = plain[:2]
        (code.add if sign > 0 else code.subtract)(to, one, other)
        plain, is_empty = plain[2:], False
    if is_empty:
        code.zero(to)
    for index, value in plain:
        (code.add if value > 0 else code.subtract)(to, to, index)
