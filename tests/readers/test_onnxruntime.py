"""ONNX Runtime's profile: nodes with provider and shapes, runs as steps, changes of layout."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from traceview import capture, store

FUSED = "samples/onnxruntime/onnxruntime-1.31.1-lenet-fused.json.gz"
PLAIN = "samples/onnxruntime/onnxruntime-1.31.1-lenet-plain.json.gz"


def rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(query).fetchall())


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


def test_nodes_of_a_plain_model(captures: Any, root: Path) -> None:
    connection = captures.open(root / PLAIN)
    found = rows(connection, "SELECT category, count(*) FROM ops GROUP BY 1 ORDER BY 1")
    assert found == [("activation", 6), ("conv", 6), ("gemm", 3), ("other", 3), ("pooling", 6)]
    assert rows(connection, "SELECT DISTINCT origin_unix_ns FROM captures") == [(None,)]


def test_cut_at_any_line(root: Path, tmp_path: Path) -> None:
    text = gzip.decompress((root / FUSED).read_bytes()).splitlines(keepends=True)
    for lines in range(2, len(text), 4):
        path = tmp_path / f"cut{lines}.json"
        path.write_bytes(b"".join(text[:lines]))
        store.convert([path], tmp_path / f"out{lines}")
        connection = capture.connect(tmp_path / f"out{lines}")
        assert rows(connection, "SELECT n_kept FROM captures") == [(lines - 1,)]
