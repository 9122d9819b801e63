"""ROCm's databases: rpd with its calls and work items, rocpd in both schemas, and damage."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from databases import opened, unpacked, write
from given import section

from traceview import readers, store
from traceview.decode.files import peek
from traceview.errors import InputError, Refused
from traceview.readers import rocm_db

TEXTS = ["hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpy", "UserMarker", "step 3", "KernelExecution",
         "CopyHostToDevice", "gemm", "relu", ""]  # fmt: skip
NUMBER = {text: number for number, text in enumerate(TEXTS, 1)}


def api(number: int, name: str, start: int, end: int, pid: int = 70, args: str = "") -> dict[str, Any]:
    return {"id": number, "pid": pid, "tid": pid, "start": start, "end": end, "apiName_id": NUMBER[name],
            "args_id": NUMBER[args]}  # fmt: skip


def op(number: int, kind: str, start: int, end: int, name: str = "") -> dict[str, Any]:
    return {"id": number, "gpuId": 2, "queueId": 1, "start": start, "end": end, "description_id": NUMBER[name],
            "opType_id": NUMBER[kind]}  # fmt: skip


def kernel_api(number: int) -> dict[str, Any]:
    return {"api_ptr_id": number, "gridX": 1024, "gridY": 1, "gridZ": 1, "workgroupX": 256, "workgroupY": 1,
            "workgroupZ": 1, "groupSegmentSize": 64}  # fmt: skip


RPD = {
    "rocpd_string": [{"id": number, "string": text} for text, number in NUMBER.items()],
    "rocpd_api": [
        api(1, "UserMarker", 100, 900, args="step 3"), api(2, "hipLaunchKernel", 110, 120),
        api(3, "hipExtModuleLaunchKernel", 130, 140), api(4, "hipMemcpy", 150, 400),
    ],
    "rocpd_op": [op(1, "KernelExecution", 200, 210, "relu"), op(2, "KernelExecution", 220, 250, "gemm"),
                 op(3, "CopyHostToDevice", 300, 390)],
    "rocpd_api_ops": [{"id": n, "api_id": n + 1, "op_id": n} for n in (1, 2, 3)],
    "rocpd_kernelapi": [kernel_api(2), kernel_api(3)],
    "rocpd_copyapi": [{"api_ptr_id": 4, "size": 4096, "dstDevice": 0, "srcDevice": ""}],
    "rocpd_metadata": [{"id": 1, "tag": "schema_version", "value": "2"}],
    "rocpd_monitor": [{"deviceId": 0, "monitorType": "sclk", "start": 90, "end": 99, "value": "800"}],
}  # fmt: skip


@pytest.mark.slow
def test_rpd_calls_work_and_markers(tmp_path: Path) -> None:
    connection = opened(write(tmp_path / "trace.db", RPD), tmp_path / "capture")
    assert connection.execute(
        """SELECT k.name, k.device, k.grid_x, k.block_x, a.name, k.step FROM kernels k
        JOIN api_calls a ON a.id = k.launch_id ORDER BY k.start_ns"""
    ).fetchall() == [
        ("relu", 2, 1024, 256, "hipLaunchKernel", 3),
        # Extended launches count work items.
        ("gemm", 2, 4, 256, "hipExtModuleLaunchKernel", 3),
    ]
    assert connection.execute("SELECT direction, size_bytes, dur_ns FROM memcpys").fetchall() == [("HtoD", 4096, 90)]
    assert connection.execute("SELECT kind, name FROM ranges").fetchall() == [("step", "step 3")]
    assert connection.execute("SELECT name, value FROM counters").fetchall() == [("sclk", 800.0)]


def test_the_size_of_an_rpd_call_is_not_that_of_each_of_its_copies(tmp_path: Path) -> None:
    """A call of 4,096 bytes in two pieces; of neither it is known how much it copied."""
    links = [*RPD["rocpd_api_ops"], {"id": 4, "api_id": 4, "op_id": 4}]
    work = [*RPD["rocpd_op"], op(4, "CopyHostToDevice", 391, 399)]
    tables = {**RPD, "rocpd_op": work, "rocpd_api_ops": links}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    found = connection.execute("SELECT size_bytes, dur_ns, launch_id IS NOT NULL FROM memcpys ORDER BY start_ns")
    assert found.fetchall() == [(None, 90, True), (None, 8, True)]


@pytest.mark.long
def test_every_row_of_an_rpd_is_accounted_for(tmp_path: Path) -> None:
    calls = [*RPD["rocpd_api"], {**api(5, "hipMemcpy", 0, 500), "start": None}]
    work = [*RPD["rocpd_op"], {**op(4, "KernelExecution", 0, 9, "gemm"), "start": None}]
    tables = {**RPD, "rocpd_api": calls, "rocpd_op": work}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT n_events, n_kept, n_dropped FROM captures").fetchall() == [(10, 8, 2)]
    assert connection.execute("SELECT kind, n FROM quality WHERE source IS NOT NULL ORDER BY kind").fetchall() == [
        ("rows of rocpd_api without a time", 1), ("rows of rocpd_op without a time", 1),
    ]  # fmt: skip


def test_what_only_the_log_beside_a_database_holds_is_said_to_be_missing(tmp_path: Path) -> None:
    """As a killed process leaves them, or a copy of both files while it writes."""
    path, copy = write(tmp_path / "trace.db", RPD), tmp_path / "copy.db"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute(
            "INSERT INTO rocpd_op SELECT 9, gpuId, queueId, 500, 600, description_id, opType_id FROM rocpd_op LIMIT 1"
        )
        writer.commit()
        for end in ("", "-wal"):
            Path(f"{copy}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    kind = "the write-ahead log beside the database was not read: what only it holds is missing"
    connection = opened(copy, tmp_path / "capture")
    assert connection.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert connection.execute("SELECT kind, n FROM quality WHERE source IS NOT NULL").fetchall() == [(kind, 1)]
    assert (
        "Doubt: The write-ahead log beside the database was not read: what only it holds is in none of the numbers."
        in [row["text"] for row in section(connection, "overview/doubts")]
    )
    with pytest.raises(Refused, match=kind):
        store.convert([copy], tmp_path / "strict", store.Options(strict=True))
    Path(f"{copy}-wal").write_bytes(b"")
    store.convert([copy], tmp_path / "whole", store.Options(strict=True))


def test_rpd_grids_are_blocks_whatever_launched(tmp_path: Path) -> None:
    """hipExtLaunchKernel is given blocks, only the launches of modules beyond HIP's own are given work items."""
    strings = [*RPD["rocpd_string"], {"id": 90, "string": "hipExtLaunchKernel"}]
    calls = [{**call, "apiName_id": 90} if call["id"] == 2 else call for call in RPD["rocpd_api"]]
    tables = {**RPD, "rocpd_string": strings, "rocpd_api": calls}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT name, grid_x FROM kernels ORDER BY start_ns").fetchall() == [
        ("relu", 1024),
        ("gemm", 4),
    ]


@pytest.mark.long
def test_rpd_copies_between_devices(tmp_path: Path) -> None:
    strings = [*RPD["rocpd_string"], {"id": 91, "string": "CopyDeviceToDevice"}]
    work = [{**row, "opType_id": 91} if row["id"] == 3 else row for row in RPD["rocpd_op"]]
    for number, (source, target) in enumerate([(0, 1), (1, 1)]):
        calls = [{"api_ptr_id": 4, "size": 4096, "dstDevice": target, "srcDevice": source}]
        tables = {**RPD, "rocpd_string": strings, "rocpd_op": work, "rocpd_copyapi": calls}
        connection = opened(write(tmp_path / f"{number}.db", tables), tmp_path / f"capture{number}")
        direction = "PtoP" if source != target else "DtoD"
        assert connection.execute("SELECT direction FROM memcpys").fetchall() == [(direction,)]


@pytest.mark.long
def test_an_rpd_with_two_calls_of_one_number(tmp_path: Path) -> None:
    tables = {**RPD, "rocpd_api": [*RPD["rocpd_api"], api(3, "hipExtModuleLaunchKernel", 130, 140)]}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT count(*), count(DISTINCT id) FROM kernels").fetchall() == [(2, 2)]
    assert connection.execute("SELECT count(*) FROM api_calls").fetchall() == [(4,)]


def test_rpd_processes_are_ranks(tmp_path: Path) -> None:
    other = [*RPD["rocpd_api"], api(9, "hipLaunchKernel", 500, 510, pid=80)]
    work = [*RPD["rocpd_op"], op(9, "KernelExecution", 600, 650, "gemm")]
    links = [*RPD["rocpd_api_ops"], {"id": 9, "api_id": 9, "op_id": 9}]
    tables = {**RPD, "rocpd_api": other, "rocpd_op": work, "rocpd_api_ops": links}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    found = "SELECT rank, count(*), count(launch_id) FROM kernels GROUP BY rank ORDER BY rank"
    assert connection.execute(found).fetchall() == [(0, 2, 2), (1, 1, 1)]
    assert connection.execute("SELECT rank, pid FROM ranks ORDER BY rank").fetchall() == [(0, 70), (1, 80)]


RUN = "_0000a1b2_c3d4"
STRINGS = [
    "HIP_RUNTIME_API",
    "MARKER_CORE_RANGE_API",
    "hipLaunchKernel",
    "roctxThreadRangeA",
    "MEMORY_COPY_HOST_TO_DEVICE",
]
ROCPD: dict[str, list[dict[str, Any]]] = {
    "rocpd_metadata": [{"id": 1, "tag": "schema_version", "value": "3"}],
    "rocpd_string": [{"id": number, "string": text} for number, text in enumerate(STRINGS, 1)],
    "rocpd_info_process": [{"id": 1, "pid": 4711, "command": "python train.py"}],
    "rocpd_info_thread": [{"id": 1, "tid": 4712}],
    "rocpd_info_agent": [
        {"id": 1, "type": "CPU", "type_index": 0, "name": "EPYC", "product_name": None},
        {"id": 2, "type": "GPU", "type_index": 0, "name": "gfx942", "product_name": "AMD Instinct MI300X"},
    ],
    "rocpd_info_kernel_symbol": [{"id": 1, "kernel_name": "gemm.kd", "display_name": "gemm", "arch_vgpr_count": 64}],
    "rocpd_event": [
        {"id": 1, "category_id": 1, "stack_id": 5, "extdata": "{}"},
        {"id": 2, "category_id": 2, "stack_id": 6, "extdata": '{"message": "forward"}'},
        {"id": 3, "category_id": None, "stack_id": 5, "extdata": "{}"},
    ],
    "rocpd_region": [
        {"id": 1, "pid": 1, "tid": 1, "start": 110, "end": 120, "name_id": 3, "event_id": 1},
        {"id": 2, "pid": 1, "tid": 1, "start": 100, "end": 190, "name_id": 4, "event_id": 2},
    ],
    "rocpd_kernel_dispatch": [
        {"pid": 1, "tid": 1, "agent_id": 2, "kernel_id": 1, "queue_id": 1, "stream_id": 3, "start": 200, "end": 260,
         "group_segment_size": 64, "workgroup_size_x": 256, "workgroup_size_y": 1, "workgroup_size_z": 1,
         "grid_size_x": 1024, "grid_size_y": 1, "grid_size_z": 1, "event_id": 3},
    ],
    "rocpd_memory_copy": [
        {"pid": 1, "tid": 1, "start": 300, "end": 330, "name_id": 5, "src_agent_id": 1, "dst_agent_id": 2, "size": 64,
         "stream_id": 3, "event_id": 3},
    ],
}  # fmt: skip


def later_schema(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return the tables with times and tracks in tables of their own."""
    stamps: list[dict[str, Any]] = []
    changed = dict(tables)
    for name in ("rocpd_region", "rocpd_kernel_dispatch", "rocpd_memory_copy"):
        changed[name] = []
        for row in tables[name]:
            moved = {key: value for key, value in row.items() if key not in ("start", "end", "pid", "tid", "agent_id")}
            for end in ("start", "end"):
                stamps.append({"id": len(stamps) + 1, "value": row[end]})
                moved[f"{end}_id"] = len(stamps)
            changed[name].append({**moved, "track_id": 1})
    return {**changed, "rocpd_timestamp": stamps, "rocpd_track": [{"id": 1, "pid": 1, "tid": 1, "agent_id": 2}]}


@pytest.mark.parametrize("schema", [dict, later_schema])
def test_rocpd_joins_calls_work_and_markers(schema: Any, tmp_path: Path) -> None:
    tables = {name + RUN: rows for name, rows in schema(ROCPD).items()}
    view = f"CREATE VIEW rocpd_string AS SELECT * FROM rocpd_string{RUN}"
    connection = opened(write(tmp_path / "trace.db", tables, view), tmp_path / "capture")
    assert connection.execute(
        """SELECT k.name, k.device, k.stream, k.grid_x, k.registers, k.dur_ns, a.name, a.pid, a.tid, r.name, r.kind
        FROM kernels k JOIN api_calls a ON a.id = k.launch_id JOIN ranges r ON r.id = k.range_id"""
    ).fetchall() == [("gemm", 0, 3, 4, 64, 60, "hipLaunchKernel", 4711, 4712, "forward", "nvtx")]
    assert connection.execute("SELECT direction, size_bytes, dst_kind, dst_device FROM memcpys").fetchall() == [
        ("HtoD", 64, "device", 0)
    ]
    gpu = "SELECT name, architecture FROM devices WHERE kind = 'gpu'"
    assert connection.execute(gpu).fetchall() == [("AMD Instinct MI300X", "gfx942")]
    assert connection.execute("SELECT command, tool_version FROM captures").fetchall() == [
        ("python train.py", "schema 3")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("streams", "expected"), [((0, 2), [0, 2]), ((0, 0), [1, 2])])
def test_rocpd_the_default_stream_is_one_where_streams_are_recorded_else_queues_are(
    tmp_path: Path, streams: tuple[int, int], expected: list[int]
) -> None:
    (kernel,) = ROCPD["rocpd_kernel_dispatch"]
    both = [{**kernel, "queue_id": 2 - number, "stream_id": stream} for number, stream in enumerate(streams)]
    tables = {name + RUN: rows for name, rows in {**ROCPD, "rocpd_kernel_dispatch": both}.items()}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT stream FROM kernels ORDER BY stream").fetchall() == [(n,) for n in expected]


def test_rocpd_allocations_of_the_driver_are_counted(tmp_path: Path) -> None:
    taken = {"pid": 1, "tid": 1, "agent_id": 2, "start": 90, "end": 95, "type": "ALLOC", "size": 4096, "address": 64}
    tables = {name + RUN: rows for name, rows in {**ROCPD, "rocpd_memory_allocate": [taken]}.items()}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    found = "SELECT n FROM quality WHERE kind LIKE 'allocations and releases of the driver%'"
    assert connection.execute(found).fetchall() == [(1,)]


def test_rocpd_marks_are_no_ranges_and_the_host_is_no_gpu(tmp_path: Path) -> None:
    """A range of a process belongs to no thread; a copy within the host does not make GPU 0 busy."""
    texts = [*STRINGS, "roctxMarkA", "roctxProcessRangeA", "MEMORY_COPY_HOST_TO_HOST"]
    events = [
        {"id": 4, "category_id": 2, "stack_id": 7, "extdata": '{"message": "here"}'},
        {"id": 5, "category_id": 2, "stack_id": 8, "extdata": '{"message": "iteration 4"}'},
    ]
    regions = [
        {"id": 3, "pid": 1, "tid": 1, "start": 105, "end": 105, "name_id": 6, "event_id": 4},
        {"id": 4, "pid": 1, "tid": 1, "start": 90, "end": 400, "name_id": 7, "event_id": 5},
    ]
    copy = {**ROCPD["rocpd_memory_copy"][0], "name_id": 8, "src_agent_id": 1, "dst_agent_id": 1}
    changed = {
        **ROCPD,
        "rocpd_string": [{"id": number, "string": text} for number, text in enumerate(texts, 1)],
        "rocpd_event": [*ROCPD["rocpd_event"], *events],
        "rocpd_region": [*ROCPD["rocpd_region"], *regions],
        "rocpd_memory_copy": [*ROCPD["rocpd_memory_copy"], copy],
    }
    tables = {name + RUN: rows for name, rows in changed.items()}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT kind, name, tid FROM ranges ORDER BY start_ns").fetchall() == [
        ("step", "iteration 4", None),
        ("nvtx", "forward", 4712),
    ]
    assert connection.execute("SELECT category, name FROM events WHERE category LIKE 'marker%'").fetchall() == [
        ("marker_core_range_api", "here")
    ]
    assert connection.execute("SELECT direction, device FROM memcpys ORDER BY id").fetchall() == [
        ("HtoD", 0),
        ("HtoH", None),
    ]


@pytest.mark.slow
def test_runs_in_one_database_are_ranks(tmp_path: Path) -> None:
    tables = {name + run: rows for run in (RUN, "_ffff") for name, rows in ROCPD.items()}
    connection = opened(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT rank, count(*) FROM kernels GROUP BY rank ORDER BY rank").fetchall() == [
        (0, 1),
        (1, 1),
    ]


@pytest.mark.slow
@pytest.mark.shared
def test_a_public_rpd_is_recognised_and_cut_anywhere(shared: Path, tmp_path: Path) -> None:
    path = unpacked(shared / "traces/rocprof/matmul.rpd.gz", tmp_path)
    assert [reader for reader in readers.READERS if reader.sniff(peek(path))] == [rocm_db]
    whole = path.read_bytes()
    n_whole = 0
    for number, size in enumerate((1, 100, 5000, 30_000, 60_000, 90_000, len(whole) - 5000)):
        cut = tmp_path / f"cut{number}"
        cut.write_bytes(whole[:size])
        try:
            connection = opened(cut, tmp_path / f"capture{number}")
        except InputError as error:
            assert str(error).endswith(".")
            continue
        n_whole += 1
        assert connection.execute("SELECT count(*) > 0 FROM quality WHERE kind LIKE '%damaged%'").fetchall() == [
            (True,)
        ]
    assert n_whole
