"""Facts that a collector knew beside its trace: gaps between steps, the model's own names, shapes from its graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from cases import first

from traceview.ingest import collected
from traceview.ingest.finish import Export, finish
from traceview.ingest.sink import Sink, made
from traceview.store import views

ZERO = 1_795_000_000_000_000_000
CONV = "StatefulPartitionedCall/net_1/conv2d_1/Relu:_FusedConv2D"
UPDATE = "StatefulPartitionedCall/adam_1/IdentityN:IdentityN"


def opened(folder: Path, about: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Two steps of 100 ns each, of which the second's range opens where the first ends, with about."""
    with duckdb.connect() as connection:
        connection.execute(made())
        sink = Sink(connection)
        sink.write_rows("ranks", [{"pid": 1}])
        thread = {"pid": 1, "tid": 1}
        steps = [(0, 100), (101, 299)]
        rows = [{**thread, "start_ns": at, "dur_ns": lasts, "kind": "step"} for at, lasts in steps]
        sink.write_rows("ranges", [{**row, "name": f"train {number}"} for number, row in enumerate(rows)])
        ops = [(CONV, 10, "net_1/conv2d_1"), (CONV, 150, "net_1/conv2d_1"), (CONV, 310, "net_1/conv2d_1/inner")]
        ops.append((UPDATE, 350, "adam_1"))
        sink.write_rows(
            "ops",
            [{**thread, "name": n, "start_ns": at, "dur_ns": 20, "module_hierarchy": m} for n, at, m in ops],
        )
        sink.fact(source="given", format="given", n_kept=1, n_events=1)
        sink.zero_unix_ns = ZERO
        collected.add(sink, about)
        sink.end_source()
        finish(Export(sink, folder / "rank-0000"))
    return views.connect(folder)


@pytest.mark.slow
def test_a_step_begins_after_what_ran_before_it(tmp_path: Path) -> None:
    connection = opened(tmp_path, {"steps": {"between": [[ZERO + 100, ZERO + 300]]}})
    query = "SELECT step, start_ns, end_ns FROM steps ORDER BY step"
    assert connection.execute(query).fetchall() == [(0, 0, 100), (1, 300, 400)]
    assert connection.execute("SELECT step FROM ops ORDER BY start_ns").fetchall() == [(0,), (None,), (1,), (1,)]


def test_layers_are_the_models(tmp_path: Path) -> None:
    """TensorFlow numbers scopes anew: `net_1/conv2d_1` was taken for the model's layer of that name."""
    layers = {"net_1": "net", "net_1/conv2d_1": "net/conv2d", "adam_1": "optimizer"}
    connection = opened(tmp_path, {"layers": layers})
    query = "SELECT layer, category, count(*) FROM ops GROUP BY ALL ORDER BY ALL"
    assert connection.execute(query).fetchall() == [("net/conv2d", "conv", 3), ("optimizer", "optimizer", 1)]


@pytest.mark.slow
def test_shapes_come_from_the_graph(tmp_path: Path) -> None:
    told = {
        "shapes": [[32, 3, 12, 12], [8, 3, 3, 3]],
        "output_shapes": [[32, 8, 10, 10]],
        "inputs": [[1, 1], [0, 0], [1, 1], 1],
        "types": ["float32"],
    }
    connection = opened(tmp_path, {"convolutions": {"net_1/conv2d_1/Relu": told}})
    found = connection.execute("SELECT DISTINCT filter_shape, flop FROM conv_calls").fetchall()
    assert found == [([8, 3, 3, 3], 2 * 8 * 3 * 3 * 3 * 32 * 10 * 10)]


@pytest.mark.slow
def test_lines_come_from_the_graph(tmp_path: Path) -> None:
    # What is no text keeps its place: the texts behind it are those that were meant.
    stacks = [7, "/app/net.py(8): call;/app/train.py(17): step", "/usr/lib/python3.11/site-packages/x/y.py(2): z"]
    lines = {"stacks": stacks, "nodes": {"net_1/conv2d_1/Relu": 1, "adam_1/x": 2, "net_1/conv2d_1/Conv2D": 0}}
    connection = opened(tmp_path, {"lines": lines})
    query = "SELECT o.name, l.file, l.line, l.function FROM source_lines l JOIN raw.ops o ON o.id = l.op_id"
    assert connection.execute(query).fetchall() == [(CONV, "/app/net.py", 8, "call")] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "about",
    first(
        1,
        [
            {"lines": {"stacks": ["a.py(1): f", 3], "nodes": {CONV: 7, "net_1/conv2d_1/Relu": -1, "x": True}}},
            {"lines": {"stacks": {"a": "b"}, "nodes": ["x"]}},
            {"steps": 3, "layers": 4, "convolutions": []},
            {"steps": {"between": [[1], "x", [None, 2], [True, 5], [5, 4], [0, 1 << 70]]}},
            {"layers": {"net_1": 3}, "convolutions": {CONV: "x", "net_1/conv2d_1/Relu": {"shapes": "x", "inputs": 7}}},
        ],
    ),
)
def test_what_no_collector_writes_is_left_out(tmp_path: Path, about: dict[str, Any]) -> None:
    connection = opened(tmp_path, about)
    assert connection.execute("SELECT count(*), min(dur_ns) FROM steps").fetchall() == [(2, 100)]
    assert connection.execute("SELECT DISTINCT filter_shape FROM conv_calls").fetchall() == [(None,)]


PLACE = {"pid": 1, "how": "recorded"}
PIECES = [
    {"address": 64, "size_bytes": 100, "allocated_ns": 10, "freed_ns": 20, "freed_id": 2, **PLACE},
    {"address": 128, "size_bytes": 400, "allocated_ns": 30, **PLACE},
    {"address": 192, "size_bytes": 1024, "device": 0, "freed_ns": 40, "freed_id": 9, **PLACE},
    {"size_bytes": 9216, "device": 0, **PLACE, "how": "before"},
]


def noted(folder: Path, memory: Any) -> list[tuple[Any, ...]]:
    """Return the allocations of a run in which these tensors were noted in memory."""
    with duckdb.connect() as connection:
        connection.execute(made())
        sink = Sink(connection)
        sink.write_rows("allocations", [{**dict.fromkeys(k for row in PIECES for k in row), **row} for row in PIECES])
        sink.fact(source="given", format="given", n_kept=1, n_events=1)
        collected.add(sink, {"memory": memory})
        sink.end_source()
        finish(Export(sink, folder / "rank-0000"))
    query = "SELECT how, kind, label, device, address, size_bytes FROM allocations ORDER BY device NULLS FIRST, address"
    return views.connect(folder).execute(query).fetchall()


@pytest.mark.slow
def test_what_stays_in_memory_is_a_row_and_what_allocations_hold_is_no_guess(tmp_path: Path) -> None:
    stays = [["parameter", "fc.weight", None, 256, 40], ["parameter", "fc.bias", 0, 512, 1000]]
    start = [*stays, ["gradient", "fc.weight", None, 320, 40], ["gradient", "fc.bias", 0, 192, 1000]]
    assert noted(tmp_path, {"start": start, "end": [*stays, ["gradient", "fc.weight", None, 128, 400]]}) == [
        ("recorded", "unknown", None, None, 64, 100),
        ("recorded", "gradient", "fc.weight", None, 128, 400),
        ("noted", "parameter", "fc.weight", None, 256, 40),
        ("recorded", "gradient", "fc.bias", 0, 192, 1024),
        ("noted", "parameter", "fc.bias", 0, 512, 1024),
        ("before", "unknown", None, 0, None, 8192),
    ], "the first gradient of the weight was released unseen, as a host's are"


def test_more_than_was_there_before_is_a_difference(tmp_path: Path) -> None:
    rows = [["parameter", "w", 0, 512, 10_240]]
    found = noted(tmp_path, {"start": rows, "end": rows})
    assert found[-2:] == [
        ("noted", "parameter", "w", 0, 512, 10_240), ("difference", "unknown", None, 0, None, -1024),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "memory",
    [
        7, [], {"start": 7}, {"start": [7]}, {"start": [["parameter", "w", None, 64]]}, {"end": [[1, 2, 3, 4, 5]]},
        {"start": [["secret", "w", None, 64, 1]]}, {"start": [["parameter", "w", None, 2**64, 1]]},
        {"start": [["parameter", "w", True, 64, 2**60]]}, {"start": [["parameter", "w", None, None, 1]]},
    ],
)  # fmt: skip
def test_memory_of_another_form_is_left_out(tmp_path: Path, memory: Any) -> None:
    assert len(noted(tmp_path, memory)) == len(PIECES)
