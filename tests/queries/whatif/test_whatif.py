"""Steps without some of their costs: what each takes, counted once; communication by model, to the printed digit."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from advised import training
from asked import connected
from cases import first
from given import Given, conv, conv_backward, pick, section, write
from jobs import Job

from traceview.analysis import advice

TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"
DGRAD = "void cudnn::cnn::dgrad_engine<float>(int)"
IMAGE, FILTER, OUT = (2, 3, 32, 32), (8, 3, 3, 3), (2, 8, 32, 32)


def gone(connection: duckdb.DuckDBPyConnection, costs: str) -> dict[str, float]:
    """Return the removed time, in microseconds, by cost."""
    rows = section(connection, "whatif/prediction", costs=costs)
    return {row["without"]: row["removed_ns"] / 1e3 for row in rows}


def first_layer() -> Given:
    """Three steps: a late launch, a first layer with its gradient in two kernels, a copy beside other work."""
    given = training()
    for start in (0, 1000, 2000):
        conv(given, start + 10, IMAGE, FILTER, padding=1)
        given.kernel("implicit_convolve_sgemm", start + 20, start + 60, launched=start + 12)
        given.kernel("vectorized_elementwise_kernel<relu>", start + 90, start + 100, launched=start + 70)
        conv_backward(given, start + 200, IMAGE, FILTER, OUT, padding=1)
        given.kernel(TO_NHWC, start + 220, start + 230, launched=start + 201)
        given.kernel(DGRAD, start + 230, start + 280, launched=start + 202)
        given.copy("HtoD", start + 270, start + 300, launched=start + 203, stream=8, size_bytes=1000)
        given.span("phase", "data", start + 400, start + 700)
        given.kernel("ampere_sgemm_128x64_nn", start + 600, start + 900, launched=start + 500)
    return given


@pytest.mark.slow
def test_each_cost_alone_and_all_together_once(tmp_path: Path) -> None:
    with first_layer().open(tmp_path) as connection:
        found = gone(connection, "layout,firstlayer,copies,launches,data")
    late = 30 + 120 + 100
    expected = {
        "layout": 10,
        "firstlayer": 60,
        # Of the copy's 30 us the gradient covers 10.
        "copies": 20,
        # 60 to 90, 100 to 220, and 300 to 400, until the loading begins; what reaches over a step's edge is none.
        "launches": late,
        # 400 to 600: then the device works again.
        "data": 200,
        # The layout change is part of the gradient.
        "all together": 60 + 20 + late + 200,
    }
    # Sums of floating-point numbers may be added in another order.
    assert found == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "cost"),
    first(
        1,
        [("unfused_bias_activation", "pointwise"), ("first_layer_gradient", "firstlayer"), ("host_bound", "launches")],
    ),
)
def test_a_rule_can_save_what_its_cost_takes_away(rule: str, cost: str, tmp_path: Path) -> None:
    anything = dict.fromkeys(("unfused_device_pct", "host_step_pct"), "0")
    given = first_layer()
    given.kernel("vectorized_elementwise_kernel<relu>", 2950, 2953, launched=2949)
    with given.open(tmp_path) as connection:
        (found,) = advice.run(connection, advice.load([rule]), anything)
        assert found.saving_ns == round(1000 * gone(connection, cost)[cost]) > 0


@pytest.mark.slow
def test_on_a_cpu_what_loading_computes_is_gone_with_the_data(tmp_path: Path) -> None:
    given = training(device=None)
    for start in (0, 1000, 2000):
        given.span("phase", "data", start + 100, start + 500)
        given.op("aten::add", start + 100, start + 350)
        given.op("aten::mm", start + 500, start + 900)
    with given.open(tmp_path) as connection:
        # 250 of them run an operator, 150 none.
        assert gone(connection, "data") == pytest.approx({"data": 400, "all together": 400})
        (found,) = advice.run(connection, advice.load(["data_loading"]))
        assert found.saving_ns == 400_000


@pytest.mark.long
def test_what_two_devices_of_a_process_wait_for_together_counts_once(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        for device in (0, 1):
            given.kernel(TO_NHWC, start + 10, start + 100, launched=start + 1, device=device)
            given.kernel("ampere_sgemm_128x64_nn", start + 600, start + 1000, launched=start + 500, device=device)
        given.span("phase", "data", start + 200, start + 500)
    with given.open(tmp_path) as connection:
        assert gone(connection, "layout,data") == {"layout": 90, "data": 300, "all together": 390}


@pytest.mark.long
def test_waits_of_two_kinds_in_one_idle_stretch_count_each_moment_once(tmp_path: Path) -> None:
    given = training()
    for start in (0, 1000, 2000):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 100, launched=start + 1)
        given.span("phase", "data", start + 100, start + 400)
        given.call("cudaMalloc", start + 350, start + 600)
        given.kernel("ampere_sgemm_128x64_nn", start + 700, start + 1000, launched=start + 650)
    with given.open(tmp_path) as connection:
        # From 350 to 400 both wait: that is loading.
        expected = {"data": 300, "allocations": 200, "all together": 500}
        assert gone(connection, "data,allocations") == pytest.approx(expected)
        assert gone(connection, "data") == {"data": 300, "all together": 300}


def test_the_prediction_is_the_step_without_them(tmp_path: Path) -> None:
    with first_layer().open(tmp_path) as connection:
        rows = section(connection, "whatif/prediction", costs="firstlayer")
    assert pick(rows, "without", "step_ns", "predicted_ns", "removed_pct") == [
        ("firstlayer", 1_000_000, 940_000, pytest.approx(6.0)),
        ("all together", 1_000_000, 940_000, pytest.approx(6.0)),
    ]
    assert rows[0]["speedup"] == pytest.approx(1000 / 940)


def test_nothing_is_removed_where_nothing_is(tmp_path: Path) -> None:
    with Given().open(tmp_path) as connection:
        assert section(connection, "whatif/prediction") == []
        assert section(connection, "whatif/communication") == []


TABLE = {
    # Total batch, ranks: parameter server, tree, ring, as printed for 200 ms at batch 256 and 25 ms for 250 MB.
    (128, 2): (1.00, 1.00, 1.33),
    (128, 4): (0.57, 0.80, 1.60),
    (256, 2): (1.33, 1.33, 1.60),
    (256, 4): (1.00, 1.33, 2.29),
    (512, 2): (1.60, 1.60, 1.78),
    (512, 4): (1.60, 2.00, 2.91),
}


@pytest.mark.long
@pytest.mark.parametrize("batch", [128, 256, 512])
def test_models_of_communication_give_the_published_speedups(batch: int, tmp_path: Path) -> None:
    """Two ranks share the batch; their ring takes 25 ms for 250 MB, as one transfer does at that rate."""
    compute_us = 200_000 * batch / 256 / 2
    given = training(2, compute_us + 25_000)
    for start in (0, compute_us + 25_000):
        given.op("aten::mm", start, start + compute_us)
        at = start + compute_us
        given.collective("all_reduce", at, at + 25_000, kind="all_reduce", size_bytes=250_000_000, group_size=2)
    with given.open(tmp_path) as connection:
        rows = section(connection, "whatif/communication", ranks="2,4")
    assert {row["link_bytes_per_s"] for row in rows} == {10e9}
    for n in (2, 4):
        found = tuple(round(row["speedup"], 2) for row in rows if row["n"] == n)
        assert found == TABLE[batch, n]


@pytest.mark.long
def test_the_rate_is_that_of_all_reduces_also_beside_other_collectives(tmp_path: Path) -> None:
    given = training(1)
    given.op("aten::mm", 0, 500)
    given.collective("all_gather", 500, 900, kind="all_gather", size_bytes=1_000_000, group_size=2)
    given.collective("all_reduce", 600, 1000, kind="all_reduce", size_bytes=1_000_000, group_size=2)
    with given.open(tmp_path) as connection:
        rows = section(connection, "whatif/communication", ranks="2")
    # 1 MB in 400 us, of which the gathering covers 300.
    assert {row["link_bytes_per_s"] for row in rows} == {2.5e9}


def test_rate_latency_and_hiding(tmp_path: Path) -> None:
    given = training(1)
    given.op("aten::mm", 0, 900)
    given.collective("all_reduce", 900, 1000, kind="all_reduce", size_bytes=1_000_000, group_size=2)
    with given.open(tmp_path) as connection:
        rows = section(connection, "whatif/communication", ranks="8", link_bytes_per_s=1e9, latency_ns=1000.0)
    eight = [row for row in rows if row["n"] == 8]
    # 14, 6 and 1.75 times 1 ms, and as many messages as each model sends one after the other.
    assert pick(eight, "model", "communication_ns") == [
        ("parameter server", 14_014_000),
        ("tree", 6_006_000),
        ("ring", 1_764_000),
    ]
    assert pick(eight, "compute_ns", "hidden_step_ns")[2] == (225_000, 1_764_000)
    assert eight[2]["hidden_speedup"] == pytest.approx(1_800_000 / 1_764_000)


@pytest.mark.slow
def test_a_link_is_as_fast_for_the_rank_that_waits_as_for_the_last_one(tmp_path: Path) -> None:
    """1 MB in 100 us; rank 0 is in the first all-reduce of a step 40 us before rank 1 comes."""
    write(tmp_path, *Job(ranks=2, late=lambda step, rank: 40.0 * rank).build())
    with connected(tmp_path) as connection:
        rows = section(connection, "whatif/communication", ranks="2")
    # Three models for each of two ranks.
    assert [row["rank"] for row in rows] == [0] * 3 + [1] * 3
    assert [row["link_bytes_per_s"] for row in rows] == pytest.approx([10e9] * 6)


WORKED_OUT = {
    # Rank, ranks: compute, communication as parameter server, tree and ring in ns; speedups.
    (0, 2): (52_675_151.5, 55_035_890, 55_035_890, 27_517_945, 0.978083, 0.978083, 1.313708),
    (0, 4): (26_337_575.75, 165_107_670, 110_071_780, 41_276_917.5, 0.550289, 0.772310, 1.558102),
    # Two all-reduces of this rank overlap: a moment counts once. One of them goes on for 30,713 ns between the two
    # steps, which are no part of either.
    (1, 2): (49_527_124.5, 56_668_971, 56_668_971, 28_334_485.5, 0.932749, 0.932749, 1.272183),
    (1, 4): (24_763_562.25, 170_006_913, 113_337_942, 42_501_728.25, 0.508569, 0.717257, 1.472591),
}
"""By a script of its own from the events of the trace, with rational numbers: 2 (n - 1), 2 ceil(log2 n) and
2 (n - 1) / n times the bytes over the rate, of all buckets of one step, each from when both ranks are in it. Views hide
none: nothing computes in them."""


@pytest.mark.slow
def test_of_two_processes_on_cpus_each_model_is_as_worked_out_by_hand(root: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(root / "samples" / "kineto" / "torch-2.13.0-lenet-ddp-cpu")
    rows = section(connection, "whatif/communication", ranks="4")
    assert {row["size_bytes"] for row in rows} == {4 * 431_080}
    for (rank, n), (compute, *models) in WORKED_OUT.items():
        found = [row for row in rows if (row["rank"], row["n"]) == (rank, n)]
        assert [row["compute_ns"] for row in found] == pytest.approx([compute] * 3, abs=1)
        assert [row["communication_ns"] for row in found] == pytest.approx(models[:3], abs=1)
        assert [row["speedup"] for row in found] == pytest.approx(models[3:], abs=1e-6)
    # What nothing hides is what the prediction leaves out.
    exposed = {
        row["rank"]: row["removed_ns"] for row in section(connection, "whatif/prediction", costs="communication")
    }
    assert exposed == {0: pytest.approx(9_557_373.5), 1: pytest.approx(9_449_108.5)}


@pytest.mark.long
@pytest.mark.shared
def test_of_a_public_trace_with_nccl_each_model_is_as_worked_out_by_hand(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces" / "kineto/a100-convnet-train-nccl.json.gz")
    rows = section(connection, "whatif/communication", ranks="8")
    assert rows[0]["size_bytes"] == pytest.approx(102_228_128)
    assert [row["communication_ns"] / 1e6 for row in rows] == pytest.approx(
        [31.174773, 31.174773, 15.587386, 218.223409, 93.524318, 27.277926], abs=1e-6
    )
    assert [row["speedup"] for row in rows] == pytest.approx(
        [1.740596, 1.740596, 1.861303, 1.546524, 2.869047, 5.257584], abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.shared
def test_on_a_public_trace_it_agrees_with_the_rules(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces" / "nvprof/gtx980-tf-alexnet-new.txt.gz")
    found = gone(connection, "layout,firstlayer,copies")
    rules = {f.rule: f.saving_ns for f in advice.run(connection, advice.load(["layout_between_operators"]))}
    # What is projected is without any conversion; the rule leaves out filters, which any layout of images needs.
    query = """SELECT sum(k.dur_ns) / any_value(s.n_steps) FROM kernels k SEMI JOIN filter_conversions f ON f.id = k.id
        JOIN scope s USING (rank) JOIN steps t USING (rank, step) WHERE NOT t.is_warmup"""
    (filters,) = connection.execute(query).fetchall()[0]
    assert filters > 1e6
    assert found["layout"] * 1e3 == pytest.approx(rules["layout_between_operators"] + filters, rel=0.01)
    assert found["firstlayer"] == pytest.approx(3672, abs=1)
    # The copy of the gradient to the host belongs to two costs.
    assert found["all together"] == pytest.approx(6130 + 3672 + 3256 - 1591, abs=5)
