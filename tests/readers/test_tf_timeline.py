"""TensorFlow 1 timelines: every kernel once, copies, operators, layers."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from traceview import capture, store
from traceview.files import peek
from traceview.readers import READERS

pytestmark = pytest.mark.shared


def rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(query).fetchall())


def test_kernels_are_counted_once_and_know_their_operator(captures: Any, shared: Path) -> None:
    connection = captures.open(shared / "traces/tf1-timeline/vgg-train.json.gz")
    assert rows(connection, "SELECT op_link, count(*), count(layer) FROM kernels GROUP BY 1") == [("name", 4789, 4789)]
    assert rows(connection, "SELECT kind, count(*) FROM ranges GROUP BY 1") == [("device", 4810)]
    assert rows(connection, "SELECT device, name FROM devices") == [(0, "/device:GPU:0")]
    assert rows(connection, "SELECT sum(n_kept), sum(n_events) FROM captures") == [(10019, 10019)]
    top = rows(connection, "SELECT op_name, layer FROM kernels GROUP BY ALL ORDER BY sum(dur_ns) DESC LIMIT 1")
    assert top == [("Validation/conv4_2/Conv2D:Conv2D", "Validation/conv4_2")]


def test_times_are_on_the_wall_clock(captures: Any, shared: Path) -> None:
    connection = captures.open(shared / "traces/tf1-timeline/gpu-step.json.gz")
    assert rows(connection, "SELECT DISTINCT origin_unix_ns FROM captures") == [(1490280136316529000,)]
    gradients = rows(connection, "SELECT DISTINCT layer FROM ops WHERE name LIKE 'gradients/layer_1/%'")
    assert ("layer_1/fully_connected",) in gradients


def test_only_this_reader_knows_it(shared: Path, tmp_path: Path) -> None:
    for name in ("vgg-train", "gpu-step"):
        unknown = tmp_path / "unknown"
        unknown.write_bytes((shared / f"traces/tf1-timeline/{name}.json.gz").read_bytes())
        claims = [reader.NAME for reader in READERS[:-1] if reader.sniff(peek(unknown))]
        assert claims == ["tf_timeline"]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.999])
def test_a_cut_file_keeps_what_is_whole(shared: Path, tmp_path: Path, share: float) -> None:
    whole = gzip.decompress((shared / "traces/tf1-timeline/vgg-train.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: int(len(whole) * share)])
    store.convert([path], tmp_path / "out")
    connection = capture.connect(tmp_path / "out")
    found = rows(connection, "SELECT sum(n_kept) FROM captures")[0][0]
    assert abs(found - 10019 * share) < 1500
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]
