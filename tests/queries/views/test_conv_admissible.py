"""Which algorithms a convolution could use, and how often the first choice is what was measured to be fastest."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import shapes
from given import Given, conv, rows

pytestmark = pytest.mark.slow

ALEXNET = {
    "conv1": ((16, 3, 227, 227), (96, 3, 11, 11), 4, 0),
    "conv2": ((16, 96, 27, 27), (256, 96, 5, 5), 1, 2),
    "conv3": ((16, 256, 13, 13), (384, 256, 3, 3), 1, 1),
}
GEMMS = {"implicit_gemm", "implicit_precomp_gemm", "explicit_gemm"}
FFTS = {"fft", "fft_tiling"}


def one(
    tmp_path: Path, x: tuple[int, ...], w: tuple[int, ...], stride: int = 1, padding: int | tuple[int, ...] = 0
) -> duckdb.DuckDBPyConnection:
    given = Given()
    conv(given, 0, x, w, stride, padding)
    given.kernel("implicit_convolve_sgemm", 20, 30, launched=1)
    return given.open(tmp_path)


@pytest.fixture(scope="module")
def alexnet(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Any, ...]]]:
    """Algorithm, whether it is admissible, why not, and its workspace, by layer."""
    given = Given()
    for number, layer in enumerate(ALEXNET.values()):
        conv(given, 100 * number, *layer)
        given.kernel("implicit_convolve_sgemm", 100 * number + 20, 100 * number + 30, launched=100 * number + 1)
    query = "SELECT algorithm, is_admissible, reasons, workspace_bytes, op_id FROM conv_admissible ORDER BY op_id"
    found = rows(given.open(tmp_path_factory.mktemp("alexnet")), query)
    calls = dict(zip(sorted({row[-1] for row in found}), ALEXNET, strict=True))
    return {layer: [row[:-1] for row in found if calls[row[-1]] == layer] for layer in ALEXNET}


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("conv1", GEMMS),
        ("conv2", GEMMS | FFTS | {"winograd_nonfused"}),
        ("conv3", GEMMS | FFTS | {"winograd", "winograd_nonfused"}),
    ],
)
def test_what_alexnets_layers_could_use(alexnet: Any, layer: str, expected: set[str]) -> None:
    assert {algorithm for algorithm, is_admissible, *_ in alexnet[layer] if is_admissible} == expected


def test_why_not(alexnet: Any) -> None:
    found = {algorithm: reasons for algorithm, is_admissible, reasons, _ in alexnet["conv1"] if not is_admissible}
    assert found["fft"] == ["stride 4, not 1"]
    assert found["winograd"] == ["stride 4, not 1", "filter of 11, not 3"]


@pytest.mark.parametrize(
    ("x", "w", "padding", "reason"),
    [
        ((4, 3, 255, 255), (8, 3, 5, 5), 1, "257 wide with padding, at most 256"),
        ((4, 3, 30, 30), (8, 3, 3, 3), 3, "filter of 3 is not wider than its padding of 3"),
    ],
)
def test_limits_of_fft(tmp_path: Path, x: tuple[int, ...], w: tuple[int, ...], padding: int, reason: str) -> None:
    connection = one(tmp_path, x, w, padding=padding)
    assert rows(connection, "SELECT reasons FROM conv_admissible WHERE algorithm = 'fft'") == [([reason],)]


def test_workspace_comes_from_the_model(alexnet: Any) -> None:
    found = {algorithm: workspace for algorithm, _, _, workspace in alexnet["conv3"]}
    assert found["implicit_gemm"] == 0 and found["implicit_precomp_gemm"] is None
    assert found["explicit_gemm"] == 4 * 16 * 256 * 9 * 13 * 13
    assert found["winograd"] == 4 * 16 * 384 * 256
    assert found["winograd_nonfused"] == 4 * 36 * (16 * 16 * (256 + 384) + 384 * 256)
    assert found["fft"] == 4 * 16 * 17 * (16 * 256 + 16 * 384 + 384 * 256)


def test_gradients_have_the_algorithms_of_their_enumeration(tmp_path: Path) -> None:
    with shapes.layerwise().open(tmp_path) as connection:
        found = rows(
            connection,
            """SELECT direction, list_sort(list(DISTINCT algorithm)) FROM conv_admissible
            WHERE list_contains(reasons, 'no ' || direction || ' in cuDNN') GROUP BY direction ORDER BY direction""",
        )
    assert found == [("dgrad", ["explicit_gemm"]), ("wgrad", ["explicit_gemm", "winograd"])]


FAMILY = {"winograd_nonfused": "winograd", "fft_tiling": "fft"}


@pytest.mark.shared
def test_hit_rate_on_deepbench(shared: Path, tmp_path: Path) -> None:
    """94 shapes on a Titan X: the first choice is what ran in 88, its family in 91; what ran is admissible in all.

    The file's tendencies for forward passes were written down from these rows, so this is how well they sum them up.
    """
    given, measured = shapes.deepbench(shared / "studies")
    with given.open(tmp_path) as connection:
        first = rows(
            connection,
            """SELECT a.algorithm, c.algorithm, u.is_admissible, c.flop FROM conv_calls c
            JOIN conv_admissible a ON a.op_id = c.op_id AND a.place = 1
            JOIN conv_admissible u ON u.op_id = c.op_id AND u.is_used ORDER BY c.start_ns""",
        )
    assert [row["fwd_algorithm"].lower() for row in measured] == [used for _, used, _, _ in first]
    assert [int(row["fwd_flop"]) for row in measured] == [flop for *_, flop in first]
    exact = sum(chosen == used for chosen, used, _, _ in first)
    family = sum(FAMILY.get(chosen, chosen) == FAMILY.get(used, used) for chosen, used, _, _ in first)
    misses = Counter((chosen, used) for chosen, used, _, _ in first if chosen != used)
    print(f"DeepBench, Titan X: {exact} of {len(first)} exactly, {family} by family; misses {dict(misses)}")
    assert (len(first), exact, family) == (94, 88, 91)
    assert all(is_admissible for _, _, is_admissible, _ in first)
    assert misses == {
        ("winograd", "winograd_nonfused"): 3,
        ("winograd", "fft"): 2,
        ("implicit_precomp_gemm", "implicit_gemm"): 1,
    }


IMPLEMENTATIONS = {
    "cudnn.SpatialConvolution": "implicit_gemm",
    "nn.SpatialConvolutionMM": "explicit_gemm",
    "ccn2.SpatialConvolution": "direct",
    "nn.SpatialConvolutionCuFFT": "fft",
}
PASSES = {"updateOutput": "fprop", "updateGradInput": "dgrad", "accGradParameters": "wgrad"}


@pytest.mark.long
@pytest.mark.shared
def test_hit_rate_on_the_layers_of_convnet_benchmarks(shared: Path, tmp_path: Path) -> None:
    """The fastest of four implementations per layer and pass: 14 of 15 are the file's first of them."""
    best: dict[tuple[str, str], tuple[float, str]] = {}
    with (shared / "studies/convnet_layerwise_titanx_084c4f0.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["pass"] in PASSES and row["impl"] in IMPLEMENTATIONS:
                key, entry = (row["layer"], PASSES[row["pass"]]), (float(row["ms"]), IMPLEMENTATIONS[row["impl"]])
                best[key] = min(best.get(key, entry), entry)
    with shapes.layerwise().open(tmp_path) as connection:
        tendencies = rows(
            connection,
            """SELECT DISTINCT c.layer, c.direction, t."order"
            FROM conv_calls c JOIN conv_admissible a USING (op_id, direction)
            JOIN names.tendency t ON t.name = a.tendency WHERE c.layer IS NOT NULL""",
        )
    tried = set(IMPLEMENTATIONS.values())
    first = {(layer, way): next(name for name in order if name in tried) for layer, way, order in tendencies}
    misses = {key: (first.get(key), winner) for key, (_, winner) in best.items() if first.get(key) != winner}
    print(f"convnet-benchmarks L1 to L5: {len(best) - len(misses)} of {len(best)}; misses {misses}")
    assert len(best) == 15
    assert misses == {("L5", "fprop"): ("fft", "direct")}


def why_not_fft(tmp_path: Path, x: tuple[int, ...], w: tuple[int, ...], padding: int | tuple[int, ...]) -> list[str]:
    connection = one(tmp_path, x, w, padding=padding)
    ((reasons,),) = rows(connection, "SELECT reasons FROM conv_admissible WHERE algorithm = 'fft_tiling'")
    assert isinstance(reasons, list)
    return reasons


@pytest.mark.long
def test_each_side_of_a_filter_is_held_against_its_own_padding(tmp_path: Path) -> None:
    """Inception's 1x7 with padding 0 and 3: the 1 has no padding beside it."""
    wide = ((4, 64, 17, 17), (64, 64, 1, 7))
    assert why_not_fft(tmp_path / "fits", *wide, padding=(0, 3)) == []
    assert why_not_fft(tmp_path / "not", *wide, padding=(1, 3)) == ["filter of 1 is not wider than its padding of 1"]


@pytest.mark.long
def test_in_three_dimensions_fft_in_tiles_takes_smaller_filters(tmp_path: Path) -> None:
    x = (1, 4, 40, 40, 40)
    assert why_not_fft(tmp_path / "fits", x, (8, 4, 16, 16, 16), padding=0) == []
    reasons = why_not_fft(tmp_path / "not", x, (8, 4, 17, 17, 17), padding=0)
    assert reasons == ["filter of 17, at most 16 in three dimensions"]


@pytest.mark.long
def test_nothing_is_called_faster_where_nothing_was_measured(tmp_path: Path) -> None:
    """No square, dilated, grouped, in three dimensions."""
    given = Given()
    unlike: list[tuple[tuple[int, ...], dict[str, Any]]] = [
        ((8, 8, 1, 7), {}),
        ((8, 8, 3, 3), {"dilation": 2}),
        ((8, 4, 3, 3), {"groups": 2}),
        ((8, 8, 3, 3, 3), {}),
    ]
    for number, (w, options) in enumerate(unlike):
        conv(given, 100 * number, (4, 8, *[30] * (len(w) - 2)), w, **options)
        given.kernel("implicit_convolve_sgemm", 100 * number + 20, 100 * number + 30, launched=100 * number + 1)
    query = "SELECT count(*), count(place), count(tendency) FROM conv_admissible GROUP BY op_id"
    assert rows(given.open(tmp_path), query) == [(7, 0, 0)] * 4


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"groups": 2}, "cuDNN 7 or later for groups"),
        ({"groups": 2, "dilation": 2}, "cuDNN 7.1 or later for groups with dilation"),
    ],
)
def test_groups_need_a_later_library(tmp_path: Path, options: dict[str, Any], needed: str) -> None:
    given = Given()
    conv(given, 0, (4, 8, 30, 30), (8, 4, 3, 3), **options)
    given.kernel("implicit_convolve_sgemm", 20, 30, launched=1)
    found = rows(given.open(tmp_path), "SELECT needs FROM conv_admissible WHERE algorithm = 'implicit_gemm'")
    assert found == [(f"cuDNN 1 or later; {needed}",)]


@pytest.mark.long
def test_implicit_gemm_takes_every_type_however_it_is_spelled(tmp_path: Path) -> None:
    given = Given()
    for number, dtype in enumerate(("float", "c10::Half", "c10::BFloat16", "float32", "something new")):
        conv(given, 100 * number, *ALEXNET["conv3"][:2], 1, 1, dtype=dtype)
        given.kernel("implicit_convolve_sgemm", 100 * number + 20, 100 * number + 30, launched=100 * number + 1)
    query = "SELECT count(*) FROM conv_admissible WHERE algorithm = 'implicit_gemm' AND is_admissible"
    assert rows(given.open(tmp_path), query) == [(5,)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("device", "kernel"),
    [
        ("AMD Instinct MI300X", "naive_conv_fwd_nchw_float_double_float"),
        ("Intel(R) Data Center GPU Max 1100", "gen_conv"),
        ("Intel(R) Arc(TM) B580 Graphics", "gen_conv"),
        (None, "gen_conv"),
        ("Tesla V100", "miopenSp3AsmConv_v21_1_2_fp32_f2x3_stride1"),
    ],
)
def test_other_libraries_have_other_conditions(tmp_path: Path, device: str | None, kernel: str) -> None:
    given = Given()
    if device:
        given.device(device)
    conv(given, 0, *ALEXNET["conv3"][:2], 1, 1)
    given.kernel(kernel, 20, 30, launched=1)
    assert rows(given.open(tmp_path), "SELECT count(*) FROM conv_admissible") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["Intel(R) Xeon(R) Platinum 8480+", "AMD EPYC 9654 96-Core Processor"])
def test_the_processor_beside_a_gpu_decides_nothing(tmp_path: Path, processor: str) -> None:
    """As `traceview collect` notes it."""
    given = Given()
    given.device("NVIDIA A100-SXM4-80GB")
    given.add("devices", name=processor, kind="cpu", n_cores=16)
    conv(given, 0, *ALEXNET["conv3"][:2], 1, 1)
    given.kernel("ampere_scudnn_128x64_relu_medium_nn_v1", 20, 30, launched=1)
    assert rows(given.open(tmp_path), "SELECT count(*) FROM conv_admissible WHERE is_used") == [(1,)]


def test_on_a_processor_cudnn_computes_nothing(tmp_path: Path) -> None:
    given = Given()
    conv(given, 0, *ALEXNET["conv3"][:2], 1, 1)
    assert rows(given.open(tmp_path), "SELECT count(*) FROM conv_admissible") == [(0,)]
