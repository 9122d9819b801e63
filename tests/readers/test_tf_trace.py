"""The rendering of an XPlane file agrees with it, says that it is the lesser one, and gives way to it."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows

from traceview import store
from traceview.decode.files import peek
from traceview.readers import READERS

pytestmark = pytest.mark.shared


@pytest.mark.long
def test_it_agrees_with_its_xplane_file(captures: Any, shared: Path) -> None:
    folder = shared / "traces/xplane"
    both = [captures.open(folder / f"sm61-tf2-train.{kind}.gz") for kind in ("trace.json", "xplane.pb")]
    for query in (
        "SELECT name, op_name, op_link, layer, stream, dur_ns FROM kernels ORDER BY ALL",
        "SELECT direction, size_bytes, dur_ns FROM memcpys ORDER BY ALL",
        "SELECT start_ns - (SELECT min(start_ns) FROM kernels) AS at FROM kernels ORDER BY 1",
        "SELECT layer, direction, algorithm, total_ns FROM conv_calls ORDER BY ALL",
    ):
        assert rows(both[0], query) == rows(both[1], query)
    assert rows(both[0], "SELECT n_events, n_kept FROM captures") == [(1888, 1888)]
    assert "holds more" in rows(both[0], "SELECT warnings[1] FROM captures")[0][0]


def test_unknown_and_static_memory(shared: Path, tmp_path: Path) -> None:
    data = gzip.decompress((shared / "traces/xplane/sm61-tf2-train.trace.json.gz").read_bytes())
    data = data.replace(b"dest:0 async:1", b"kind_src:unknown kind_dst:device_static")
    (tmp_path / "host.trace.json").write_bytes(data)
    store.convert([tmp_path / "host.trace.json"], tmp_path / "capture")
    query = "SELECT DISTINCT src_kind, dst_kind FROM memcpys WHERE direction = 'HtoD'"
    assert rows(connected(tmp_path / "capture"), query) == [(None, "device")]


@pytest.mark.slow
def test_the_xplane_file_beside_it_is_read_instead(shared: Path, tmp_path: Path) -> None:
    folder = shared / "traces/xplane"
    shutil.copy(folder / "sm61-tf2-train.trace.json.gz", tmp_path / "host.trace.json.gz")
    (tmp_path / "host.xplane.pb").write_bytes(gzip.decompress((folder / "sm61-tf2-train.xplane.pb.gz").read_bytes()))
    store.convert([tmp_path / "host.trace.json.gz"], tmp_path / "one")
    connection = connected(tmp_path / "one")
    assert rows(connection, "SELECT n_events FROM captures") == [(2495,)]
    assert "host.xplane.pb" in rows(connection, "SELECT warnings[1] FROM captures")[0][0]
    store.convert([tmp_path / "host.trace.json.gz", tmp_path / "host.xplane.pb"], tmp_path / "both")
    assert rows(connected(tmp_path / "both"), "SELECT source FROM captures") == [("host.xplane.pb",)]


def test_only_this_reader_knows_it(shared: Path) -> None:
    path = shared / "traces/xplane/sm61-tf2-train.trace.json.gz"
    assert [reader.NAME for reader in READERS[:-1] if reader.sniff(peek(path))] == ["tf_trace"]
