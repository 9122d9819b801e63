"""The report study: given times, expected answers; and what published times say, as the studies worked it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected
from cases import first
from given import pick, section

from traceview.experiments import results
from traceview.experiments.algorithms.layers import parse
from traceview.experiments.imports import published

Row = dict[str, Any]
SETTING = {"device": "cpu", "threads": 1, "status": "measured", "n": 7, "model": "net"}


def timed(text: str, direction: str, algorithm: str | None, ms: float, **more: Any) -> Row:
    """One measured row of a layer."""
    layer, batch = parse(text)
    row = {**layer.facts(), **SETTING, "direction": direction, "batch": batch, "algorithm": algorithm}
    row |= {"backend": "lib", "implementation": algorithm, "wall_ns": round(ms * 1e6), "flop": layer.flop(batch or 1)}
    return row | more


def capture(tmp_path: Path, *rows: Row) -> duckdb.DuckDBPyConnection:
    return connected(results.write(tmp_path / "study", {"algorithm_times": rows}, {"kind": "study"}))


LAYER = "{}x64x27x27 k96 5x5 s1 p2"
ROWS = (
    timed(LAYER.format(1), "fprop", "winograd_nonfused", 2, workspace_bytes=5_000),
    timed(LAYER.format(1), "fprop", "fft", 3),
    timed(LAYER.format(8), "fprop", "winograd_nonfused", 16),
    timed(LAYER.format(8), "fprop", "fft", 12),
    timed(LAYER.format(8), "fprop", "direct", 24, implementation="jit"),
    timed(LAYER.format(8), "fprop", "direct", 36, implementation="brg", layout_in="nhwc", layout_out="nhwc"),
    timed(LAYER.format(8), "dgrad", "direct", 20),
    timed(LAYER.format(8), "wgrad", "direct", 22),
    timed(LAYER.format(8), "fprop", "winograd", 0, status="cannot", wall_ns=None, reason="filter of 5, not 3"),
    timed("8x64x27x27 k96 3x3 s1 p1", "fprop", "direct", 10),
    timed("8x64x27x27 k96 3x3 s1 p1", "fprop", None, 11, backend="torch", backend_version="2"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    return capture(tmp_path_factory.mktemp("small"), *ROWS)


def test_a_time_has_its_number_its_interval_and_who_else_was_busy(tmp_path: Path) -> None:
    more = {"wall_low_ns": 1_900_000, "wall_high_ns": 2_300_000, "n": 9, "others_pct": 41.5}
    rows = [timed(LAYER.format(1), "fprop", "fft", 2, **more), timed(LAYER.format(1), "fprop", "direct", 3, n=6)]
    (row,) = section(capture(tmp_path, *rows), "study/fastest")
    assert (row["algorithm"], row["best_ns"], row["n"]) == ("fft", 2_000_000, 9)
    assert (row["low_ns"], row["high_ns"], row["others_pct"]) == (1_900_000, 2_300_000, 41.5)


@pytest.mark.slow
def test_beside_other_programs_processor_time_ranks_what_one_thread_computed(tmp_path: Path) -> None:
    """FFT took 10.7 ms by the clock and 1.75 of the processor; of two threads only the clock tells, and says so."""
    busy = {"others_pct": 62.0, "wall_low_ns": 1_000_000, "wall_high_ns": 99_000_000}
    rows = [
        timed(LAYER.format(1), "fprop", "fft", 10.7, cpu_ns=1_750_000, **busy),
        timed(LAYER.format(1), "fprop", "direct", 3, cpu_ns=2_900_000, others_pct=1.0),
        timed(LAYER.format(2), "fprop", "fft", 10.7, cpu_ns=1_750_000, threads=2, **busy),
        timed(LAYER.format(2), "fprop", "direct", 3, cpu_ns=2_900_000, threads=2, others_pct=1.0),
    ]
    found = section(capture(tmp_path, *rows), "study/winners")
    assert pick(found, "batch", "algorithm", "time_ns", "second", "apart", "doubt") == [
        (1, "fft", 1_750_000, "direct", None, "machine busy: processor time"),
        (2, "direct", 3_000_000, "fft", None, "machine busy"),
    ]
    (fastest, _) = section(capture(tmp_path / "again", *rows), "study/fastest")
    assert (fastest["algorithm"], fastest["best_ns"], fastest["low_ns"]) == ("fft", 1_750_000, None)


@pytest.mark.slow
def test_few_runs_far_apart_are_never_the_fastest(tmp_path: Path) -> None:
    apart = {"n": 3, "wall_low_ns": 1_000_000, "wall_high_ns": 9_000_000}
    close = {"n": 3, "wall_low_ns": 2_900_000, "wall_high_ns": 3_100_000}
    rows = [
        timed(LAYER.format(1), "fprop", "fft", 2, **apart),
        timed(LAYER.format(1), "fprop", "direct", 3, **close),
        timed(LAYER.format(1), "fprop", "winograd", 4),
        timed(LAYER.format(2), "fprop", "fft", 2, **apart),
        timed(LAYER.format(2), "fprop", "direct", 3, **apart),
    ]
    connection = capture(tmp_path, *rows)
    assert pick(section(connection, "study/winners"), "batch", "algorithm", "second", "doubt") == [
        (1, "direct", "winograd", None)
    ]
    assert pick(section(connection, "study/fastest"), "batch", "algorithm", "doubt") == [
        (1, "direct", "few runs, far apart"),
        (2, None, "few runs, far apart"),
    ]
    assert {row["algorithm"]: row["wins"] for row in section(connection, "study/wins")} == {
        "direct": 1, "fft": 0, "winograd": 0,
    }  # fmt: skip


@pytest.mark.slow
def test_intervals_that_overlap_are_no_win(tmp_path: Path) -> None:
    """With batch 1 direct is ahead; with 2 it takes 0.5 % less than FFT, within both intervals; published have none."""
    rows = [
        timed(LAYER.format(batch), "fprop", name, ms, wall_low_ns=round(low * 1e6), wall_high_ns=round(high * 1e6))
        for batch, name, ms, low, high in (
            (1, "direct", 1.323, 1.307, 1.36),
            (1, "fft", 1.5, 1.4, 1.6),
            (2, "direct", 1.323, 1.307, 1.38),
            (2, "fft", 1.329, 1.321, 1.343),
        )
    ]
    answer = "cpu, 1 thread: of {} (shape, batch and pass) with times of at least two algorithms {}."
    tie = "no difference seen between the first and another in 1"
    (row,) = section(capture(tmp_path / "tie", *rows[2:]), "study/verdict")
    assert row["text"] == answer.format("1 problem", tie)
    connection = capture(tmp_path / "both", *rows)
    (row,) = section(connection, "study/verdict")
    assert row["text"] == answer.format("2 problems", f"the fastest is direct in 1; {tie}")
    wins = pick(section(connection, "study/wins"), "algorithm", "problems", "wins", "win_pct")
    assert wins == [("direct", 2, 1, 50.0), ("fft", 2, 0, 0.0)]
    told = {row["algorithm"]: row["wins"] for row in section(connection, "study/characteristics")}
    assert told == {"direct": 1, "fft": 0}
    assert pick(section(connection, "study/winners"), "batch", "apart") == [(1, True), (2, False)]
    third = timed(LAYER.format(1), "fprop", "winograd", 1.6, wall_low_ns=1_350_000, wall_high_ns=1_700_000)
    (row,) = section(capture(tmp_path / "third", *rows[:2], third), "study/verdict")
    assert row["text"] == answer.format("1 problem", tie), "the third may be as fast as the first"
    published = [{**row, "status": "published", "wall_low_ns": None, "wall_high_ns": None} for row in rows]
    (row,) = section(capture(tmp_path / "published", *published), "study/verdict")
    assert row["text"] == answer.format("2 problems", "the fastest are direct in 2")


@pytest.mark.parametrize(("both_ms", "wins"), [(10.05, 0), (11.95, 0), (13, 1)])
def test_a_sum_of_two_passes_is_as_sure_as_its_parts(tmp_path: Path, both_ms: float, wins: int) -> None:
    """Two gradients of 4 to 6 ms take 8 to 12 ms together, and another algorithm both in one."""
    ends = {"wall_low_ns": 4_000_000, "wall_high_ns": 6_000_000}
    rows = [timed(LAYER.format(1), direction, "winograd", 5, **ends) for direction in ("dgrad", "wgrad")]
    rows.append(timed(LAYER.format(1), "backward", "fft", both_ms))
    found = {row["algorithm"]: row["wins"] for row in section(capture(tmp_path, *rows), "study/wins")}
    assert found == {"winograd": wins, "fft": 0}


def test_a_sum_of_passes_without_intervals_is_apart_from_none(tmp_path: Path) -> None:
    times = [("dgrad", "winograd", 5), ("wgrad", "winograd", 5), ("backward", "fft", 20)]
    rows = [timed(LAYER.format(1), direction, name, ms) for direction, name, ms in times]
    found = {row["direction"]: row["apart"] for row in section(capture(tmp_path, *rows), "study/winners")}
    assert found["backward"] is None


def test_wins(small: duckdb.DuckDBPyConnection) -> None:
    found = pick(section(small, "study/wins"), "direction", "algorithm", "problems", "wins", "median_ratio")
    assert found == [
        ("fprop", "direct", 2, 1, 1.5),
        ("fprop", "fft", 2, 1, 1.25),
        ("fprop", "winograd_nonfused", 2, 1, pytest.approx((1 + 16 / 12) / 2)),
        ("fprop", "(unknown: torch 2)", 1, 0, 1.1),
    ]


def test_winners(small: duckdb.DuckDBPyConnection) -> None:
    found = pick(section(small, "study/winners"), "batch", "shape", "algorithm", "gain", "second")
    assert found == [
        (1, "64x27x27 k96 5x5 s1 p2", "winograd_nonfused", 1.5, "fft"),
        (8, "64x27x27 k96 5x5 s1 p2", "fft", pytest.approx(16 / 12), "winograd_nonfused"),
        (8, "64x27x27 k96 3x3 s1 p1", "direct", 1.1, "(unknown: torch 2)"),
    ]


def test_layer_by_algorithm(small: duckdb.DuckDBPyConnection) -> None:
    found = section(small, "study/layers")
    (direct,) = [row for row in found if row["algorithm"] == "direct" and "5x5" in row["label"]]
    assert pick([direct], "forward_ns", "dgrad_ns", "wgrad_ns", "backward_ns") == [(24e6, 20e6, 22e6, 42e6)]
    flop = 2 * 8 * 96 * 64 * 25 * 27 * 27
    assert (direct["direct_flop"], direct["model_flop"], direct["effective_flop_per_s"]) == (flop, flop, flop / 24e-3)
    (winograd,) = [row for row in found if row["algorithm"] == "winograd_nonfused" and row["batch"] == 8]
    assert winograd["model_flop"] == 2 * 8 * 36 * 81 * 64 * 96 and winograd["backward_ns"] is None


def test_crossovers_are_measured_or_by_model(small: duckdb.DuckDBPyConnection) -> None:
    found = section(small, "study/crossovers")
    measured = [row for row in found if row["basis"] == "measured"]
    assert pick(measured, "direction", "below", "from_batch", "above") == [("fprop", "winograd_nonfused", 8, "fft")]
    assert {row["basis"] for row in found} <= {"measured", "model (FLOPs)"}


@pytest.mark.long
def test_fewer_flops_from_a_batch_on(tmp_path: Path) -> None:
    """At the batch that the model names the second method is the cheaper one, and one image earlier it is not."""
    text = "{}x256x13x13 k256 3x3 s1 p1"
    row = section(capture(tmp_path / "a", timed(text.format(128), "fprop", "fft", 1)), "study/crossovers")[0]
    assert (row["below"], row["above"]) == ("Winograd F(4x4,3x3)", "FFT")
    for batch, is_fft in ((row["from_batch"] - 1, False), (row["from_batch"], True)):
        connection = capture(tmp_path / str(batch), timed(text.format(batch), "fprop", "fft", 1))
        query = """SELECT method FROM method_costs WHERE direction = 'fprop' AND transform_flop IS NOT NULL
            AND library IS NULL ORDER BY total_flop LIMIT 1"""
        assert (connection.execute(query).fetchall() == [("FFT",)]) is is_fft


def test_time_by_batch(small: duckdb.DuckDBPyConnection) -> None:
    found = pick(section(small, "study/batches"), "algorithm", "batch", "image_ns", "fastest", "workspace_bytes")
    assert found == [
        ("direct", 8, 3e6, False, None),
        ("fft", 1, 3e6, False, None),
        ("fft", 8, 1.5e6, True, None),
        ("winograd_nonfused", 1, 2e6, True, 5_000),
        ("winograd_nonfused", 8, 2e6, False, None),
    ]


@pytest.mark.slow
def test_one_parameter_varies(small: duckdb.DuckDBPyConnection) -> None:
    found = section(small, "study/sweeps", parameter="filter")
    assert pick(found, "algorithm", "value", "time_ratio") == [("direct", 3, 1.0), ("direct", 5, 2.4)]
    assert {row["others"] for row in found} == {"batch 8, 64 channels, to 27x27, k96, s1"}
    assert {row["parameter"] for row in section(small, "study/sweeps")} == {"batch", "filter"}


def test_implementations_of_one_algorithm(small: duckdb.DuckDBPyConnection) -> None:
    found = pick(section(small, "study/implementations"), "algorithm", "implementation", "layouts", "ratio")
    assert found == [("direct", "lib jit", None, 1.0), ("direct", "lib brg", "nhwc to nhwc", 1.5)]


@pytest.mark.slow
def test_published_stands_beside_measured(tmp_path: Path) -> None:
    """The published image has its padding already: it is the same problem."""
    there = timed("128x64x31x31 k96 5x5 s1 p0", "fprop", "fft", 5, status="published", device="TITAN X", threads=None)
    found = section(capture(tmp_path, *ROWS, there), "study/published")
    beside = pick(found, "algorithm", "status", "setting", "batch", "ratio")
    assert ("fft", "published", "TITAN X", 128, 1.0) in beside and (
        "fft",
        "measured",
        "cpu, 1 thread",
        8,
        1.0,
    ) in beside
    assert {row["direction"] for row in found} == {"fprop"}


@pytest.mark.slow
def test_hit_rate(small: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """The rule for 5x5 puts FFT before Winograd: right with 8 images, wrong with one. The rules are of GPUs."""
    assert section(small, "study/rules") == []
    on_a_gpu = [{**row, "device": "A GPU", "threads": None} for row in ROWS]
    (row,) = section(capture(tmp_path, *on_a_gpu), "study/rules")
    assert pick([row], "basis", "problems", "hits", "misses") == [
        ("fastest of several", 2, 1, "fft -> winograd_nonfused (1)")
    ]


def test_characteristics(small: duckdb.DuckDBPyConnection) -> None:
    found = {row["algorithm"]: row for row in section(small, "study/characteristics")}
    assert found["winograd"]["problems"] == 0
    assert (found["winograd"]["cannot_problems"], found["winograd"]["reasons"]) == (1, "filter of 5, not 3")
    assert found["winograd_nonfused"]["wins_at"] == "5x5; batch 1; fprop"
    assert found["winograd_nonfused"]["largest_workspace_bytes"] == 5_000


@pytest.mark.slow
def test_what_another_library_can_is_not_called_impossible(tmp_path: Path) -> None:
    """Two libraries each say why not, and a problem counts once; where a third has a time, nothing is barred."""
    one, two = LAYER.format(1), LAYER.format(8)
    cannot = {"status": "cannot", "wall_ns": None}
    rows = [
        timed(one, "fprop", "fft", 0, backend="a", reason="stride", **cannot),
        timed(one, "fprop", "fft", 0, backend="b", reason="no driver", **cannot),
        timed(two, "fprop", "fft", 0, backend="a", reason="stride", **cannot),
        timed(two, "fprop", "fft", 3, backend="c"),
    ]
    (row,) = section(capture(tmp_path, *rows), "study/characteristics")
    assert (row["problems"], row["cannot_problems"], row["reasons"]) == (1, 1, "no driver; stride")


def test_models_stand_beside_times(small: duckdb.DuckDBPyConnection) -> None:
    found = [row for row in section(small, "study/models") if row["batch"] == 8 and "5x5" in row["label"]]
    by_method = {row["method"] or row["cudnn"]: row for row in found}
    fft = by_method["FFT"]
    assert (fft["time_ns"], fft["cudnn"], fft["admissible"], fft["model_workspace_bytes"]) == (
        12_000_000, "fft", True, 4 * 32 * 33 * (8 * 64 + 8 * 96 + 64 * 96),
    )  # fmt: skip
    fused = by_method["winograd"]
    assert (fused["admissible"], fused["reason"], fused["model_flop"]) == (False, "filter of 5, not 3", None)
    direct = by_method["direct"]
    assert (direct["gemm"], direct["implementation"], direct["time_ns"]) == ("96 x 5832 x 1600", "lib jit", 24_000_000)
    assert direct["cudnn"] == "implicit_gemm, implicit_precomp_gemm"


@pytest.mark.slow
def test_the_tile_that_an_implementation_names_is_its_model(tmp_path: Path) -> None:
    rows = [
        timed(LAYER.format(8), "fprop", "winograd", ms, backend="winograd", implementation=f"F({m}x{m},5x5) by 64")
        for m, ms in ((3, 5), (4, 4))
    ]
    query = "SELECT method, direct_ratio FROM algorithm_times ORDER BY wall_ns DESC"
    found = capture(tmp_path, *rows).execute(query).fetchall()
    assert found == [
        ("Winograd F(3x3,5x5)", pytest.approx(9 * 25 / 49)),
        ("Winograd F(4x4,5x5)", pytest.approx(16 * 25 / 64 * 27 * 27 / 28 / 28)),
    ]


@pytest.mark.slow
def test_flops_by_the_size_of_the_filter(tmp_path: Path) -> None:
    """From 3 to 5 the direct method grows by 25 / 9 and FFT not at all; a padded image beyond 32 needs more points."""
    one = timed("4x8x27x27 k16 5x5 s1 p2", "fprop", "fft", 1)
    found = section(capture(tmp_path, one, {**one, "batch": 8}), "study/filters")
    flop = {(row["method"], row["filter"]): row["model_flop"] for row in found if row["shape"] == "4x8x27x27 k16"}
    assert flop["direct", 5] * 9 == flop["direct", 3] * 25
    assert flop["FFT", 3] == flop["FFT", 5] and flop["FFT", 7] > 2 * flop["FFT", 5]
    assert {row["filter"] for row in found} == {1, 3, 5, 7, 9, 11, 13, 15}
    assert {row["shape"] for row in found} == {"4x8x27x27 k16", "8x8x27x27 k16"}


@pytest.mark.slow
def test_flops_of_alexnet_by_layer_and_method(tmp_path: Path) -> None:
    """Batch 256: FFT executes 12 to 35 % of the direct method's FLOPs, Winograd 38 to 52 %; neither can do stride 4."""
    shapes = {
        "conv1": "256x3x227x227 k96 11x11 s4", "conv2": "256x96x27x27 k256 5x5 s1 p2",
        "conv3": "256x256x13x13 k384 3x3 s1 p1", "conv4": "256x384x13x13 k384 3x3 s1 p1",
    }  # fmt: skip
    rows = [timed(text, "fprop", "direct", 1, layer=name) for name, text in shapes.items()]
    found = section(capture(tmp_path, *rows), "study/flops")
    told = {(row["label"][4:], row["method"]): row for row in found}
    assert {
        key: (round(row["forward_flop"] / 1e9, 2), round(row["of_direct_pct"], 1))
        for key, row in told.items() if key[1] in ("direct", "FFT") or key[1].endswith("3x3)")
    } == {
        ("conv1", "direct"): (53.97, 100.0),
        ("conv2", "direct"): (229.32, 100.0), ("conv2", "FFT"): (28.71, 12.5),
        ("conv3", "direct"): (76.55, 100.0), ("conv3", "FFT"): (27.11, 35.4),
        ("conv3", "Winograd F(2x2,3x3)"): (39.68, 51.8), ("conv3", "Winograd F(4x4,3x3)"): (29.31, 38.3),
        ("conv4", "direct"): (114.83, 100.0), ("conv4", "FFT"): (40.42, 35.2),
        ("conv4", "Winograd F(2x2,3x3)"): (59.46, 51.8), ("conv4", "Winograd F(4x4,3x3)"): (43.88, 38.2),
    }  # fmt: skip
    assert round(told["conv2", "Winograd F(2x2,5x5) *"]["forward_flop"] / 1e9, 2) == 88.79
    for row in found:
        assert row["forward_flop"] == row["dgrad_flop"] == row["wgrad_flop"]


@pytest.mark.slow
def test_fused_winograd_needs_less_memory_than_the_fft(tmp_path: Path) -> None:
    """conv3 of AlexNet at batch 256: the FFT uses most, a fused kernel stores the transformed filters alone."""
    shape = "256x256x13x13 k384 3x3 s1 p1"
    rows = [timed(shape, "fprop", name, 1, workspace_bytes=1) for name in ("winograd", "winograd_nonfused", "fft")]
    found = section(capture(tmp_path, *rows), "study/memory")
    told = {row["algorithm"]: row["model_workspace_bytes"] for row in found}
    assert told["winograd"] == 4 * 4 * 4 * 256 * 384
    assert told["fft"] == 4 * 16 * 17 * (256 * 256 + 256 * 384 + 256 * 384)
    assert told["winograd"] < told["fft"]
    both = {row["method"]: row for row in section(capture(tmp_path / "models", *rows), "study/models")}
    fused, plain = both["Winograd F(2x2,3x3), fused"], both["Winograd F(2x2,3x3)"]
    assert (fused["cudnn"], fused["model_workspace_bytes"]) == ("winograd", told["winograd"])
    assert plain["cudnn"] is None and plain["model_workspace_bytes"] > told["fft"]
    assert fused["model_flop"] == plain["model_flop"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    first(2, [{"stride_h": 0}, {"groups": 0}, {"height": -5}, {"batch": 2**62}, {"filter_width": 99}, {"pad_w": -1}]),
)
def test_sizes_that_are_no_convolution_are_left_out(tmp_path: Path, wrong: Row) -> None:
    found = section(capture(tmp_path, *ROWS[:2], {**ROWS[1], "algorithm": "direct", **wrong}), "study/wins")
    assert [row["algorithm"] for row in found] == ["winograd_nonfused", "fft"]


@pytest.fixture(scope="module")
def studies(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    found = published.gather([shared / "studies"])
    folder = tmp_path_factory.mktemp("published") / "capture"
    return connected(results.write(folder, found.tables(), {"kind": "study"}))


@pytest.mark.long
@pytest.mark.shared
def test_hit_rate_on_published_rows(studies: duckdb.DuckDBPyConnection) -> None:
    """DeepBench's 94 shapes, and the 15 passes of convnet-benchmarks' five layers."""
    found = {row["model"]: row for row in section(studies, "study/rules")}
    deepbench, layers = found["DeepBench"], found["convnet-benchmarks layers"]
    print(
        f"DeepBench {deepbench['hits']} of {deepbench['problems']}; L1 to L5 {layers['hits']} of {layers['problems']}"
    )
    assert (deepbench["problems"], deepbench["hits"], deepbench["basis"]) == (94, 88, "chosen by the library")
    assert (layers["problems"], layers["hits"], layers["misses"]) == (15, 14, "fft -> direct (1)")


@pytest.mark.long
@pytest.mark.shared
def test_measured_fft_buffers_beside_the_formula(studies: duckdb.DuckDBPyConnection) -> None:
    """4n(n+1)(Sf + Sf' + ff') is 1.21 to 1.53 times too small for fbfft's buffers."""
    query = """SELECT in_channels, max(printf('%.1f', model_workspace_bytes / 1e6)),
        string_agg(printf('%.2f', workspace_bytes / model_workspace_bytes), ' '
            ORDER BY list_position(['fprop', 'dgrad', 'wgrad'], direction))
        FROM algorithm_times WHERE model = 'AlexNet' AND implementation = 'fbfft' GROUP BY in_channels, out_channels
        ORDER BY in_channels, out_channels"""
    assert studies.execute(query).fetchall() == [
        (64, "190.3", "1.53 1.21 1.28"),
        (192, "160.4", "1.34 1.21 1.48"),
        (256, "142.6", "1.27 1.28 1.48"),
        (384, "196.1", "1.22 1.29 1.52"),
    ]


@pytest.mark.slow
@pytest.mark.shared
def test_every_measured_buffer_has_its_formula_beside_it(studies: duckdb.DuckDBPyConnection) -> None:
    """45 buffers of fbfft's tuner: fbfft's for AlexNet 1.21 to 1.53 times the formula, cuFFT's up to twice."""
    found = section(studies, "study/memory")
    assert len(found) == 45
    ratios: dict[str, list[float]] = {}
    for row in found:
        assert row["ratio"] == row["workspace_bytes"] / row["model_workspace_bytes"]
        if row["label"].startswith("AlexNet"):
            ratios.setdefault(row["implementation"], []).append(round(row["ratio"], 2))
    assert {name: (len(some), min(some), max(some)) for name, some in ratios.items()} == {
        "fbcunn fbfft": (12, 1.21, 1.53),
        "fbcunn cuFFT": (12, 1.82, 2.0),
    }


@pytest.mark.shared
def test_fft_gains_with_the_size_of_the_filter(studies: duckdb.DuckDBPyConnection) -> None:
    """convnet-benchmarks' layers: im2col and GEMM takes 3 times FFT's time with 3x3, 5.5 and 20 times with 9x9."""
    found = [row for row in section(studies, "study/sizes") if row["label"].startswith("ConvLayer")]
    ratios = {
        algorithm: [(row["filter"], round(row["over_fft"], 2)) for row in found if row["algorithm"] == algorithm]
        for algorithm in ("explicit_gemm", "direct")
    }
    assert ratios == {
        "explicit_gemm": [("3x3", 2.98), ("7x7", 12.43), ("9x9", 20.06), ("9x9", 5.49), ("11x11", 1.65)],
        "direct": [("3x3", 0.84), ("7x7", 2.46), ("9x9", 6.61), ("9x9", 4.17), ("11x11", 0.64)],
    }


@pytest.mark.shared
def test_the_best_plan_of_published_passes(studies: duckdb.DuckDBPyConnection) -> None:
    """239.8 ms by the best of each pass of the five layers: direct wins two of them."""
    query = """SELECT printf('%.1f', sum(best_ns) / 1e6), count(*) FILTER (contender = 'direct'), count(*)
        FROM algorithm_best WHERE place = 1 AND direction <> 'backward' AND problem IN
            (SELECT problem FROM algorithm_times WHERE model = 'convnet-benchmarks layers')"""
    assert studies.execute(query).fetchall() == [("239.8", 2, 15)]


@pytest.mark.slow
@pytest.mark.shared
def test_alexnet_layer_by_algorithm(studies: duckdb.DuckDBPyConnection) -> None:
    """conv2 to conv5 of AlexNet: FFT beats im2col and GEMM and cuDNN R4's heuristic, forward and backward."""
    found = [row for row in section(studies, "study/layers") if row["label"].startswith("alexnet conv")]
    fft = {row["label"]: (row["forward_ns"], row["backward_ns"]) for row in found if row["algorithm"] == "fft"}
    assert fft == {
        "alexnet conv2": (5_260_000, 9_990_000), "alexnet conv3": (5_470_000, 10_180_000),
        "alexnet conv4": (6_460_000, 12_680_000), "alexnet conv5": (4_700_000, 8_850_000),
    }  # fmt: skip
    gemm = {row["label"]: row["forward_ns"] for row in found if row["algorithm"] == "explicit_gemm"}
    assert gemm["alexnet conv1"] == 16_028_100 and gemm["alexnet conv2"] == 28_909_900


@pytest.mark.shared
def test_the_best_plan_for_alexnet(studies: duckdb.DuckDBPyConnection) -> None:
    """26.55 ms forward and 56.15 ms backward: conv1 by cuDNN R4 (FFT cannot do stride 4), the others by fbfft."""
    query = """SELECT direction, printf('%.2f', sum(best_ns) / 1e6), count(*) FILTER (contender = 'fft')
        FROM algorithm_best
        WHERE place = 1 AND starts_with(label, 'alexnet conv') AND direction IN ('fprop', 'backward')
        GROUP BY direction ORDER BY direction DESC"""
    assert studies.execute(query).fetchall() == [("fprop", "26.55", 4), ("backward", "56.15", 4)]


@pytest.mark.slow
def test_the_answer_counts_who_is_fastest_and_says_that_the_machine_was_busy(tmp_path: Path) -> None:
    busy = [timed(LAYER.format(2), "fprop", name, ms, others_pct=40.0) for name, ms in (("fft", 3), ("direct", 4))]
    found = section(capture(tmp_path, *ROWS, *busy), "study/verdict")
    assert [row["text"] for row in found] == [
        "cpu, 1 thread: of 4 problems (shape, batch and pass) with times of at least two algorithms the fastest are "
        "fft in 2, direct in 1, winograd_nonfused in 1.",
        "The machine was busy for 2 of 12 times (other programs took 40 % of the cores, median of these).",
    ]


@pytest.mark.slow
def test_a_sum_of_gradients_is_no_problem_beside_its_parts(tmp_path: Path) -> None:
    """FFT wins dgrad, wgrad and their sum with batch 1; with 2 cuDNN, which gives one time for both, beats the sum."""
    ways = {"dgrad": 1.0, "wgrad": 2.0, "backward": 3.0}
    rows = [
        timed(LAYER.format(batch), way, name, ms * times, status="published")
        for batch in (1, 2)
        for way, ms in ways.items()
        for name, times in (("fft", 1), ("direct", 2))
    ]
    rows.append(timed(LAYER.format(2), "backward", None, 2.5, status="published", backend="cuDNN", backend_version="4"))
    (row,) = section(capture(tmp_path, *rows), "study/verdict")
    assert row["text"] == (
        "cpu, 1 thread: of 5 problems (shape, batch and pass) with times of at least two algorithms the fastest are "
        "fft in 4, (unknown: cuDNN 4) in 1."
    )


def test_times_of_unknown_devices_and_of_other_cpus_race_within_their_publication(tmp_path: Path) -> None:
    unknown = {"status": "published", "device": None, "threads": None}
    rows = [
        timed(LAYER.format(8), "fprop", "winograd", 1.0, source="a.csv", **unknown),
        timed(LAYER.format(8), "fprop", "implicit_gemm", 1.5, source="a.csv", **unknown),
        timed(LAYER.format(8), "fprop", "fft", 0.7, source="c.csv", **unknown),
        timed(LAYER.format(8), "fprop", "fft", 0.5, source="a Xeon", status="published"),
        timed(LAYER.format(8), "fprop", "direct", 3),
        timed(LAYER.format(8), "fprop", "explicit_gemm", 4),
    ]
    connection = capture(tmp_path, *rows)
    of = "of 1 problem (shape, batch and pass) with times of at least two algorithms the fastest is"
    assert [row["text"] for row in section(connection, "study/verdict")] == [
        f"cpu, 1 thread: {of} direct in 1.",
        f"unknown device of a.csv: {of} winograd in 1.",
    ]
    plan = [row for row in section(connection, "strategy/totals") if row["strategy"] == "the plan"]
    assert pick(plan, "setting", "total_ns") == [("cpu, 1 thread", 3_000_000), ("unknown device of a.csv", 1_000_000)]


@pytest.mark.slow
def test_published_times_of_one_algorithm_name_no_fastest(tmp_path: Path) -> None:
    rows = [timed(LAYER.format(8), way, "direct", 20, status="published") for way in ("dgrad", "wgrad")]
    (row,) = section(capture(tmp_path, *rows), "study/verdict")
    assert row["text"] == (
        "No algorithm can be called the fastest: the 2 published times of 1 shape on cpu, 1 thread hold one algorithm "
        "for each pass."
    )
    assert section(capture(tmp_path / "none"), "study/verdict") == []
