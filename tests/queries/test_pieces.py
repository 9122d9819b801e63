"""On a CPU an operator that others interrupt is several rows of `activities`: still one call, its time counted once."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
from advised import answer
from asked import connected
from given import Given, conv, pick, section, write


@pytest.fixture
def pieces(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """Two operators in two pieces each: 20 and 60 us around another one of 20."""
    given = Given()
    for name, start in (("c10d::allreduce_", 0), ("aten::contiguous", 200)):
        given.op(name, start, start + 100)
        given.op("aten::empty", start + 20, start + 40)
    return given.open(tmp_path)


@pytest.mark.long
def test_what_several_costs_take_away_is_as_much_as_each(pieces: duckdb.DuckDBPyConnection) -> None:
    rows = section(pieces, "whatif/prediction", costs="layout,communication")
    assert pick(rows, "without", "removed_ns") == [
        ("communication", 80_000),
        ("layout", 80_000),
        ("all together", 160_000),
    ]


def test_calls_are_of_operators(pieces: duckdb.DuckDBPyConnection) -> None:
    for report in ("layout/summary", "layout/changes"):
        assert pick(section(pieces, report), "calls", "busy_ns") == [(1, 80_000)]
    assert pick(section(pieces, "libraries/libraries"), "library", "calls") == [("framework", 4)]
    assert sum(row["calls"] for row in section(pieces, "libraries/categories")) == 4
    assert pick(section(pieces, "communication/summary"), "calls", "busy_ns") == [(1, 80_000)]
    assert pick(section(pieces, "communication/kinds"), "calls", "total_ns", "mean_ns") == [(1, 80_000, 80_000)]


def test_a_fused_node_is_one_call(tmp_path: Path) -> None:
    given = Given()
    shapes = json.dumps([[1, 3, 8, 8], [4, 3, 3, 3], [4]])
    facts = {"shapes": shapes, "output_shapes": "[[1,4,6,6]]", "backend": "CPUExecutionProvider"}
    given.add("ops", name="conv1:Conv", pid=1, tid=1, start_ns=0, dur_ns=100_000, **facts)
    given.op("Reorder", 20, 40)
    found = section(given.open(tmp_path), "pointwise/layers")
    assert pick(found, "work", "form", "calls") == [("bias", "fused", 1)] * 2


@pytest.mark.long
def test_the_gradient_of_the_input_counts_once(tmp_path: Path) -> None:
    given = Given()
    known = {"shapes": "[[1,3,8,8],[4,3,3,3]]", "output_shapes": "[[1,4,6,6]]"}
    known["inputs"] = json.dumps(["[1, 1]", "[0, 0]", "[1, 1]", "1"])
    names = ("net/conv1/Conv2D:Conv2D", "gradients/net/conv1/Conv2D_grad/Conv2DBackpropInput:Conv2DBackpropInput")
    for name, start in zip(names, (0, 100), strict=True):
        given.add("ops", name=name, pid=1, tid=1, start_ns=start * 1000, dur_ns=100_000, **known)
    given.op("Transpose", 120, 140)
    found = answer("first_layer_gradient", given, tmp_path)
    assert (found.status, found.saving_ns, found.evidence) == (
        "found",
        80_000,
        (f"{names[1]}: 1 calls and 0.080 ms",),
    )


def test_what_used_an_algorithm_is_per_rank(tmp_path: Path) -> None:
    ranks = []
    for number in (0, 1):
        ranks.append(Given(number))
        ranks[-1].device("Tesla V100-SXM2-16GB")
        conv(ranks[-1], 0, (2, 8, 32, 32), (8, 8, 3, 3), padding=1)
        ranks[-1].kernel("implicit_convolve_sgemm", 2, 8, launched=1)
    write(tmp_path, *ranks)
    with connected(tmp_path) as connection:
        rows = section(connection, "conv/admissible")
        assert sum(row["used"] for row in rows) == 1
        assert [row["calls"] for row in section(connection, "conv/layers")] == [1]
