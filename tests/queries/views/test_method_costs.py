"""The model of every method, for whatever shape: its formulas by hand, and what only one library has."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from cases import first
from given import Given, conv, rows

X, FILTERS = (4, 64, 27, 27), 96


def asked(tmp_path: Path, size: int, stride: int = 1, padding: int = 2) -> duckdb.DuckDBPyConnection:
    given = Given()
    conv(given, 0, X, (FILTERS, X[1], size, size), stride, padding)
    return given.open(tmp_path)


def test_what_only_one_library_has_is_not_offered_to_others(tmp_path: Path) -> None:
    connection = asked(tmp_path, 5)
    found = dict(rows(connection, "SELECT method, library FROM method_costs WHERE direction = 'fprop'"))
    assert found["Winograd F(4x4,5x5)"] == "torch operators" and found["FFT in tiles of 16"] == "NNPACK"
    general = {method for method, library in found.items() if library is None}
    assert general == {"direct", "explicit GEMM", "FFT", "Winograd F(2x2,5x5)", "Winograd F(5x5,5x5)"}
    offered = rows(connection, "SELECT DISTINCT method FROM conv_methods WHERE direction = 'fprop'")
    assert {method for (method,) in offered} == general


def test_products_of_a_tile_with_the_waste_at_the_edge(tmp_path: Path) -> None:
    """27 outputs need 7 tiles of 4: 784 positions are computed where 729 are wanted."""
    query = """SELECT tiles, products_flop, waste_pct FROM method_costs
        WHERE direction = 'fprop' AND method = 'Winograd F(4x4,5x5)'"""
    ((tiles, products, waste),) = rows(asked(tmp_path, 5), query)
    assert (tiles, products) == (49, 2 * X[0] * 49 * 64 * X[1] * FILTERS)
    assert waste == pytest.approx(100 * (1 - 27 * 27 / (49 * 16)))


@pytest.mark.slow
@pytest.mark.parametrize("method", first(1, ["FFT", "direct"]))
def test_the_fft_costs_the_same_for_every_filter(tmp_path: Path, method: str) -> None:
    """With the padding that keeps the output's size, and one transform of 32 x 32."""
    query = f"SELECT total_flop FROM method_costs WHERE direction = 'fprop' AND method = '{method}'"
    found = [rows(asked(tmp_path / str(size), size, padding=size // 2), query)[0][0] for size in (3, 5)]
    assert found[0] == found[1] if method == "FFT" else found[1] == pytest.approx(found[0] * 25 / 9)


@pytest.mark.parametrize(
    ("direction", "product"),
    first(1, [("fprop", (96, 4 * 14 * 14, 576)), ("dgrad", (576, 4 * 14 * 14, 96)), ("wgrad", (96, 576, 4 * 14 * 14))]),
)
def test_the_matrix_product_of_each_direction(tmp_path: Path, direction: str, product: tuple[int, ...]) -> None:
    connection = asked(tmp_path, 3, stride=2, padding=1)
    query = f"SELECT DISTINCT gemm_m, gemm_n, gemm_k FROM method_costs WHERE direction = '{direction}'"
    assert rows(connection, query) == [product]
    ((flop, unrolled),) = rows(
        connection,
        f"""SELECT direct_flop, workspace_bytes FROM method_costs
        WHERE direction = '{direction}' AND method = 'explicit GEMM'""",
    )
    assert flop == 2 * product[0] * product[1] * product[2]
    assert unrolled == 4 * 4 * 64 * 3 * 3 * 14 * 14
