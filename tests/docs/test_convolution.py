"""docs/convolution.md: its formulas are those of the queries, and its algorithms give what its definition says."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from given import Given, conv, rows

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/convolution.md").read_text(encoding="utf-8")
FACTS = tomllib.loads((ROOT / "traceview/classify/algorithms.toml").read_text(encoding="utf-8"))
Array = np.ndarray[Any, np.dtype[np.float64]]


def block(name: str) -> list[str]:
    """The lines of one fenced block of the page."""
    found = re.search(rf"(?ms)^```{name}\n(.*?)^```", PAGE)
    assert found
    return [line for line in found[1].splitlines() if line]


def table(first: str) -> list[list[str]]:
    """The cells of the table whose header begins so, without it."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def worked_out(lines: list[str], values: dict[str, Any]) -> dict[str, Any]:
    """Evaluate formulas for these values."""
    names = {"ceil": math.ceil, "log2": math.log2, "max": max, **values}
    for line in lines:
        name, _, formula = line.partition(" = ")
        if name.startswith("winograd") and "m" not in values:
            continue
        names[name] = eval(formula, {"__builtins__": {}}, names)
    return names


def pad_of(x: Array, pad: int) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))


def fprop(x: Array, w: Array, stride: int = 1, pad: int = 0, dilation: int = 1) -> Array:
    """The definition of the page, as it stands there."""
    (images, channels, height, width), (filters, _, taps_h, taps_w) = x.shape, w.shape
    out_h = (height + 2 * pad - dilation * (taps_h - 1) - 1) // stride + 1
    out_w = (width + 2 * pad - dilation * (taps_w - 1) - 1) // stride + 1
    y = np.zeros((images, filters, out_h, out_w))
    for i, k, p, q in itertools.product(*map(range, y.shape)):
        for c, r, s in itertools.product(range(channels), range(taps_h), range(taps_w)):
            at_h, at_w = p * stride + r * dilation - pad, q * stride + s * dilation - pad
            if 0 <= at_h < height and 0 <= at_w < width:
                y[i, k, p, q] += w[k, c, r, s] * x[i, c, at_h, at_w]
    return y


@pytest.fixture
def numbers() -> np.random.Generator:
    return np.random.default_rng(7)


def windows(x: Array, taps: int, stride: int) -> Array:
    """Every window of every image: images, channels, positions, taps."""
    seen = np.lib.stride_tricks.sliding_window_view(x, (taps, taps), axis=(2, 3))
    return np.asarray(seen[:, :, ::stride, ::stride])


@pytest.mark.parametrize(("stride", "pad"), [(1, 0), (2, 1), (1, 2)])
def test_im2col_and_a_matrix_product_are_the_definition(numbers: np.random.Generator, stride: int, pad: int) -> None:
    x, w = numbers.standard_normal((2, 3, 9, 8)), numbers.standard_normal((4, 3, 3, 3))
    seen = windows(pad_of(x, pad), 3, stride)
    unrolled = seen.transpose(1, 4, 5, 0, 2, 3).reshape(3 * 3 * 3, -1)
    product = w.reshape(4, -1) @ unrolled
    expected = fprop(x, w, stride, pad)
    assert np.allclose(product.reshape(4, 2, *expected.shape[2:]).transpose(1, 0, 2, 3), expected, atol=1e-12)
    values = {"N": 2, "C": 3, "K": 4, "R": 3, "S": 3, "H": 9, "W": 8, "P": expected.shape[2], "Q": expected.shape[3]}
    said = worked_out(block("formulas"), {**values, "pad": pad})
    assert (4, said["gemm_k"]) == w.reshape(4, -1).shape and unrolled.shape == (said["gemm_k"], said["gemm_n"])
    assert said["im2col_bytes"] == 4 * unrolled.size


@pytest.mark.parametrize("size", [3, 5])
def test_products_of_transforms_are_the_definition(numbers: np.random.Generator, size: int) -> None:
    x, w = numbers.standard_normal((2, 3, 11, 10)), numbers.standard_normal((4, 3, size, size))
    pad = size // 2
    values = {"N": 2, "C": 3, "K": 4, "R": size, "S": size, "H": 11, "W": 10, "P": 11, "Q": 10, "pad": pad}
    side = worked_out(block("formulas"), values)["fft_n"]
    assert side == 16
    there = np.fft.rfft2(pad_of(x, pad), (side, side))
    product = np.einsum("ncij,kcij->nkij", there, np.conj(np.fft.rfft2(w, (side, side))))
    y = np.fft.irfft2(product, (side, side))[:, :, :11, :10]
    assert np.allclose(y, fprop(x, w, 1, pad), atol=1e-12)


def matrices(name: str) -> tuple[Array, Array, Array]:
    """B', G and A' as they stand on the page."""
    found = {}
    for line in block("matrices"):
        key, _, cells = line.partition(" = ")
        found[key] = np.array([[float(Fraction(cell)) for cell in row.split()] for row in cells.split("|")])
    return found[f"{name} B'"], found[f"{name} G"], found[f"{name} A'"]


@pytest.mark.parametrize("m", [2, 4])
def test_winograd_is_the_definition(numbers: np.random.Generator, m: int) -> None:
    """With 13 x 13 outputs: tiles at the edge compute more than is wanted."""
    b, g, a = matrices(f"F({m},3)")
    x, w = numbers.standard_normal((2, 3, 13, 13)), numbers.standard_normal((4, 3, 3, 3))
    tiles = math.ceil(13 / m)
    more = m * tiles + 2 - 15
    padded = np.pad(pad_of(x, 1), ((0, 0), (0, 0), (0, more), (0, more)))
    seen = windows(padded, m + 2, m)
    data = np.einsum("ai,nctuij,bj->nctuab", b, seen, b)
    filters = np.einsum("ai,kcij,bj->kcab", g, w, g)
    products = np.einsum("nctuab,kcab->nktuab", data, filters)
    y = np.einsum("pa,nktuab,qb->nktpuq", a, products, a).reshape(2, 4, m * tiles, m * tiles)[:, :, :13, :13]
    assert np.max(np.abs(y - fprop(x, w, 1, 1))) < 1e-12 * m**3
    said = worked_out(
        block("formulas"),
        {"N": 2, "C": 3, "K": 4, "R": 3, "S": 3, "H": 13, "W": 13, "P": 13, "Q": 13, "pad": 1, "m": m}
        | {"data": 0, "filter": 0, "output": 0},
    )
    # What was stored: transformed data, products and filters.
    assert said["winograd_bytes"] == 4 * (data.size + products.size + filters.size)
    assert said["winograd_products_flop"] == 2 * products.size * 3


def test_the_four_products_of_two_outputs(numbers: np.random.Generator) -> None:
    d, g = numbers.standard_normal(4), numbers.standard_normal(3)
    values = {f"d{i}": d[i] for i in range(4)} | {f"g{i}": g[i] for i in range(3)}
    said = worked_out(block("winograd"), values)
    error = max(abs(said[f"y{at}"] - sum(d[at + tap] * g[tap] for tap in range(3))) for at in range(2))
    assert error < 1e-15
    b, transform, a = matrices("F(2,3)")
    assert np.allclose(a @ ((transform @ g) * (b @ d)), [said["y0"], said["y1"]], atol=1e-15)


def test_gradients_are_what_the_pass_is_linear_in(numbers: np.random.Generator) -> None:
    """By the definition of the page alone: dgrad and wgrad through the same sums, and the identity."""
    x, w = numbers.standard_normal((2, 3, 8, 7)), numbers.standard_normal((4, 3, 3, 3))
    y = fprop(x, w, 1, 1)
    dy = numbers.standard_normal(y.shape)
    # At stride 1 the gradient of the input is a forward pass with flipped filters, padded with what is left of them.
    dgrad = fprop(dy, w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3), 1, 3 - 1 - 1)
    wgrad = fprop(x.transpose(1, 0, 2, 3), dy.transpose(1, 0, 2, 3), 1, 1).transpose(1, 0, 2, 3)
    assert dgrad.shape == x.shape and wgrad.shape == w.shape
    assert np.sum(dy * y) == pytest.approx(np.sum(dgrad * x)) == pytest.approx(np.sum(wgrad * w))


SHAPES = [
    ((4, 64, 27, 27), 96, 5, 1, 2),
    ((8, 256, 13, 13), 384, 3, 1, 1),
    ((2, 16, 60, 50), 24, 3, 1, 1),
    ((2, 3, 227, 227), 96, 11, 4, 0),
]


@pytest.mark.parametrize("direction", ["fprop", "dgrad", "wgrad"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_queries_compute_the_formulas(shape: Any, direction: str, tmp_path: Path) -> None:
    (n, c, h, w), k, size, stride, pad = shape
    given = Given()
    conv(given, 0, (n, c, h, w), (k, c, size, size), stride, pad)
    columns = "method, products_flop, transform_flop, workspace_bytes, fft_size, tiles, waste_pct, direct_flop"
    query = f"SELECT {columns}, gemm_m, gemm_n, gemm_k FROM method_costs WHERE direction = '{direction}'"
    found = {row[0]: row[1:] for row in rows(given.open(tmp_path), query)}
    out_h, out_w = ((side + 2 * pad - size) // stride + 1 for side in (h, w))
    values = {"N": n, "C": c, "K": k, "R": size, "S": size, "H": h, "W": w, "P": out_h, "Q": out_w, "pad": pad}
    said = worked_out(block("formulas"), values)
    assert found["direct"][:3] == (said["direct_flop"], 0, 0)
    assert found["explicit GEMM"][2] == said["im2col_bytes"]
    product = [said["gemm_m"], said["gemm_n"], said["gemm_k"]]
    exchanged = {"fprop": (0, 1, 2), "dgrad": (2, 1, 0), "wgrad": (0, 2, 1)}[direction]
    assert list(found["direct"][7:]) == [product[place] for place in exchanged]
    if stride > 1:
        assert set(found) == {"direct", "explicit GEMM"}
        return
    assert found["FFT"][:4] == pytest.approx(
        (said["fft_products_flop"], said["fft_transform_flop"], said["fft_bytes"], said["fft_n"])
    )
    # In the gradient of the input, tiles cover the input.
    tiled = {**values, "P": h, "Q": w} if direction == "dgrad" else values
    if "FFT in tiles" in found:
        said = worked_out(block("formulas"), tiled)
        row = found["FFT in tiles"]
        assert (row[0], row[2], row[4]) == (
            said["tiled_fft_products_flop"], said["tiled_fft_bytes"], said["tiled_fft_t"],
        )  # fmt: skip
    counted = {tile["method"]: tile for tile in FACTS["tile"] if tile["filter"] == size}
    assert counted and counted.keys() <= found.keys()
    for method, tile in counted.items():
        flops = {name: tile.get(f"{name}_flop", 0) for name in ("data", "filter", "output")}
        said = worked_out(block("formulas"), {**tiled, "m": tile["m"], **flops})
        row = found[method]
        memory = said["winograd_fused_bytes" if tile.get("fused") else "winograd_bytes"]
        assert (row[0], row[2], row[4]) == (said["winograd_products_flop"], memory, said["winograd_t"])
        assert row[1] == (said["winograd_transform_flop"] if "data_flop" in tile else None)
        assert row[5] == pytest.approx(said["winograd_waste_pct"])


def test_large_images_are_transformed_in_tiles(tmp_path: Path) -> None:
    """One of the shapes above has them, so that the formulas of tiles were checked."""
    given = Given()
    conv(given, 0, (2, 16, 60, 50), (24, 16, 3, 3), 1, 1)
    query = "SELECT tiles FROM method_costs WHERE direction = 'fprop' AND method = 'FFT in tiles'"
    assert rows(given.open(tmp_path), query) == [(4,)]


def test_the_table_of_tiles() -> None:
    facts = {tile["method"].removeprefix("Winograd "): tile for tile in FACTS["tile"] if not tile.get("fused")}
    found = table("tile")
    assert {row[0] for row in found} == facts.keys()
    for name, fewer, *flops in found:
        tile = facts[name]
        assert fewer == f"{(tile['m'] * tile['filter'] / tile['a']) ** 2:.2f}"
        counts = [str(tile.get(f"{part}_flop", "not counted")) for part in ("data", "filter", "output")]
        assert flops == counts


@pytest.mark.parametrize(("m", "per_vector"), [(2, (4, 4, 4)), (4, (12, 8, 10))])
def test_operations_of_the_transforms(m: int, per_vector: tuple[int, int, int]) -> None:
    """A vector of nested transforms is a column of the input, or a row of the transformed columns."""
    b, g, a = matrices(f"F({m},3)")
    (tile,) = [t for t in FACTS["tile"] if (t["m"], t["filter"]) == (m, 3) and not t.get("fused")]
    vectors = [matrix.shape[0] + matrix.shape[1] for matrix in (b, g, a)]
    counted = [each * many for each, many in zip(per_vector, vectors, strict=True)]
    assert counted == [tile["data_flop"], tile["filter_flop"], tile["output_flop"]]
    if m == 2:
        # One addition less than there are entries in a row; for the filter terms are shared.
        assert [int(np.sum(np.count_nonzero(matrix, axis=1) - 1)) for matrix in (b, a)] == [4, 4]


def test_conditions_are_those_of_the_rules() -> None:
    found = {row[0]: row[1:] for row in table("algorithm")}
    assert list(found) == [entry["name"] for entry in FACTS["algorithm"]]
    for entry in FACTS["algorithm"]:
        filters = ", ".join(map(str, entry.get("filters", []))) or (
            f"up to {entry['filter_max']}" if "filter_max" in entry else "any"
        )
        assert found[entry["name"]] == [
            ", ".join(entry["directions"]), str(entry.get("stride_max", "any")), filters,
            str(entry.get("padded_max", "any")), "yes" if entry.get("padding_below_filter") else "-", entry["memory"],
            entry["since"],
        ]  # fmt: skip


def test_the_exponents_and_the_frameworks() -> None:
    assert f"O(n^{math.log2(7):.3f}) (log2 of 7)" in PAGE
    found = {row[0]: row[2] for row in table("framework")}
    assert found["Theano"] == "none" and found["Caffe"] == "data parallel" and len(found) == 5
