"""rocprof v1's two files, built as its scripts write them: the same rows out of both, and nobody else takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import opened as opened_text
from asked import rows
from databases import opened, write

from traceview.decode.files import peek
from traceview.readers import READERS, rocprof

OPS = [
    {"BeginNs": 1_000_300, "EndNs": 1_000_555, "dev-id": 0, "queue-id": 1, "Name": '"gemm"', "pid": 7, "tid": 8},
    {"BeginNs": 1_000_600, "EndNs": 1_000_700, "dev-id": 0, "queue-id": 1, "Name": "CopyHostToDevice", "pid": 7,
     "tid": 8},
]  # fmt: skip
HIP = [{"BeginNs": 1_000_100, "EndNs": 1_000_120, "pid": 7, "tid": 8, "Name": "hipLaunchKernel", "args": "( x )"}]
KERNELS = "SELECT name, start_ns, dur_ns, device, stream FROM kernels"
COPIES = "SELECT direction, start_ns, dur_ns, device FROM memcpys"
CALLS = "SELECT name, kind, start_ns, dur_ns, pid, tid FROM api_calls"


def events(*more: dict[str, Any]) -> str:
    """As sqlitedb.py prints them: an empty event first, times as texts, the table's row among the arguments."""
    spans = [
        {"ph": "X", "name": row["Name"].strip('"'), "pid": 6 if "dev-id" in row else 2, "tid": 1,
         "ts": str(row["BeginNs"] // 1000), "dur": "1", "args": {key: str(value) for key, value in row.items()}}
        for row in (*OPS, *HIP)
    ]  # fmt: skip
    label = {"args": {"name": "GPU0"}, "ph": "M", "pid": 6, "name": "process_name"}
    return json.dumps({"traceEvents": [{}, label, *spans, *more], "otherData": {"rocprof": "1"}})


@pytest.mark.parametrize("form", ["database", "json"])
def test_both_files_say_the_same(tmp_path: Path, form: str) -> None:
    if form == "database":
        found = opened(write(tmp_path / "trace", {"OPS": OPS, "HIP": HIP}), tmp_path / "capture")
    else:
        found = opened_text(tmp_path, events())
    assert rows(found, KERNELS) == [("gemm", 200, 255, 0, 1)]
    assert rows(found, COPIES) == [("HtoD", 500, 100, 0)]
    assert rows(found, CALLS) == [("hipLaunchKernel", "runtime", 0, 20, 7, 8 if form == "database" else 1)]
    assert rows(found, "SELECT format, n_kept FROM captures")[0][0] == "rocprof"
    assert rows(found, "SELECT DISTINCT kind FROM devices") == [("gpu",)]


def test_copies_of_hsa_and_kernels_without_queues(tmp_path: Path) -> None:
    """A database of kernels alone (table A), as `rocprof --stats` writes it, with asynchronous copies."""
    kernel = {"Index": 0, "KernelName": '"conv.kd"', "gpu-id": 1, "queue-id": 0, "BeginNs": 10, "EndNs": 30}
    copy = {"BeginNs": 40, "EndNs": 45, "Name": "hcMemcpyDeviceToHost", "pid": 7, "tid": 8}
    found = opened(write(tmp_path / "trace", {"A": [kernel], "COPY": [copy]}), tmp_path / "capture")
    assert rows(found, "SELECT name, device, dur_ns FROM kernels") == [("conv.kd", 1, 20)]
    assert rows(found, "SELECT direction, dur_ns FROM memcpys") == [("DtoH", 5)]


@pytest.mark.parametrize("form", ["database", "json"])
def test_a_kernel_may_begin_with_the_name_of_a_copy(tmp_path: Path, form: str) -> None:
    names = ["fill_kernel", '"copy_if_agent<float>"', "CopyHostToDeviceRect", "FillBuffer", "hcMemcpyDeviceToHost"]
    given = [{**OPS[0], "Name": name} for name in names]
    if form == "database":
        found = opened(write(tmp_path / "trace", {"OPS": given, "HIP": HIP}), tmp_path / "capture")
    else:
        spans = [{"ph": "X", "name": row["Name"].strip('"'), "pid": 6, "tid": 1, "ts": "1000", "dur": "1",
                  "args": {key: str(value) for key, value in row.items()}} for row in given]  # fmt: skip
        found = opened_text(tmp_path, json.dumps({"traceEvents": spans, "otherData": {"rocprof": "1"}}))
    assert rows(found, "SELECT name FROM kernels ORDER BY name") == [("copy_if_agent<float>",), ("fill_kernel",)]
    assert rows(found, "SELECT direction FROM memcpys ORDER BY name") == [("HtoD",), ("memset",), ("DtoH",)]


def test_every_row_of_a_database_is_accounted_for(tmp_path: Path) -> None:
    untimed = [{**OPS[0], "EndNs": None}, {**OPS[1], "BeginNs": None}]
    backwards = {**OPS[0], "EndNs": OPS[0]["BeginNs"] - 100}
    found = opened(write(tmp_path / "trace", {"OPS": [*OPS, *untimed, backwards], "HIP": HIP}), tmp_path / "capture")
    assert rows(found, "SELECT n_events, n_kept, n_repaired, n_dropped FROM captures") == [(6, 4, 1, 2)]
    assert rows(found, "SELECT kind, n FROM quality WHERE source IS NOT NULL ORDER BY kind") == [
        ("negative durations, taken as 0", 1), ("rows of OPS without a time", 2),
    ]  # fmt: skip
    assert rows(found, "SELECT dur_ns FROM kernels ORDER BY dur_ns") == [(0,), (255,)]


def test_what_was_marked_is_a_range_and_damage_is_counted(tmp_path: Path) -> None:
    marked = {"ph": "X", "name": "step 3", "pid": 0, "tid": 1, "ts": "1000", "dur": "2",
              "args": {"BeginNs": "1000000", "EndNs": "1002000", "Name": "step 3"}}  # fmt: skip
    broken = {
        "ph": "X",
        "name": "k",
        "pid": 6,
        "tid": 1,
        "ts": "1",
        "dur": "1",
        "args": {"BeginNs": "x", "dev-id": "0"},
    }
    found = opened_text(tmp_path, events(marked, broken))
    assert rows(found, "SELECT kind, name, dur_ns FROM ranges ORDER BY dur_ns DESC") == [
        ("step", "step 3", 2000),
        ("nvtx", "k", 1000),
    ]
    assert rows(found, "SELECT count(*) FROM kernels") == [(1,)]


def test_both_are_known_by_content_alone(tmp_path: Path) -> None:
    (tmp_path / "json").write_text(events(), encoding="utf-8")
    write(tmp_path / "database", {"OPS": OPS, "HIP": HIP})
    for name in ("json", "database"):
        assert next(reader for reader in READERS if reader.sniff(peek(tmp_path / name))) is rocprof
        assert [reader for reader in READERS if reader.NAME != "chrome" and reader.sniff(peek(tmp_path / name))] == [
            rocprof
        ]
