"""rocprofv3's nested JSON, read array by array: a real file, and a small one with every kind of record."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected, rows

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS

pytestmark = pytest.mark.slow


def record(kind: int, operation: int, start: int, end: int, number: int, **rest: Any) -> dict[str, Any]:
    return {
        "size": 64,
        "kind": kind,
        "operation": operation,
        "thread_id": 9,
        "correlation_id": {"internal": number, "external": 0},
        "start_timestamp": start,
        "end_timestamp": end,
        **rest,
    }


def small() -> dict[str, Any]:
    cpu, gpu = {"handle": 1}, {"handle": 2}
    xyz = {"y": 1, "z": 1}
    dispatch = {
        "agent_id": gpu,
        "queue_id": {"handle": 16},
        "kernel_id": 5,
        "group_segment_size": 512,
        "workgroup_size": {"x": 64, **xyz},
        "grid_size": {"x": 130, **xyz},
    }
    return {
        "rocprofiler-sdk-tool": [
            {
                "metadata": {"node": {"hostname": "h"}, "pid": 77, "command": ["python", "train.py"]},
                "agents": [
                    {"id": cpu, "type": 1, "name": "EPYC", "logical_node_type_id": 0, "mem_banks": []},
                    {"id": gpu, "type": 2, "name": "gfx942", "product_name": "MI300X", "logical_node_type_id": 0,
                     "cu_count": 304, "mem_banks": [{"size_in_bytes": 5}]},
                ],
                "strings": {
                    "buffer_records": [
                        {"kind": "NONE", "operations": []},
                        {"kind": "HIP", "operations": ["hipMalloc", "hipLaunchKernel"]},
                        {"kind": "COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
                        {"kind": "MARK", "operations": ["roctxMarkA", "roctxThreadRangeA"]},
                        {"kind": "ALLOCATION", "operations": ["NONE", "ALLOCATE"]},
                    ],
                    "marker_api": [{"key": 14, "value": "forward"}],
                },
                "kernel_symbols": [
                    {"kernel_id": 5, "kernel_name": "_Z1kv", "formatted_kernel_name": "k()", "arch_vgpr_count": 32}
                ],
                "buffer_records": {
                    "kernel_dispatch": [record(9, 2, 200, 260, 11, dispatch_info=dispatch)],
                    "hip_api": [record(1, 1, 100, 120, 11)],
                    "marker_api": [record(3, 1, 90, 130, 14)],
                    "memory_copy": [record(2, 1, 50, 80, 12, src_agent_id=cpu, dst_agent_id=gpu, bytes=4096)],
                    "memory_allocation": [record(4, 1, 10, 20, 13, allocation_size=7)],
                    "rccl_api": [],
                },
            }
        ]
    }  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
def test_every_kind_of_record(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "any"
    path.write_text(json.dumps(small(), indent=indent))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(
        connection,
        """SELECT name, device, stream, start_ns, dur_ns, grid_x, block_x, registers, shared_bytes,
            launch_id IS NOT NULL FROM kernels""",
    ) == [("k()", 0, 16, 190, 60, 3, 64, 32, 512, True)]
    assert rows(connection, "SELECT direction, size_bytes, dst_device, src_device, dur_ns FROM memcpys") == [
        ("HtoD", 4096, 0, None, 30)
    ]
    assert rows(connection, "SELECT name, kind, pid, tid FROM api_calls") == [("hipLaunchKernel", "runtime", 77, 9)]
    assert rows(connection, "SELECT name, kind, domain, dur_ns FROM ranges") == [("forward", "nvtx", "roctx", 40)]
    assert rows(connection, "SELECT name, phase, category FROM events") == [
        ("ALLOCATE", "ALLOCATION", "memory_allocation")
    ]
    assert rows(connection, "SELECT device, name, architecture, n_cores, memory_bytes FROM devices") == [
        (0, "MI300X", "gfx942", 304, 5)
    ]
    assert rows(connection, "SELECT n_events, n_kept, problems, command FROM captures") == [
        (5, 5, None, "python train.py")
    ]


def test_a_copy_is_on_no_queue(tmp_path: Path) -> None:
    """Numbers of queues and of HIP streams are two: a copy on HIP stream 16 does not run on queue 16."""
    whole = small()
    (copy,) = whole["rocprofiler-sdk-tool"][0]["buffer_records"]["memory_copy"]
    copy.update(stream_id={"handle": 16}, start_timestamp=210, end_timestamp=250)
    path = tmp_path / "any"
    path.write_text(json.dumps(whole))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(connection, "SELECT stream FROM memcpys") == [(None,)]
    assert rows(connection, "SELECT kind FROM quality WHERE kind LIKE '%overlap%'") == []


def test_names_of_ranges_say_what_they_are_and_the_host_is_no_gpu(tmp_path: Path) -> None:
    """A range of a process belongs to no thread, a mark is none; a copy within the host does not make GPU 0 busy."""
    whole = small()
    tool = whole["rocprofiler-sdk-tool"][0]
    tool["strings"]["buffer_records"][3]["operations"].append("roctxProcessRangeA")
    tool["strings"]["buffer_records"][2]["operations"].append("MEMORY_COPY_HOST_TO_HOST")
    tool["strings"]["marker_api"] += [
        {"key": 20, "value": "here"},
        {"key": 21, "value": "iteration 4"},
        {"key": 22, "value": "traceview.module: conv1"},
    ]
    tool["buffer_records"]["marker_api"] += [
        record(3, 0, 95, 95, 20), record(3, 2, 80, 300, 21), record(3, 1, 99, 125, 22)
    ]  # fmt: skip
    cpu, unknown = {"handle": 1}, {**tool["buffer_records"]["kernel_dispatch"][0]["dispatch_info"], "kernel_id": 6}
    tool["buffer_records"]["memory_copy"].append(record(2, 2, 60, 70, 23, src_agent_id=cpu, dst_agent_id=cpu, bytes=1))
    tool["buffer_records"]["kernel_dispatch"].append(record(9, 2, 270, 280, 24, dispatch_info=unknown))
    path = tmp_path / "any"
    path.write_text(json.dumps(whole))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(connection, "SELECT kind, name, tid FROM ranges ORDER BY start_ns") == [
        ("step", "iteration 4", None),
        ("nvtx", "forward", 9),
        ("module", "conv1", 9),
    ]
    assert rows(connection, "SELECT category, name FROM events WHERE category = 'marker_api'") == [
        ("marker_api", "here")
    ]
    assert rows(connection, "SELECT direction, device FROM memcpys ORDER BY start_ns") == [("HtoD", 0), ("HtoH", None)]
    assert rows(connection, "SELECT name, step, layer FROM kernels ORDER BY start_ns") == [
        ("k()", 4, "conv1"),
        ("[Unknown]", None, None),
    ]


def test_a_range_that_was_open_at_the_end_is_dropped_and_counted(tmp_path: Path) -> None:
    whole = small()
    tool = whole["rocprofiler-sdk-tool"][0]
    tool["strings"]["marker_api"].append({"key": 30, "value": "step 2"})
    tool["buffer_records"]["marker_api"].append(record(3, 1, 140, 0, 30))
    path = tmp_path / "any"
    path.write_text(json.dumps(whole))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert rows(connection, "SELECT name FROM ranges") == [("forward",)]
    assert rows(connection, "SELECT n_kept, n_dropped FROM captures") == [(5, 1)]
    assert rows(connection, "SELECT kind, n FROM quality WHERE source IS NOT NULL") == [
        ("marker_api without a readable time", 1)
    ]


@pytest.mark.long
def test_cut_at_any_byte(tmp_path: Path) -> None:
    """Each cut is a sentence, or keeps the records before it and says so."""
    whole = json.dumps(small())
    start = whole.index('"kernel_dispatch"')
    for number, cut in enumerate(range(30, len(whole) - 1, 193)):
        path = tmp_path / f"cut{number}"
        path.write_text(whole[:cut])
        try:
            store.convert([path], tmp_path / f"out{number}")
        except InputError as error:
            assert cut < start + 700, error
            continue
        connection = connected(tmp_path / f"out{number}")
        assert rows(connection, "SELECT count(*) FROM kernels") == [(1,)]


@pytest.mark.long
@pytest.mark.shared
def test_a_real_file(captures: Any, shared: Path, tmp_path: Path) -> None:
    """Also where arrays and objects lie across the blocks in which the file is read."""
    packed = shared / "traces/rocprof/rocprofv3-43k-kernels.json.gz"
    plain = tmp_path / "plain.json"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    store.convert([plain], tmp_path / "out")
    account = "SELECT n_events, n_kept, problems FROM captures"
    assert rows(connected(tmp_path / "out"), account) == [(43915, 43915, None)]
    connection = captures.open(packed)
    assert rows(connection, "SELECT n_events, n_kept, problems FROM captures") == [(43915, 43915, None)]
    assert rows(connection, "SELECT name, architecture, n_cores, clock_hz FROM devices") == [
        ("AMD Instinct MI350X", "gfx950", 256, 2_200_000_000)
    ]
    first = rows(connection, "SELECT name, dur_ns, grid_x, block_x, stream FROM kernels ORDER BY start_ns LIMIT 1")
    assert first == [("__amd_rocclr_copyBuffer", 2840, 1, 512, 16)]


@pytest.mark.long
@pytest.mark.shared
def test_a_real_file_cut_in_the_middle(shared: Path, tmp_path: Path) -> None:
    packed = shared / "traces/rocprof/rocprofv3-43k-kernels.json.gz"
    whole = gzip.decompress(packed.read_bytes())
    path = tmp_path / "unknown"
    path.write_bytes(whole[:-5_000_000])
    assert [reader.NAME for reader in READERS if reader.sniff(peek(path))] == ["rocprofv3"]
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    assert 25_000 < rows(connection, "SELECT count(name) FROM kernels")[0][0] < 43_915
    assert rows(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'") == [(1,)]


def test_a_table_is_refused_with_what_to_record_instead(tmp_path: Path) -> None:
    (tmp_path / "kernel_trace.csv").write_text(
        '"Kind","Agent_Id","Queue_Id","Kernel_Name"\n"KERNEL_DISPATCH",1,1,"k"\n'
    )
    with pytest.raises(InputError, match="table of rocprofv3; record it with --output-format json"):
        store.convert([tmp_path / "kernel_trace.csv"], tmp_path / "capture")
