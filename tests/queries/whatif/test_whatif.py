"""Steps without some of their costs: what each takes, counted once; communication by model, to the printed digit."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from advised import training
from given import Given, conv, conv_backward, pick, section

from traceview import advice

TO_NHWC = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)"
DGRAD = "void cudnn::cnn::dgrad_engine<float>(int)"
IMAGE, FILTER, OUT = (2, 3, 32, 32), (8, 3, 3, 3), (2, 8, 32, 32)


def gone(connection: duckdb.DuckDBPyConnection, costs: str) -> dict[str, float]:
    """What is removed, in microseconds, by cost."""
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


def test_each_cost_alone_and_all_together_once(tmp_path: Path) -> None:
    with first_layer().open(tmp_path) as connection:
        found = gone(connection, "layout,firstlayer,copies,launches,data")
    late = 30 + 20 / 3
    assert found == {
        "layout": 10,
        "firstlayer": 60,
        # Of the copy's 30 us the gradient covers 10.
        "copies": 20,
        # 60 to 90, and once 0 to 20; the other waits are longer than a launch explains.
        "launches": pytest.approx(late),
        # 400 to 600: then the device works again.
        "data": 200,
        # The layout change is part of the gradient.
        "all together": pytest.approx(60 + 20 + late + 200),
    }


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


@pytest.mark.shared
def test_on_a_public_trace_it_agrees_with_the_rules(shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    connection = captures.open(shared / "traces" / "nvprof/gtx980-tf-alexnet-new.txt.gz")
    found = gone(connection, "layout,firstlayer,copies")
    rules = {f.rule: f.saving_ns for f in advice.run(connection, advice.load(["layout_between_operators"]))}
    assert found["layout"] * 1e3 == pytest.approx(rules["layout_between_operators"])
    assert found["firstlayer"] == pytest.approx(3672, abs=1)
    # The copy of the gradient to the host belongs to two costs.
    assert found["all together"] == pytest.approx(6130 + 3672 + 3256 - 1591, abs=5)
