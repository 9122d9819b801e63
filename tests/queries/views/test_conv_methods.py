"""The models of a convolution reproduce the tables of the studies to the last printed digit (D: worked out there).

Sources: Kim et al. 2017 and its public slides for the layers and counts, Mathieu et al. for the FFT, Lavin and Gray for
Winograd, soumith/convnet-benchmarks (commit cff9dc3) for the measured FFT buffers that the formula stands beside.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from given import Given, conv, conv_backward, rows

# name, input C x H x W, filters, filter size, stride, padding
ALEXNET = [
    ("conv1", (3, 227, 227), 96, 11, 4, 0),
    ("conv2", (96, 27, 27), 256, 5, 1, 2),
    ("conv3", (256, 13, 13), 384, 3, 1, 1),
    ("conv4", (384, 13, 13), 384, 3, 1, 1),
    ("conv5", (384, 13, 13), 256, 3, 1, 1),
]
ONE_WEIRD_TRICK = [
    ("conv1", (3, 224, 224), 64, 11, 4, 2),
    ("conv2", (64, 27, 27), 192, 5, 1, 2),
    ("conv3", (192, 13, 13), 384, 3, 1, 1),
    ("conv4", (384, 13, 13), 256, 3, 1, 1),
    ("conv5", (256, 13, 13), 256, 3, 1, 1),
]
FULLY_CONNECTED = [("fc6", 9216, 4096), ("fc7", 4096, 4096), ("fc8", 4096, 1000)]


def net(layers: list[tuple[str, tuple[int, int, int], int, int, int, int]], batch: int) -> Given:
    given = Given()
    at = 0.0
    for name, (depth, height, width), filters, size, stride, padding in layers:
        given.span("module", name, at, at + 20)
        conv(given, at + 1, (batch, depth, height, width), (filters, depth, size, size), stride, padding)
        at += 20
    for name, inputs, outputs in FULLY_CONNECTED:
        given.span("module", name, at, at + 20)
        given.op("aten::addmm", at + 1, at + 11, [(outputs,), (batch, inputs), (inputs, outputs)])
        at += 20
    return given


@pytest.fixture(scope="module")
def batch_256(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    return net(ALEXNET, 256).open(tmp_path_factory.mktemp("alexnet"))


# Multiplications and additions of one image, and parameters with their biases.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "convolutions", "connected"),
    [
        (
            ALEXNET,
            [
                (105_415_200, 34_944),
                (447_897_600, 614_656),
                (149_520_384, 885_120),
                (224_280_576, 1_327_488),
                (149_520_384, 884_992),
            ],
            [(37_748_736, 37_752_832), (16_777_216, 16_781_312), (4_096_000, 4_097_000)],
        ),
        (
            ONE_WEIRD_TRICK,
            [
                (70_276_800, 23_296),
                (223_948_800, 307_392),
                (112_140_288, 663_936),
                (149_520_384, 884_992),
                (99_680_256, 590_080),
            ],
            [(37_748_736, 37_752_832), (16_777_216, 16_781_312), (4_096_000, 4_097_000)],
        ),
    ],
    ids=["ungrouped", "one weird trick"],
)
def test_flop_and_parameters_of_alexnet(layers, convolutions, connected, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    connection = net(layers, 1).open(tmp_path)
    found = rows(connection, "SELECT flop // 2, parameters FROM conv_shapes ORDER BY op_id")
    linear = rows(connection, "SELECT flop // 2, parameters FROM matmul_shapes ORDER BY op_id")
    assert found == convolutions
    assert linear == connected


@pytest.mark.slow
def test_totals_of_alexnet(tmp_path: Path) -> None:
    connection = net(ALEXNET, 1).open(tmp_path)
    union = "SELECT flop, parameters FROM conv_shapes UNION ALL SELECT flop, parameters FROM matmul_shapes"
    flop, parameters = rows(connection, f"SELECT sum(flop), sum(parameters) FROM ({union})")[0]
    assert (flop // 2, parameters) == (1_135_256_096, 62_378_344)
    assert f"{256 * flop / 1e9:.1f}" == "581.3"
    assert f"{rows(connection, 'SELECT sum(flop) FROM conv_shapes')[0][0] / 1e9:.4f}" == "2.1533"


@pytest.mark.long
def test_totals_of_one_weird_trick(tmp_path: Path) -> None:
    connection = net(ONE_WEIRD_TRICK, 1).open(tmp_path)
    union = "SELECT flop, parameters FROM conv_shapes UNION ALL SELECT flop, parameters FROM matmul_shapes"
    flop, parameters = rows(connection, f"SELECT sum(flop), sum(parameters) FROM ({union})")[0]
    assert (flop // 2, parameters) == (714_188_480, 61_100_840)
    assert f"{flop / 1e9:.4f}" == "1.4284"


def table(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str, ...]]:
    """Rows of a query as printed: text stays, a number comes with the decimals that stand beside it."""
    return [tuple("-" if value is None else value for value in row) for row in rows(connection, query)]


METHODS = """SELECT o.layer,
    printf('%.2f', any_value(direct_flop) / 1e9),
    printf('%.1f', max(workspace_bytes) FILTER (method = 'explicit GEMM') / 1e6),
    printf('%.2f', max(workspace_bytes) FILTER (method = 'explicit GEMM') / 256e6),
    printf('%.2f (%.2f)', max(total_flop) FILTER (method = {small}) / 1e9, max(direct_ratio) FILTER (method = {small})),
    printf('%.2f (%.2f)', max(total_flop) FILTER (method = {large}) / 1e9, max(direct_ratio) FILTER (method = {large})),
    printf('%.2f, n=%d (%.2f)', max(total_flop) FILTER (method = 'FFT') / 1e9,
        max(fft_size) FILTER (method = 'FFT'), max(direct_ratio) FILTER (method = 'FFT')),
    printf('%.1f', max(workspace_bytes) FILTER (method = 'FFT') / 1e6)
FROM conv_methods m JOIN ops o ON o.id = m.op_id WHERE m.direction = 'fprop' GROUP BY o.layer ORDER BY o.layer"""


@pytest.mark.slow
def test_methods_of_alexnet_with_256_images(batch_256: duckdb.DuckDBPyConnection) -> None:
    query = METHODS.format(
        small="if(o.layer = 'conv2', 'Winograd F(2x2,5x5)', 'Winograd F(2x2,3x3)')", large="'Winograd F(4x4,3x3)'"
    )
    assert table(batch_256, query) == [
        ("conv1", "53.97", "1124.4", "4.39", "-", "-", "-", "-"),
        ("conv2", "229.32", "1791.6", "7.00", "88.79 (2.58)", "-", "28.71, n=32 (7.99)", "484.4"),
        ("conv3", "76.55", "398.7", "1.56", "39.68 (1.93)", "29.31 (2.61)", "27.11, n=16 (2.82)", "285.2"),
        ("conv4", "114.83", "598.1", "2.34", "59.46 (1.93)", "43.88 (2.62)", "40.42, n=16 (2.84)", "374.3"),
        ("conv5", "76.55", "598.1", "2.34", "39.69 (1.93)", "29.33 (2.61)", "27.11, n=16 (2.82)", "285.2"),
    ]


@pytest.mark.slow
def test_intensity_of_alexnet_with_256_images(tmp_path: Path) -> None:
    given = net(ALEXNET, 256)
    for position in range(5):
        given.kernel("implicit_convolve_sgemm<float>", 20 * position + 5, 20 * position + 6, launched=20 * position + 3)
    connection = given.open(tmp_path)
    found = rows(connection, "SELECT round(direct_flop_per_byte) FROM conv_costs ORDER BY op_id")
    assert found == [(118.0,), (865.0,), (670.0,), (831.0,), (670.0,)]
    gemm = rows(connection, "SELECT gemm_m, gemm_n, gemm_k FROM conv_costs ORDER BY op_id LIMIT 1")
    assert gemm == [(96, 256 * 55 * 55, 3 * 11 * 11)]


@pytest.mark.long
def test_fft_buffers_beside_the_measured_ones(tmp_path: Path) -> None:
    connection = net(ONE_WEIRD_TRICK, 128).open(tmp_path)
    query = """SELECT o.layer, fft_size, printf('%.1f', workspace_bytes / 1e6)
        FROM conv_methods m JOIN ops o ON o.id = m.op_id WHERE method = 'FFT' AND m.direction = 'fprop' ORDER BY 1"""
    assert rows(connection, query) == [
        ("conv2", 32, "190.3"),
        ("conv3", 16, "160.4"),
        ("conv4", 16, "196.1"),
        ("conv5", 16, "142.6"),
    ]


def test_every_direction_has_the_same_direct_count(tmp_path: Path) -> None:
    given = Given()
    conv_backward(given, 0, (2, 8, 14, 14), (4, 8, 3, 3), (2, 4, 7, 7), stride=2, padding=1)
    query = "SELECT DISTINCT direction, direct_flop FROM conv_methods WHERE method = 'direct' ORDER BY ALL"
    flop = 2 * 2 * 4 * 8 * 9 * 49
    assert rows(given.open(tmp_path), query) == [("dgrad", flop), ("fprop", flop), ("wgrad", flop)]


@pytest.mark.long
def test_a_stride_leaves_no_choice(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (2, 8, 14, 14), (4, 8, 3, 3), stride=2, padding=1)
    query = "SELECT DISTINCT method FROM conv_methods ORDER BY 1"
    assert rows(given.open(tmp_path), query) == [("direct",), ("explicit GEMM",)]


@pytest.mark.long
def test_a_1x1_filter_needs_no_copy_of_its_input(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, (2, 8, 14, 14), (4, 8, 1, 1))
    query = "SELECT DISTINCT workspace_bytes FROM conv_methods WHERE method = 'explicit GEMM'"
    assert rows(given.open(tmp_path), query) == [(0,)]
