"""Costs of operators, held against what their device could do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from given import Given, pick, section

BIG = [[4096, 4096], [4096, 4096]]


def on(device: str) -> Given:
    """A large product of 2 ms, an addition of 200 us, a tiny one of 5 us, a transfer, and a kernel of no operator."""
    given = Given()
    given.device(device)
    given.op("aten::mm", 0, 10, BIG, ["", ""], "c10::BFloat16")
    given.kernel("ampere_bf16_s16816gemm_bf16_128x128_tn", 100, 2100, launched=5)
    given.op("aten::relu", 20, 30, [BIG[0]], [""])
    given.kernel("vectorized_elementwise_kernel", 2100, 2300, launched=25)
    given.op("aten::relu", 40, 50, [[10]], [""], "c10::Half")
    given.kernel("vectorized_elementwise_kernel", 2300, 2305, launched=45)
    given.copy("HtoD", 2310, 2320, launched=60, size_bytes=10_000)
    given.kernel("somebody_elses_kernel", 2400, 2500)
    return given


def test_an_operator_is_bound_by_the_slowest_of_its_parts(tmp_path: Path) -> None:
    connection = on("NVIDIA A100-SXM4-40GB").open(tmp_path)
    found = {(row["op_name"], row["dtype"]): row for row in section(connection, "roofline/operators")}
    product, addition = found["aten::mm", "bf16"], found["aten::relu", "fp32"]
    assert product["floor_ns"] == pytest.approx(1e9 * 2 * 4096**3 / 312e12) and product["bound"] == "compute"
    assert product["attainable_pct"] == pytest.approx(100 * product["floor_ns"] / 2e6)
    assert product["achieved_flop_per_s"] == pytest.approx(2 * 4096**3 / 2e-3)
    assert addition["floor_ns"] == pytest.approx(1e9 * 8 * 4096**2 / 1.555e12) and addition["bound"] == "memory"
    assert addition["above_ns"] == pytest.approx(200_000 - addition["floor_ns"])
    assert found["aten::relu", "fp16"]["bound"] == "launch"
    transfer = found["Memcpy HtoD", None]
    assert (transfer["floor_ns"], transfer["bound"]) == (None, "link")


def test_without_peaks_there_are_costs_and_no_shares(tmp_path: Path) -> None:
    found = section(on("Some Device").open(tmp_path), "roofline/families")
    assert pick(found, "attainable_pct", "floor_ns", "above_ns") == [(None, None, None)] * len(found)
    assert {row["bound"] for row in found} == {None, "link"}
    assert next(row for row in found if row["family"] == "gemm")["throughput_bytes_per_s"] == pytest.approx(
        3 * 2 * 4096**2 / 2e-3
    )


def test_shares_add_up_with_what_has_no_cost(tmp_path: Path) -> None:
    connection = on("NVIDIA A100-SXM4-40GB").open(tmp_path)
    unknown = section(connection, "roofline/unknown")
    assert pick(unknown, "name", "busy_ns") == [("(everything else)", 100_000)]
    shares = [row["share_pct"] for row in (*section(connection, "roofline/families"), *unknown)]
    assert sum(shares) == pytest.approx(100)


def test_a_call_whose_cost_is_not_known_says_why(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("aten::index", 0, 10, [[4, 6], ()], ["", ""])
    given.kernel("index_elementwise_kernel", 20, 30, launched=5)
    connection = given.open(tmp_path)
    assert pick(section(connection, "roofline/unknown"), "name", "reason", "share_pct") == [
        ("aten::index", "the indices are not recorded, so the size of the result is not known", 100)
    ]
    assert section(connection, "roofline/families") == []


@pytest.mark.slow
def test_operators_of_a_layer_are_summed_up(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.span("module", "fc1", 0, 60)
    given.op("aten::mm", 0, 10, BIG, ["", ""], "c10::BFloat16")
    given.kernel("gemm", 100, 1100, launched=5)
    given.op("aten::relu", 20, 30, [BIG[0]], [""], "c10::BFloat16")
    given.kernel("vectorized_elementwise_kernel", 1100, 1200, launched=25)
    [row] = section(given.open(tmp_path), "roofline/layers")
    assert (row["layer"], row["direction"], row["calls"], row["busy_ns"]) == ("fc1", "forward", 2, 1_100_000)
    assert row["floor_ns"] == pytest.approx(1e9 * (2 * 4096**3 / 312e12 + 4 * 4096**2 / 1.555e12))
    assert row["bound"] == "compute"


@pytest.mark.slow
def test_no_call_of_public_traces_is_faster_than_its_device(shared: Path, captures: Any) -> None:
    """Only a cache beats the memory's bandwidth, of small tensors, where the models are right."""
    connection = captures.open(shared / "traces/operators/h100-vit-forward.json.gz")
    query = "SELECT count(*) FILTER (floor_ns > busy_ns), count(*) FROM op_rooflines WHERE reason IS NULL"
    assert connection.execute(query).fetchall() == [(0, 150)]


def test_what_is_faster_than_the_peaks_has_no_share(tmp_path: Path) -> None:
    """An addition of 134 MB in 50 us is 2.7 TB/s, of 1.555: its operands lay in a cache, or less was read."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.op("aten::relu", 20, 30, [BIG[0]], [""])
    given.kernel("vectorized_elementwise_kernel", 2100, 2150, launched=25)
    connection = given.open(tmp_path)
    [row] = section(connection, "roofline/operators")
    assert (row["attainable_pct"], row["above_ns"]) == (None, None)
    assert row["bound"] == "cannot tell: faster than the peaks" and row["floor_ns"] > row["busy_ns"]
    assert pick(section(connection, "page/operators"), "attainable_pct") == [(None,)]


@pytest.mark.parametrize(
    ("busy_us", "verdict"),
    [
        (9_000, "about: the peak of a CPU is that at the clock that was noted, which turbo clocks may exceed"),
        (4_000, "cannot tell: operators ran at 537 GFLOP/s, above the 333 of the clock that was noted"),
    ],
)
def test_a_cpu_is_not_held_against_a_clock_that_it_did_not_run_at(busy_us: int, verdict: str, tmp_path: Path) -> None:
    """2.1 GFLOP, and by the noted clock 2 threads x 64 FLOP x 2.6 GHz = 332.8 GFLOP/s. Nothing has a share of that."""
    given = Given()
    given.device("AMD EPYC", kind="cpu")
    given.about = {"cpu_flags": ["avx512f"], "cpu_hz": 2_600_000_000, "threads": 2}
    given.op("aten::mm", 0, busy_us, [[1024, 1024], [1024, 1024]], ["", ""])
    given.op("aten::mm", 10_000, 50_000, [[1024, 1024], [1024, 1024]], ["", ""])
    given.span("module", "slow", 9_999, 50_001)
    connection = given.open(tmp_path)
    assert pick(section(connection, "roofline/peaks"), "verdict") == [(verdict,)]
    shares = pick(section(connection, "roofline/layers"), "attainable_pct")
    assert (shares == [(None,)] * 2) == verdict.startswith("cannot tell")


def test_winograd_does_not_say_that_the_clock_was_higher(tmp_path: Path) -> None:
    """It takes fewer FLOP than the direct method, which is counted: 483 GFLOP/s of 333 are no faster clock."""
    given = Given()
    given.device("AMD EPYC", kind="cpu")
    given.about = {"cpu_flags": ["avx512f"], "cpu_hz": 2_600_000_000, "threads": 2}
    values = ["", "", "", [1, 1], [1, 1], [1, 1], False, [0, 0], 1]
    given.op("aten::convolution", 0, 1250, [(8, 64, 32, 32), (64, 64, 3, 3), *[()] * 7], values)
    given.primitive("convolution", 10, 1240, impl="jit_wino:avx512_core", prop_kind="forward_training")
    connection = given.open(tmp_path)
    [row] = section(connection, "roofline/peaks")
    assert row["verdict"].startswith("about")
    [row] = section(connection, "roofline/operators")
    assert (row["attainable_pct"], row["bound"]) == (None, "cannot tell: faster than the peaks")


def test_a_copy_that_was_measured_is_the_bandwidth_of_a_cpu_for_the_roofline_alone(tmp_path: Path) -> None:
    """Caches move faster than that: what advice takes for the least time is of arithmetic alone."""
    given = Given()
    given.add("devices", device=0, name="A processor", kind="cpu")
    given.about = {"cpu_flags": ["avx2"], "cpu_hz": 2_000_000_000, "threads": 2, "copy_bytes_per_s": 10_000_000_000}
    given.op("aten::relu", 0, 1000, [[500_000]], [""])
    given.op("aten::mm", 2000, 3000, [[100, 100], [100, 100]], ["", ""])
    connection = given.open(tmp_path)
    found = {row["op_name"]: row for row in section(connection, "roofline/operators")}
    assert (found["aten::relu"]["floor_ns"], found["aten::relu"]["bound"]) == (400_000, "memory")
    assert found["aten::relu"]["attainable_pct"] == pytest.approx(40)
    [row] = section(connection, "roofline/peaks")
    assert row["verdict"].endswith("the bandwidth is that of a copy after the recording")
    floors = dict(connection.execute("SELECT op_name, floor_ns FROM op_floors").fetchall())
    assert floors == {"aten::relu": None, "aten::mm": pytest.approx(1e9 * 2e6 / (4 * 8 * 2e9 * 2))}
