"""Nsight Systems exports: processes as ranks, launches to ranges, whatever columns there are, and damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cases import first
from databases import as_arrow, as_parquet, as_stream, opened, unpacked, write

from traceview import readers, store
from traceview.analysis import reports
from traceview.decode.files import peek
from traceview.decode.text_bounds import TOO_LONG
from traceview.errors import InputError
from traceview.readers import nsys
from traceview.store import discovery


def gid(pid: int, tid: int = 0) -> int:
    return 1 << 56 | 1 << 48 | pid << 24 | tid


NAMES = [
    {"id": 1, "value": "relu_kernel(float*)"}, {"id": 2, "value": "cudaLaunchKernel_v7000"},
    {"id": 3, "value": "cudnnConvolutionForward"}, {"id": 4, "value": "layer1"},
]  # fmt: skip
KERNEL = {
    "start": 1300, "end": 1500, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 9, "globalPid": gid(70),
    "demangledName": 1, "shortName": 1, "gridX": 4, "gridY": 2, "gridZ": 1, "blockX": 128, "blockY": 1, "blockZ": 1,
    "registersPerThread": 32, "staticSharedMemory": 16, "dynamicSharedMemory": 32,
}  # fmt: skip
LAUNCH = {"start": 1100, "end": 1120, "eventClass": 0, "globalTid": gid(70, 71), "correlationId": 9, "nameId": 2}
PUSH = {"start": 1000, "end": 1200, "eventType": 59, "text": "forward", "textId": None, "globalTid": gid(70, 71),
        "domainId": 0}  # fmt: skip
TABLES = {
    "StringIds": NAMES,
    "META_DATA_EXPORT": [{"name": "EXPORT_SCHEMA_VERSION", "value": "3.13.2"}],
    "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 1_700_000_000_000_000_000}],
    "CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL],
    "CUPTI_ACTIVITY_KIND_RUNTIME": [LAUNCH],
    "NVTX_EVENTS": [PUSH],
}


def given(folder: Path, *statements: str, **tables: Any) -> Any:
    """Convert a database with these tables instead of the usual ones; None takes a table away."""
    rows = {name: rows for name, rows in {**TABLES, **tables}.items() if rows is not None}
    return opened(write(folder / "trace.db", rows, *statements), folder / "capture")


def one(connection: Any, query: str) -> Any:
    return connection.execute(query).fetchall()[0][0]


def test_that_no_cuda_was_seen_is_not_repeated_beside_kernels(tmp_path: Path) -> None:
    """nsys says it of each process, and the launcher of a job has none."""
    texts = ["No CUDA events collected. Does the process use CUDA?", "Not all NVTX events might have been collected."]
    connection = given(tmp_path, DIAGNOSTIC_EVENT=[{"severity": 2, "text": text} for text in texts])
    assert one(connection, "SELECT warnings FROM captures") == texts[1:]


@pytest.mark.slow
def test_marks_of_events_without_a_time_are_no_loss(tmp_path: Path) -> None:
    """Before 2024 nsys records which call set them, not when the device reached them."""
    mark = {"deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 9, "globalPid": gid(70), "eventId": 3}
    wait = {"start": 1400, "end": 1500, "syncType": 3, "globalPid": gid(70), **mark}
    tables = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT": [mark] * 2, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [wait]}
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    old = given(tmp_path / "old", **tables)
    assert old.execute("SELECT name FROM events").fetchall() == [("stream synchronization",)]
    assert one(old, "SELECT coalesce(n_dropped, 0) FROM captures") == 0
    assert one(old, "SELECT count(*) FROM quality WHERE kind LIKE '%without a time'") == 0
    new = given(tmp_path / "new", CUPTI_ACTIVITY_KIND_CUDA_EVENT=[{**mark, "timestamp": 1450}])
    assert new.execute("SELECT name, start_ns - (SELECT min(start_ns) FROM kernels) FROM events").fetchall() == [
        ("cuda event", 150)
    ]


@pytest.mark.slow
def test_allocations_of_the_driver_are_counted_and_are_those_of_no_framework(tmp_path: Path) -> None:
    """With --cuda-memory-usage; of a framework's allocator they are the large blocks that it divides."""
    event = {"start": 1400, "globalPid": gid(70), "deviceId": 0, "contextId": 1, "address": 4096, "bytes": 2 << 30,
             "memKind": 2, "name": None, "correlationId": 9}  # fmt: skip
    events = [{**event, "memoryOperationType": number} for number in (0, 1)]
    connection = given(tmp_path, CUDA_GPU_MEMORY_USAGE_EVENTS=events)
    assert one(connection, "SELECT count(*) FROM allocations") == 0
    assert one(connection, "SELECT n FROM quality WHERE kind LIKE 'allocations and releases of the driver%'") == 2
    (moment, *_) = (part for part in reports.run(connection, "memory").sections if part.name == "moment")
    assert moment.note and moment.note.startswith("No allocations of a framework were recorded")


@pytest.mark.slow
def test_a_kernel_reaches_the_range_around_its_launch(tmp_path: Path) -> None:
    found = given(tmp_path).execute(
        """SELECT k.name, k.dur_ns, k.shared_bytes, a.name, a.tid, r.name, r.kind
        FROM kernels k JOIN api_calls a ON a.id = k.launch_id JOIN ranges r ON r.id = k.range_id"""
    )
    assert found.fetchall() == [("relu_kernel(float*)", 200, 48, "cudaLaunchKernel_v7000", 71, "forward", "nvtx")]


def test_time_zero_is_the_first_event_on_the_wall_clock(tmp_path: Path) -> None:
    assert one(given(tmp_path), "SELECT origin_unix_ns FROM captures") == 1_700_000_000_000_001_000


@pytest.mark.long
def test_a_cudnn_call_is_named_behind_a_kernel(tmp_path: Path) -> None:
    call = {"start": 1050, "end": 1190, "globalTid": gid(70, 71), "nameId": 3, "eventClass": 28}
    connection = given(tmp_path, CUDNN_EVENTS=[call])
    assert connection.execute(
        "SELECT r.name, r.domain, r.kind, k.range_id <> r.id FROM kernels k JOIN ranges r ON r.id = k.library_id"
    ).fetchall() == [("cudnnConvolutionForward", "cudnn", "library", True)]


def test_names_of_ranges_say_what_they_are(tmp_path: Path) -> None:
    expected = {
        "iteration 5": ("step", "iteration 5", 5),
        "ProfilerStep#6": ("step", "ProfilerStep#6", 6),
        "train_step 7": ("step", "train_step 7", 7),
        "traceview.phase: forward": ("phase", "forward", None),
        "traceview.module: fc1 (Linear)": ("module", "fc1 (Linear)", None),
        "step": ("nvtx", "step", None),
        "backstep 3": ("nvtx", "backstep 3", None),
        "conv 3": ("nvtx", "conv 3", None),
    }
    events = [{**PUSH, "text": text, "start": 1000 + 10 * n, "end": 1005 + 10 * n} for n, text in enumerate(expected)]
    found = given(tmp_path, NVTX_EVENTS=events).execute("SELECT kind, name, step FROM ranges ORDER BY start_ns")
    assert found.fetchall() == list(expected.values())


def test_a_module_around_the_launch_is_the_layer(tmp_path: Path) -> None:
    connection = given(tmp_path, NVTX_EVENTS=[{**PUSH, "text": "traceview.module: fc1 (Linear)"}])
    assert one(connection, "SELECT layer FROM kernels") == "fc1"


@pytest.mark.slow
def test_operators_that_pytorch_marks_are_operators(tmp_path: Path) -> None:
    """A built trace: emit_nvtx's names, a step of torch.profiler and an optimizer around the second launch."""
    names = ["ProfilerStep#3, op_id = 1", "aten::conv2d, seq = 5, op_id = 9, sizes = [[8, 3, 32, 32], [6, 3, 5, 5]]",
             "Optimizer.step#SGD.step, op_id = 30"]  # fmt: skip
    times = [(900, 1290), (1000, 1200), (1210, 1280)]
    ranges = [{**PUSH, "text": text, "start": a, "end": b} for text, (a, b) in zip(names, times, strict=True)]
    connection = given(tmp_path, NVTX_EVENTS=ranges)
    assert connection.execute("SELECT op_name, op_link, step FROM kernels").fetchall() == [
        ("aten::conv2d", "correlation", 3)
    ]
    assert connection.execute("SELECT shapes, sequence, step FROM ops").fetchall() == [
        ("[[8, 3, 32, 32], [6, 3, 5, 5]]", 5, 3)
    ]
    assert connection.execute("SELECT kind, name FROM ranges ORDER BY start_ns").fetchall() == [
        ("step", "ProfilerStep#3"),
        ("nvtx", names[1]),
        ("phase", "optimizer"),
    ]


@pytest.mark.long
def test_tensorflows_ranges_belong_to_the_thread_that_starts_and_ends_them(tmp_path: Path) -> None:
    """A built trace: NVIDIA's TensorFlow starts and ends ranges instead of pushing them, and so do nvtx-plugins."""
    domains = [(75, 1, "tensorflow-core"), (75, 2, "Gradient")]
    rows = [{**PUSH, "eventType": kind, "domainId": number, "text": text, "end": None, "endGlobalTid": None}
            for kind, number, text in domains]  # fmt: skip
    conv = {**PUSH, "eventType": 60, "domainId": 1, "text": "Conv2D: net/conv1/Conv2D", "endGlobalTid": gid(70, 71)}
    moved = {**conv, "text": "MatMul: fc/MatMul", "endGlobalTid": gid(70, 72)}
    plugin = {**conv, "domainId": 2, "text": "block 1 grad", "start": 950}
    other = {**conv, "domainId": 0, "text": "aten::mm"}
    connection = given(tmp_path, NVTX_EVENTS=[*rows, conv, moved, plugin, other])
    assert connection.execute("SELECT name, tid, layer FROM ops").fetchall() == [
        ("net/conv1/Conv2D:Conv2D", 71, "block 1")
    ]
    assert one(connection, "SELECT op_name FROM kernels") == "net/conv1/Conv2D:Conv2D"


@pytest.mark.slow
def test_ranges_have_domains_payloads_and_text_by_number(tmp_path: Path) -> None:
    base = {**PUSH, "int64Value": None, "doubleValue": None, "jsonText": None}
    events = [
        {**base, "eventType": 75, "text": "NCCL", "domainId": 5, "start": 900, "end": None},
        {**base, "text": None, "textId": 4, "domainId": 5, "int64Value": 2**40},
        {**base, "eventType": 60, "text": "across", "doubleValue": 0.1},
        {**base, "eventType": 34, "text": "mark", "end": None, "jsonText": '{"a": 1}'},
        {**base, "text": "never closed", "end": None},
    ]
    connection = given(tmp_path, NVTX_EVENTS=events)
    assert connection.execute("SELECT name, domain, payload, tid FROM ranges ORDER BY name").fetchall() == [
        ("across", None, "0.1", None),
        ("layer1", "NCCL", str(2**40), 71),
    ]
    assert connection.execute("SELECT phase, name FROM events ORDER BY phase").fetchall() == [
        ("domain", "NCCL"), ("mark", "mark"), ("open range", "never closed"),
    ]  # fmt: skip
    assert one(connection, "SELECT n_events - n_kept FROM captures") == 0


@pytest.mark.slow
def test_processes_are_ranks_and_do_not_share_correlations(tmp_path: Path) -> None:
    kernels = [{**KERNEL, "globalPid": gid(80), "deviceId": 1}, KERNEL]
    calls = [LAUNCH, {**LAUNCH, "globalTid": gid(99, 99), "start": 900}]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_KERNEL=kernels, CUPTI_ACTIVITY_KIND_RUNTIME=calls)
    found = connection.execute("SELECT rank, device, launch_id IS NOT NULL FROM kernels ORDER BY rank").fetchall()
    assert found == [(0, 0, True), (1, 1, False)]
    # A process that used no device is kept with the first rank, and launches nothing there.
    assert connection.execute("SELECT rank, pid, correlation FROM api_calls ORDER BY pid").fetchall() == [
        (0, 70, 9), (0, 99, None),
    ]  # fmt: skip
    assert connection.execute("SELECT pid FROM ranks ORDER BY rank").fetchall() == [(70,), (80,)]


@pytest.mark.slow
def test_copies_and_fills(tmp_path: Path) -> None:
    copy = {**KERNEL, "bytes": 4096, "copyKind": 1, "srcKind": 1, "dstKind": 2}
    fill = {**KERNEL, "bytes": 64, "memKind": 2}
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_MEMCPY=[copy], CUPTI_ACTIVITY_KIND_MEMSET=[fill])
    found = "SELECT direction, src_kind, dst_kind, size_bytes, name FROM memcpys ORDER BY direction"
    assert connection.execute(found).fetchall() == [
        ("HtoD", "pinned", "device", 4096, "[CUDA memcpy HtoD]"),
        ("memset", None, "device", 64, "[CUDA memset]"),
    ]


@pytest.mark.slow
def test_devices_carry_the_numbers_of_cuda_and_real_peaks(tmp_path: Path) -> None:
    gpus = [
        {"id": 0, "name": "far", "cuDevice": 1, "memoryBandwidth": 1, "clockRate": 1, "smCount": 1, "totalMemory": 1},
        {"id": 1, "name": "A100", "cuDevice": 0, "memoryBandwidth": 2039040000000, "clockRate": 1410000000,
         "smCount": 108, "totalMemory": 84990623744},
    ]  # fmt: skip
    connection = given(tmp_path, TARGET_INFO_GPU=gpus)
    query = "SELECT name, clock_hz, memory_bytes_per_s, n_cores, peaks_from FROM devices WHERE device = 0"
    assert connection.execute(query).fetchall() == [
        ("A100", 1410000000, 2039040000000.0, 108, "the trace (TARGET_INFO_GPU)")
    ]


@pytest.mark.slow
def test_processes_on_one_gpu_share_its_identifier(tmp_path: Path) -> None:
    """Only a table that maps a process's number of a device tells: all of them may call theirs 0."""
    kernels = [KERNEL, {**KERNEL, "globalPid": gid(80)}, {**KERNEL, "globalPid": gid(90)}]
    mapped = [
        {"gpuId": 3, "cudaId": 0, "pid": 70, "uuid": "b17c"},
        {"gpuId": 3, "cudaId": 0, "pid": 80, "uuid": "b17c"},
    ]
    tables = {"CUPTI_ACTIVITY_KIND_KERNEL": kernels, "TARGET_INFO_GPU": [{"id": 3, "cuDevice": 0, "uuid": "b17c"}]}
    for name in ("mapped", "not"):
        (tmp_path / name).mkdir()
    connection = given(tmp_path / "mapped", TARGET_INFO_CUDA_DEVICE=mapped, **tables)
    query = "SELECT rank, device, uuid FROM devices ORDER BY rank"
    assert connection.execute(query).fetchall() == [(0, 0, "b17c"), (1, 0, "b17c"), (2, 0, None)]
    assert connection.execute("SELECT rank FROM shared_gpus ORDER BY rank").fetchall() == [(0,), (1,)]
    assert given(tmp_path / "not", **tables).execute("SELECT rank FROM shared_gpus").fetchall() == []


@pytest.mark.long
def test_a_device_without_a_table_of_devices_is_told_by_its_kernels(tmp_path: Path) -> None:
    """A built trace: old exports lack TARGET_INFO_GPU, and so do those that were cut down."""
    names = [{**row, "value": "volta_sgemm_128x64_nn"} if row["id"] == 1 else row for row in NAMES]
    connection = given(tmp_path, StringIds=names)
    assert connection.execute("SELECT device, name FROM devices").fetchall() == [(0, None)]
    query = "SELECT name, has_tensor_cores, fp32_flop_per_s FROM device_peaks WHERE is_used"
    assert connection.execute(query).fetchall() == [("Volta or later", True, 15.7e12)]


@pytest.mark.long
def test_warnings_of_the_profiler_are_shown(tmp_path: Path) -> None:
    said = [{"severity": level, "text": f"level {level}"} for level in (1, 2, 3, 4)]
    assert one(given(tmp_path, DIAGNOSTIC_EVENT=said), "SELECT warnings FROM captures") == ["level 2", "level 3"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tables", "reason"),
    first(
        2,
        [
            ({"CUPTI_ACTIVITY_KIND_RUNTIME": None}, "nsys was run without --trace=cuda"),
            ({}, "CUDA calls were traced but no kernel"),
            ({"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [KERNEL]}, "--cuda-graph-trace=node"),
            (
                {
                    "CUPTI_ACTIVITY_KIND_RUNTIME": None,
                    "META_DATA_CAPTURE": [{"name": "CAPTURE_EVENT_TYPE", "value": "Cuda"}],
                },
                "although CUDA tracing was on",
            ),
        ],
    ),
)
def test_missing_kernels_are_explained(tables: dict[str, Any], reason: str, tmp_path: Path) -> None:
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_KERNEL=None, **tables)
    assert reason in one(connection, "SELECT any_value(kind) FROM quality WHERE source IS NOT NULL")
    assert reason in one(connection, "SELECT list_last(warnings) FROM captures")


def test_a_graph_recorded_as_a_whole_is_work_of_its_device(tmp_path: Path) -> None:
    """The graph of correlation 9 is in the file as its kernel, too."""
    graph = {name: value for name, value in KERNEL.items() if name.endswith("Id") or name == "globalPid"}
    graphs = [{**graph, "start": 1250, "end": 1550, "graphId": 3},
              {**graph, "start": 1600, "end": 2400, "correlationId": 10, "graphId": 3}]  # fmt: skip
    launch = {**LAUNCH, "start": 1130, "end": 1140, "correlationId": 10}
    tables = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": graphs, "CUPTI_ACTIVITY_KIND_RUNTIME": [LAUNCH, launch]}
    connection = given(tmp_path, **tables)
    query = "SELECT name, category, dur_ns, graph, launch_start_ns FROM kernels ORDER BY start_ns"
    assert connection.execute(query).fetchall() == [
        ("relu_kernel(float*)", "activation", 200, None, 100), ("[CUDA graph]", "other", 800, 3, 130)
    ]  # fmt: skip
    assert connection.execute("SELECT active_ns, idle_ns FROM account").fetchall() == [(1000, 100)]
    assert one(connection, "SELECT list_last(warnings) FROM captures").startswith("1 CUDA graph launches were recorded")
    assert one(connection, "SELECT n_events - n_kept FROM captures") == 0


def test_a_process_with_graphs_alone_is_a_rank(tmp_path: Path) -> None:
    graph = {"start": 1600, "end": 2400, "deviceId": 1, "correlationId": 9, "globalPid": gid(80), "graphId": 3}
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_GRAPH_TRACE=[graph])
    found = connection.execute("SELECT rank, device, name FROM kernels ORDER BY rank").fetchall()
    assert found == [(0, 0, "relu_kernel(float*)"), (1, 1, "[CUDA graph]")]


def test_an_export_of_nothing_says_why(tmp_path: Path) -> None:
    nothing = {"StringIds": NAMES, "META_DATA_EXPORT": TABLES["META_DATA_EXPORT"]}
    with pytest.raises(InputError, match="without --trace=cuda or the program used no GPU"):
        store.convert([write(tmp_path / "trace.db", nothing)], tmp_path / "capture")


@pytest.mark.long
def test_columns_of_any_type_and_order(tmp_path: Path) -> None:
    """SQLite's columns have no types: NULL first and text later, numbers as text, nonsense where a number should be."""
    many = [{**PUSH, "text": None, "textId": None, "start": n, "end": n + 1} for n in range(70_000)]
    strange = [
        {**PUSH, "text": 5, "start": 80_000.0, "end": "80001"},
        {**PUSH, "text": "späte", "start": b"\x01", "end": "soon"},
        {**PUSH, "text": b"\xff\xfe", "start": 80_003, "end": 80_004},
    ]
    connection = given(tmp_path, NVTX_EVENTS=many + strange)
    assert one(connection, "SELECT count(*) FROM ranges") == 70_002
    last = "SELECT start_ns, dur_ns, name FROM ranges ORDER BY start_ns DESC LIMIT 2"
    assert connection.execute(last).fetchall() == [(80_003, 1, "FFFE"), (80_000, 1, "5")]
    assert connection.execute("SELECT phase, name FROM events").fetchall() == [("open range", "späte")]


@pytest.mark.slow
def test_a_hostile_database_runs_nothing(tmp_path: Path) -> None:
    connection = given(
        tmp_path,
        "CREATE VIEW CUPTI_ACTIVITY_KIND_MEMCPY AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT n AS start, n AS end FROM r",
        "CREATE VIRTUAL TABLE CUDNN_EVENTS USING fts5(start, end)",
        "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN SELECT 1; END",
        'CREATE TABLE "x""; DROP TABLE StringIds; --" ("a""b")',
        """INSERT INTO "x""; DROP TABLE StringIds; --" VALUES (1)""",
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN graphId GENERATED ALWAYS AS (printf('%.*c', 900000000))",
    )
    assert one(connection, "SELECT count(*) FROM kernels") == 1
    assert one(connection, "SELECT count(*) FROM memcpys") == 0
    assert "DROP TABLE StringIds" in one(connection, "SELECT metadata->>'$.tables_not_read' FROM captures")
    assert not list(tmp_path.glob("trace.db-*"))


@pytest.mark.long
def test_repeated_names_do_not_multiply_rows(tmp_path: Path) -> None:
    assert one(given(tmp_path, StringIds=NAMES * 3), "SELECT count(*) FROM kernels") == 1


def test_other_databases_are_not_ours(tmp_path: Path) -> None:
    for tables in ({"a": [{"b": 1}]}, {"StringIds": NAMES}, {"CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL]}):
        with pytest.raises(InputError, match="not a recognised trace format"):
            readers.detect(peek(write(tmp_path / "other.db", tables)))


@pytest.mark.shared
@pytest.mark.parametrize("name", ["a100-cloverleaf-schema3.13", "h100-2gpu-schema3.25", "no-kernels"])
def test_public_traces_are_recognised_by_content(name: str, shared: Path, tmp_path: Path) -> None:
    path = unpacked(shared / f"traces/nsys/{name}.sqlite.gz", tmp_path)
    assert [reader for reader in readers.READERS if reader.sniff(peek(path))] == [nsys]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("form", [as_parquet, as_stream])
def test_every_form_of_export_says_the_same(form: Any, shared: Path, tmp_path: Path, captures: Any) -> None:
    source = shared / "traces/nsys/h100-2gpu-schema3.25.sqlite.gz"
    path = form(unpacked(source, tmp_path), tmp_path / "export")
    assert [trace.path for trace in discovery.find(tmp_path / "export")] == [path]
    mine, sqlite = opened(path, tmp_path / "capture"), captures.open(source)
    for table in ("kernels", "memcpys", "api_calls", "ranges", "events", "devices"):
        query = f"SELECT COLUMNS(lambda c: NOT ends_with(c, 'id')) FROM raw.{table} ORDER BY ALL"
        assert mine.execute(query).fetchall() == sqlite.execute(query).fetchall(), table


@pytest.mark.shared
def test_a_folder_of_exports_is_one_trace_each(shared: Path, tmp_path: Path) -> None:
    database = unpacked(shared / "traces/nsys/no-kernels.sqlite.gz", tmp_path)
    node = tmp_path / "run"
    node.mkdir()
    folder = as_parquet(database, node / "node0_pqtdir")
    stream = as_stream(database, node / "node1.arrow")
    assert [trace.path for trace in discovery.find(node)] == [folder, stream]


@pytest.mark.long
@pytest.mark.shared
def test_a_cut_database_is_salvaged_or_refused(shared: Path, tmp_path: Path) -> None:
    """Cut anywhere: a sentence, or what could be read and what could not."""
    whole = unpacked(shared / "traces/nsys/a100-cloverleaf-schema3.13.sqlite.gz", tmp_path).read_bytes()
    sizes = []
    for number, size in enumerate((0, 10, 100, 4096, 20_000, 300_000, 1_000_000, 1_800_000, len(whole) - 5000)):
        path = tmp_path / f"cut{number}"
        path.write_bytes(whole[:size])
        try:
            connection = opened(path, tmp_path / f"capture{number}")
        except InputError as error:
            assert str(error).endswith(".")
            continue
        sizes.append(size)
        assert one(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off or damaged%'")
    assert sizes == [1_000_000, 1_800_000, len(whole) - 5000]
    assert one(connection, "SELECT count(*) FROM kernels") == 1312


@pytest.mark.slow
@pytest.mark.shared
def test_a_cut_gzip_is_salvaged_or_refused(shared: Path, tmp_path: Path) -> None:
    packed = (shared / "traces/nsys/a100-cloverleaf-schema3.13.sqlite.gz").read_bytes()
    for size in (20, 1000, 100_000, len(packed) - 100):
        path = tmp_path / f"cut{size}"
        path.write_bytes(packed[:size])
        try:
            connection = opened(path, tmp_path / f"capture{size}")
        except InputError:
            continue
        assert one(connection, "SELECT count(*) FROM quality WHERE kind = 'gzip data is cut off'") == 1


@pytest.mark.long
@pytest.mark.shared
def test_a_cut_arrow_stream_is_salvaged_or_refused(shared: Path, tmp_path: Path) -> None:
    whole = as_stream(
        unpacked(shared / "traces/nsys/a100-cloverleaf-schema3.13.sqlite.gz", tmp_path), tmp_path / "whole"
    ).read_bytes()
    for size in (3, 50, 5000, len(whole) // 2, len(whole) - 7):
        path = tmp_path / f"cut{size}"
        path.write_bytes(whole[:size])
        try:
            connection = opened(path, tmp_path / f"capture{size}")
        except InputError:
            continue
        assert one(connection, "SELECT count(*) FROM quality WHERE kind LIKE '%cut off or damaged%'") == 1


@pytest.mark.slow
def test_a_damaged_parquet_file_costs_its_own_table(tmp_path: Path) -> None:
    folder = as_parquet(write(tmp_path / "trace.db", TABLES), tmp_path / "export")
    (folder / "NVTX_EVENTS.parquet").write_bytes(b"PAR1 and nothing else")
    connection = opened(folder, tmp_path / "capture")
    assert one(connection, "SELECT count(*) FROM kernels") == 1
    assert "NVTX_EVENTS.parquet cannot be read" in one(connection, "SELECT kind FROM quality WHERE source IS NOT NULL")


@pytest.mark.long
def test_numbers_of_other_widths_are_read(tmp_path: Path) -> None:
    """Parquet exports use the narrowest type there is, and unsigned numbers."""
    tables = as_arrow(write(tmp_path / "trace.db", TABLES))
    kernels = tables["CUPTI_ACTIVITY_KIND_KERNEL"]
    types = [pa.field(name, pa.uint64() if name == "globalPid" else pa.int32()) for name in kernels.column_names]
    folder = tmp_path / "export"
    as_parquet(tmp_path / "trace.db", folder)
    pa.parquet.write_table(kernels.cast(pa.schema(types)), folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet")
    connection = opened(folder, tmp_path / "capture")
    assert connection.execute("SELECT grid_x, launch_id IS NOT NULL FROM kernels").fetchall() == [(4, True)]


@pytest.mark.long
def test_a_name_that_is_too_long_costs_itself_and_is_counted(tmp_path: Path) -> None:
    long = "UPDATE StringIds SET value = zeroblob(9000) WHERE id IN (1, 4)"
    connection = given(tmp_path, long, META_DATA_EXPORT=[{"name": f"k{n}", "value": "v"} for n in range(10_001)])
    assert connection.execute("SELECT name, dur_ns, launch_id IS NOT NULL FROM kernels").fetchall() == [
        ("[Unknown]", 200, True)
    ]
    counted = "SELECT n, examples FROM quality WHERE kind = $1"
    assert connection.execute(counted, [TOO_LONG]).fetchall() == [(2, ["StringIds"])]
    assert one(connection, "SELECT count(*) FROM quality WHERE kind LIKE 'table META_DATA_EXPORT is larger%'") == 1
