"""Time by layer and pass."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from asked import connected
from given import Given, pick, section, write


@pytest.mark.slow
def test_the_update_of_the_weights_is_no_forward_pass_whatever_scope_it_has(tmp_path: Path) -> None:
    given = Given()
    for name, start in (("net/conv1/Conv2D:Conv2D", 0), ("StatefulPartitionedCall/sgd/Mul_7:Mul", 100)):
        scope = name.removeprefix("StatefulPartitionedCall/").rpartition("/")[0]
        row = {"name": name, "module_hierarchy": scope, "start_ns": start * 1000, "dur_ns": 50_000}
        given.add("ops", pid=1, tid=1, **row)
    found = section(given.open(tmp_path), "layers/layers")
    assert pick(found, "layer", "forward_ns", "backward_ns", "other_ns", "top") == [
        ("net/conv1", 50_000, 0, 0, "conv"),
        ("sgd", 0, 0, 50_000, "optimizer"),
    ]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Two processes, each with a convolution in each of two steps."""
    ranks = [Given(0), Given(1)]
    for given in ranks:
        for step, at in enumerate((0, 1000)):
            given.span("step", f"ProfilerStep#{step}", at, at + 900)
            shapes = [(2, 8, 32, 32), (8, 8, 3, 3), (8,)]
            lasting = 300 + 100 * given.rank
            given.op("aten::conv2d", at, at + lasting, shapes, ("", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"))
    folder = tmp_path_factory.mktemp("two")
    write(folder, *ranks)
    return connected(folder)


@pytest.mark.long
@pytest.mark.parametrize(
    ("report", "column"),
    [
        ("layers/layers", "total_ns"),
        ("conv/layers", "total_ns"),
        ("overview/convolutions", "total_ns"),
        ("algorithms/summary", "total_ns"),
        ("overview/categories", "busy_ns"),
        ("libraries/libraries", "busy_ns"),
    ],
)
def test_of_several_ranks_a_report_shows_what_one_does_in_a_step(
    two: duckdb.DuckDBPyConnection, report: str, column: str
) -> None:
    found = section(two, report)
    devices = [row for row in found if not row.get("category", "").startswith("(")]
    assert sum(row[column] for row in devices) == 350_000
    assert [row["calls"] for row in devices if "calls" in row] in ([], [1.0])


def test_what_has_a_direction_is_of_that_pass_also_without_a_layer(tmp_path: Path) -> None:
    """JAX, TensorFlow 1: 205 ms of forward convolutions stood under other."""
    given = Given()
    names = ("Conv2D", "Conv2D_grad/Conv2DBackpropFilter", "MaxPool", "gradients/MaxPool_grad/MaxPoolGrad", "Mul")
    for at, name in enumerate(names):
        given.op(f"{name}:{name.rpartition('/')[2]}", 100 * at, 100 * at + 10 * (at + 1))
    found = section(given.open(tmp_path), "layers/layers")
    ways = zip(*pick(found, "forward_ns", "backward_ns", "other_ns"), strict=True)
    assert [sum(way) for way in ways] == [40_000, 60_000, 50_000]


@pytest.mark.slow
def test_a_scope_called_optimizer_is_the_optimizer(tmp_path: Path) -> None:
    given = Given()
    row = {"name": "jit(step)/optimizer/sub", "module_hierarchy": "optimizer", "start_ns": 0, "dur_ns": 50_000}
    given.add("ops", pid=1, tid=1, **row)
    found = section(given.open(tmp_path), "layers/layers")
    assert pick(found, "layer", "forward_ns", "other_ns", "top") == [("optimizer", 0, 50_000, "optimizer")]


@pytest.mark.long
def test_reading_a_variable_is_no_use_of_a_layer_yet(tmp_path: Path) -> None:
    given = Given()
    rows = [("conv2/Conv2D/ReadVariableOp:ReadVariableOp", 0), ("conv1/Conv2D:Conv2D", 10), ("conv2/Conv2D:Conv2D", 20)]
    for name, start in [*rows, ("table/Const:Const", 30)]:
        scope = name.partition("/")[0]
        given.add("ops", pid=1, tid=1, name=name, module_hierarchy=scope, start_ns=start, dur_ns=5)
    query = "SELECT layer, position, first_ns, n_ops FROM layers ORDER BY position"
    found = given.open(tmp_path).execute(query).fetchall()
    assert found == [("conv1", 1, 10, 1), ("conv2", 2, 20, 2), ("table", 3, 30, 1)]


@pytest.mark.long
def test_turning_a_weight_is_no_use_of_a_layer_yet(tmp_path: Path) -> None:
    given = Given()
    for name, layer, start in (
        ("InplaceDimShuffle{x,0,x,x}", "conv2", 0),
        ("Subtensor{::, ::, ::int64, ::int64}", "conv2", 5),
        ("CorrMM{valid, (4, 4), (1, 1), 1 False}", "conv1", 10),
        ("CorrMM{valid, (1, 1), (1, 1), 1 False}", "conv2", 20),
    ):
        given.add("ops", pid=1, tid=1, name=name, module_hierarchy=layer, start_ns=start, dur_ns=5)
    found = given.open(tmp_path).execute("SELECT layer, first_ns FROM layers ORDER BY position").fetchall()
    assert found == [("conv1", 10), ("conv2", 20)]
