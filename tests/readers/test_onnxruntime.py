"""ONNX Runtime's profile: nodes with provider and shapes, runs as steps, changes of layout."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows
from given import pick, section

from traceview import store
from traceview.decode.files import peek
from traceview.readers import READERS

FUSED = "samples/onnxruntime/onnxruntime-1.31.1-lenet-fused.json.gz"
ALEXNET = "samples/onnxruntime/onnxruntime-1.31.1-alexnet-cpu.json.gz"
PLAIN = "samples/onnxruntime/onnxruntime-1.31.1-lenet-plain.json.gz"


def test_nodes_of_an_optimised_model(captures: Any, root: Path) -> None:
    connection = captures.open(root / FUSED)
    first = rows(
        connection, "SELECT name, category, layer, shapes, types, backend, step FROM ops ORDER BY start_ns LIMIT 1"
    )
    shapes = "[[8,8,28,28],[16,8,5,5],[16]]"
    types = '["float","float","float"]'
    assert first == [("r1_nchwc:Conv", "conv", "r1_nchwc", shapes, types, "CPUExecutionProvider", 0)]
    assert rows(connection, "SELECT name, count(*) FROM ops WHERE category = 'layout_transpose' GROUP BY 1") == [
        ("ReorderOutput:ReorderOutput", 3)
    ]
    assert rows(connection, "SELECT step FROM steps ORDER BY 1") == [(0,), (1,), (2,)]
    assert rows(connection, "SELECT count(*) FROM ops WHERE category = 'activation'") == [(0,)]


@pytest.mark.long
def test_nodes_of_a_plain_model(captures: Any, root: Path) -> None:
    connection = captures.open(root / PLAIN)
    found = rows(connection, "SELECT category, count(*) FROM ops GROUP BY 1 ORDER BY 1")
    assert found == [("activation", 6), ("conv", 6), ("gemm", 3), ("other", 3), ("pooling", 6)]
    assert rows(connection, "SELECT DISTINCT origin_unix_ns FROM captures") == [(None,)]


@pytest.mark.long
def test_convolutions_have_shapes_and_work(captures: Any, root: Path) -> None:
    """AlexNet, batch 2: FLOPs are 2 x 2 x the multiplications of the layer table (STUDIES B.1)."""
    connection = captures.open(root / ALEXNET)
    found = rows(
        connection,
        """SELECT layer, direction, algorithm, input_shape, filter_shape, output_shape, parameters, flop, count(*)
        FROM conv_calls GROUP BY ALL ORDER BY 1""",
    )
    products = (105_415_200, 447_897_600, 149_520_384, 224_280_576, 149_520_384)
    assert [row[-2] for row in found] == [4 * count for count in products]
    assert found[1] == (
        *("relu2_nchwc", "fprop", "direct", [2, 96, 27, 27], [256, 96, 5, 5], [2, 256, 27, 27]),
        *(614_656, 4 * 447_897_600, 2),
    )


def test_fused_bias_and_activation_are_fused_and_products_have_a_category(captures: Any, root: Path) -> None:
    connection = captures.open(root / ALEXNET)
    found = section(connection, "pointwise/layers")
    every = [row for row in found if row["layer"] == "(all layers)"]
    assert pick(every, "work", "library", "form", "calls", "busy_ns") == [
        ("activation", "mlas", "fused", 5, None),
        ("activation", "onnxruntime", "fused", 2, None),
        ("bias", "mlas", "fused", 5, None),
        ("bias", "onnxruntime", "fused", 3, None),
    ]
    # Flatten moves nothing: it is the one node that is nothing else.
    assert rows(connection, "SELECT DISTINCT name FROM activities WHERE category = 'other'") == [("flatten:Flatten",)]


def test_reorders_name_the_blocked_layout(captures: Any, root: Path) -> None:
    found = section(captures.open(root / ALEXNET), "layout/changes")
    assert pick(found, "name", "source", "target") == [("ReorderOutput:ReorderOutput", "NCHWc", "(unknown)")]


def test_copies_of_a_device_are_no_kernels(tmp_path: Path) -> None:
    """As the CUDA provider writes them: of the category of kernels, with grids of -1."""

    def event(name: str, start: int, grid: int) -> str:
        args = {"stream": "7", **{f"{what}_{axis}": str(grid) for what in ("grid", "block") for axis in "xyz"}}
        row = {"cat": "Kernel", "pid": -1, "tid": -1, "dur": 5, "ts": start, "ph": "X", "name": name, "args": args}
        return json.dumps(row)

    session = '{"cat": "Session", "pid": 1, "tid": 1, "dur": 90, "ts": 1, "ph": "X", "name": "model_run", "args": {}}'
    copies = ["HostToDevice", "DeviceArrayToHost", "DeviceToDevice", "HostToHost"]
    events = [event(f"Memcpy{way}", 10 * number, -1) for number, way in enumerate(copies)]
    path = tmp_path / "unknown"
    path.write_text("[\n" + ",\n".join([session, *events, event("void MemcpyKernel<float>(int)", 60, 4)]) + "\n]")
    knowing = [reader.NAME for reader in READERS if reader.sniff(peek(path))]
    assert knowing in (["onnxruntime"], ["onnxruntime", "chrome"])
    connection = connected(store.convert([path], tmp_path / "out"))
    assert rows(connection, "SELECT name, grid_x FROM kernels") == [("void MemcpyKernel<float>(int)", 4)]
    assert rows(connection, "SELECT direction, stream FROM memcpys ORDER BY start_ns") == [
        ("HtoD", 7),
        ("DtoH", 7),
        ("DtoD", 7),
        ("HtoH", 7),
    ]


def test_nodes_on_a_gpu_without_its_kernels_are_no_work_of_a_cpu(tmp_path: Path) -> None:
    """As a runtime built without CUDA's profiling writes them: a node's span is its launch."""
    nodes = [("Conv", "CUDAExecutionProvider"), ("Gather", "CPUExecutionProvider")]
    events: list[dict[str, Any]] = [
        {"cat": "Session", "name": "model_run", "ts": 0, "dur": 1000, "ph": "X", "args": {}}
    ]
    for number, (kind, provider) in enumerate(nodes):
        args = {"op_name": kind, "provider": provider, "node_index": str(number)}
        name = f"{kind}{number}_kernel_time"
        events.append({"cat": "Node", "name": name, "ts": 100 * number, "dur": 50, "ph": "X", "args": args})
    path = tmp_path / "unknown"
    path.write_text(json.dumps([{**event, "pid": 1, "tid": 1} for event in events]))
    connection = connected(store.convert([path], tmp_path / "out"))
    assert rows(connection, "SELECT name, dur_ns FROM activities") == [("Gather1:Gather", 50_000)]
    assert rows(connection, "SELECT count(*) FROM ops") == [(2,)]
    assert "1 nodes ran on a GPU" in rows(connection, "SELECT warnings FROM captures")[0][0][0]


def test_products_of_a_quantised_model_are_convolutions_and_matrix_products(tmp_path: Path) -> None:
    took = {"QLinearConv": 700, "NhwcFusedConv": 200, "DeformConv": 50, "QGemm": 30, "QLinearConcat": 20}
    events: list[dict[str, Any]] = [{"cat": "Session", "name": "model_run", "ts": 0, "dur": 1000, "args": {}}]
    for number, (kind, dur) in enumerate(took.items()):
        args = {"op_name": kind, "provider": "CPUExecutionProvider", "node_index": str(number)}
        start = events[-1]["ts"] + events[-1]["dur"] if number else 0
        events.append({"cat": "Node", "name": f"n{number}_kernel_time", "ts": start, "dur": dur, "args": args})
    path = tmp_path / "unknown"
    path.write_text(json.dumps([{**event, "ph": "X", "pid": 1, "tid": 1} for event in events]))
    connection = connected(store.convert([path], tmp_path / "out"))
    found = rows(connection, "SELECT category, sum(dur_ns) // 1000 FROM activities GROUP BY 1 ORDER BY 2 DESC")
    assert found == [("conv", 950), ("gemm", 30), ("concat_split", 20)]


@pytest.mark.long
def test_cut_at_any_line(root: Path, tmp_path: Path) -> None:
    text = gzip.decompress((root / FUSED).read_bytes()).splitlines(keepends=True)
    for lines in range(2, len(text), 4):
        path = tmp_path / f"cut{lines}.json"
        path.write_bytes(b"".join(text[:lines]))
        store.convert([path], tmp_path / f"out{lines}")
        connection = connected(tmp_path / f"out{lines}")
        assert rows(connection, "SELECT n_kept FROM captures") == [(lines - 1,)]
