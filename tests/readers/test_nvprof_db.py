"""nvprof's databases: numbered functions, markers in two rows, every kind of copy, and damage."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from databases import opened, unpacked, write
from given import section

from traceview import readers
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import nvprof_db
from traceview.readers.nvprof_db import _four_bytes

START = 1_500_000_000_000_000_000
NAMES = {0: "-- null --", 1: "sgemm", 2: "forward", 3: "my domain", 4: "GeForce GTX TITAN X"}
SPAN = {"start": START + 300, "end": START + 500, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 9}
KERNEL = {**SPAN, "name": 1, "registersPerThread": 31, "gridX": 4, "gridY": 1, "gridZ": 1, "blockX": 64, "blockY": 1,
          "blockZ": 1, "staticSharedMemory": 8, "dynamicSharedMemory": 0}  # fmt: skip
LAUNCH = {"cbid": 211, "start": START + 100, "end": START + 110, "processId": 70, "threadId": -5, "correlationId": 9}
TABLES = {
    "StringTable": [{"_id_": number, "value": text} for number, text in NAMES.items()],
    "Version": [{"version": 12}],
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": [KERNEL],
    "CUPTI_ACTIVITY_KIND_RUNTIME": [LAUNCH],
}


def marker(
    flags: int, time: int, number: int, name: int = 2, domain: int = 0, thread: int = 2**32 - 5
) -> dict[str, Any]:
    where = struct.pack("<iq", 70, thread)
    return {"flags": flags, "timestamp": START + time, "id": number, "objectKind": 2, "objectId": where, "name": name,
            "domain": domain}  # fmt: skip


def given(folder: Path, **tables: Any) -> Any:
    return opened(write(folder / "trace.db", {**TABLES, **tables}), folder / "capture")


def test_functions_have_names(tmp_path: Path) -> None:
    calls = [LAUNCH, {**LAUNCH, "cbid": 13}, {**LAUNCH, "cbid": 99999}]
    driver = [{**LAUNCH, "cbid": 307, "correlationId": 10}, {**LAUNCH, "cbid": 9999}]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_RUNTIME=calls, CUPTI_ACTIVITY_KIND_DRIVER=driver)
    assert connection.execute("SELECT kind, name FROM api_calls ORDER BY id").fetchall() == [
        ("runtime", "cudaLaunchKernel"),
        ("runtime", "cudaLaunch"),
        ("runtime", "runtime cbid 99999"),
        ("driver", "cuLaunchKernel"),
        ("driver", "driver cbid 9999"),
    ]


@pytest.mark.slow
def test_two_ends_at_0_are_no_time(tmp_path: Path) -> None:
    """So CUPTI says that it has none: 50 years before all others."""
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL=[KERNEL, {**KERNEL, "start": 0, "end": 0}])
    assert connection.execute("SELECT start_ns, dur_ns FROM kernels").fetchall() == [(200, 200)]
    assert connection.execute("SELECT kind, n FROM quality WHERE kind LIKE '%time%'").fetchall() == [
        ("rows of CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL without a time", 1)
    ]


@pytest.mark.slow
def test_a_kernel_reaches_the_marker_around_its_launch(tmp_path: Path) -> None:
    """The thread is a signed number in one table and bytes in the other."""
    markers = [marker(2, 50, 1), marker(2, 60, 2, domain=3), marker(4, 150, 2, 0), marker(4, 160, 1, 0)]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_MARKER=markers)
    assert connection.execute(
        "SELECT k.name, r.name, r.domain, r.depth, r.pid, r.tid FROM kernels k JOIN ranges r ON r.id = k.range_id"
    ).fetchall() == [("sgemm", "forward", "my domain", 1, 70, 2**32 - 5)]


def test_a_kernel_reaches_the_operator_that_a_marker_names(tmp_path: Path) -> None:
    """A built trace, as PyTorch before 1.5 marks its operators."""
    strings = [*TABLES["StringTable"], {"_id_": 5, "value": "addmm, seq = 7"}]
    markers = [marker(2, 50, 1, 5), marker(4, 150, 1, 0)]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_MARKER=markers, StringTable=strings)
    assert connection.execute(
        "SELECT k.op_name, o.sequence FROM kernels k JOIN ops o ON o.id = k.op_id"
    ).fetchall() == [("aten::addmm", 7)]


def test_marks_and_open_ranges_are_events(tmp_path: Path) -> None:
    markers = [marker(1, 10, 1), marker(2, 20, 2), marker(2, 30, 3), marker(4, 40, 3, thread=6)]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_MARKER=markers)
    assert connection.execute("SELECT phase FROM events ORDER BY start_ns").fetchall() == [("mark",), ("open range",)]
    assert connection.execute("SELECT dur_ns, tid FROM ranges").fetchall() == [(10, None)]


@pytest.mark.long
def test_copies_between_devices_and_kinds_of_memory(tmp_path: Path) -> None:
    copy = {**SPAN, "copyKind": 1, "srcKind": 2, "dstKind": 3, "bytes": 4096}
    peer = {**SPAN, "copyKind": 8, "srcKind": 3, "dstKind": 3, "bytes": 64, "srcDeviceId": 0, "dstDeviceId": 1}
    fill = {**SPAN, "bytes": 16, "memoryKind": 3}
    connection = given(
        tmp_path,
        CUPTI_ACTIVITY_KIND_MEMCPY=[copy],
        CUPTI_ACTIVITY_KIND_MEMCPY2=[peer],
        CUPTI_ACTIVITY_KIND_MEMSET=[fill],
    )
    query = "SELECT direction, src_kind, dst_kind, src_device, dst_device, size_bytes FROM memcpys ORDER BY direction"
    assert connection.execute(query).fetchall() == [
        ("HtoD", "pinned", "device", None, None, 4096),
        ("PtoP", "device", "device", 0, 1, 64),
        ("memset", None, "device", None, None, 16),
    ]


@pytest.mark.slow
def test_clocks_and_bandwidth_are_in_thousands(tmp_path: Path) -> None:
    device = {"id": 0, "name": 4, "globalMemoryBandwidth": 336480000, "coreClockRate": 1076000,
              "computeCapabilityMajor": 5, "computeCapabilityMinor": 2}  # fmt: skip
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_DEVICE=[device])
    query = "SELECT name, architecture, clock_hz, memory_bytes_per_s FROM devices"
    assert connection.execute(query).fetchall() == [("GeForce GTX TITAN X", "5.2", 1076000000, 336480000000.0)]


@pytest.mark.long
def test_kernels_that_were_replayed_for_metrics_are_doubted(tmp_path: Path) -> None:
    (said,) = section(given(tmp_path, CUPTI_ACTIVITY_KIND_METRIC=[{"_id_": 1, "id": 5}]), "overview/doubts")
    assert "Kernels were replayed for metrics" in said["text"]


@pytest.mark.slow
def test_serialised_kernels_and_an_unknown_version(tmp_path: Path) -> None:
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_KERNEL=[KERNEL], Version=[{"version": 99}])
    assert connection.execute("SELECT count(*) FROM kernels").fetchall() == [(2,)]
    assert connection.execute("SELECT kind FROM quality WHERE source IS NOT NULL").fetchall() == [
        ("database version 99 is not known (8 to 14 are)",)
    ]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(("name", "ranges", "events"), [("titanx-tf1-train", 0, 250), ("v100-pytorch-nvtx", 1195, 698)])
def test_public_traces(name: str, ranges: int, events: int, shared: Path, tmp_path: Path) -> None:
    path = unpacked(shared / f"traces/nvprof/{name}.nvvp.gz", tmp_path)
    assert [reader for reader in readers.READERS if reader.sniff(peek(path))] == [nvprof_db]
    connection = opened(path, tmp_path / "capture")
    assert connection.execute("SELECT (SELECT count(*) FROM ranges), (SELECT count(*) FROM events)").fetchall() == [
        (ranges, events)
    ]
    assert connection.execute("SELECT origin_unix_ns > 1500000000000000000 FROM captures").fetchall() == [(True,)]


@pytest.mark.slow
@pytest.mark.shared
def test_a_cut_database_is_salvaged_or_refused(shared: Path, tmp_path: Path) -> None:
    whole = unpacked(shared / "traces/nvprof/v100-pytorch-nvtx.nvvp.gz", tmp_path).read_bytes()
    answers = []
    for number, size in enumerate((1, 50, 3000, 100_000, 400_000, 700_000, len(whole) - 5000)):
        path = tmp_path / f"cut{number}"
        path.write_bytes(whole[:size])
        try:
            connection = opened(path, tmp_path / f"capture{number}")
        except InputError as error:
            assert str(error).endswith(".")
            continue
        answers.append(
            connection.execute("SELECT count(*) FROM quality WHERE kind LIKE '%cut off or damaged%'").fetchall()
        )
    assert answers and set(map(str, answers)) == {"[(1,)]"}


def of_processes(folder: Path, first: dict[str, Any], second: dict[str, Any]) -> Any:
    """Two processes with one call and one kernel each; `first` and `second` are about the kernels."""
    calls = [
        {**LAUNCH, "correlationId": first["correlationId"]},
        {**LAUNCH, "correlationId": second["correlationId"], "processId": 80},
    ]
    kernels = [{**KERNEL, **first}, {**KERNEL, **second, "gridX": 5}]
    elsewhere = {**marker(1, 10, 2), "objectId": struct.pack("<iq", 80, 5)}
    return given(
        folder,
        CUPTI_ACTIVITY_KIND_RUNTIME=calls,
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL=kernels,
        CUPTI_ACTIVITY_KIND_MARKER=[marker(1, 10, 1), elsewhere],
    )


OWNERS = """SELECT r.rank, r.pid, (SELECT count(*) FROM api_calls a WHERE a.rank = r.rank AND a.pid = r.pid),
    (SELECT list(grid_x ORDER BY grid_x) FROM kernels k WHERE k.rank = r.rank),
    (SELECT count(correlation) FROM kernels k WHERE k.rank = r.rank),
    (SELECT list(DISTINCT pid) FROM events e WHERE e.rank = r.rank) FROM ranks r ORDER BY 1"""


@pytest.mark.slow
def test_each_process_is_a_rank(tmp_path: Path) -> None:
    connection = of_processes(tmp_path, {"correlationId": 9}, {"correlationId": 10})
    assert connection.execute(OWNERS).fetchall() == [(0, 70, 1, [4], 1, [70]), (1, 80, 1, [5], 1, [80])]
    assert connection.execute("SELECT count(*) FROM quality WHERE source IS NOT NULL").fetchall() == [(0,)]


@pytest.mark.long
def test_work_that_several_processes_may_have_caused_is_nobodys(tmp_path: Path) -> None:
    connection = of_processes(tmp_path, {"correlationId": 9}, {"correlationId": 9})
    assert connection.execute(OWNERS).fetchall() == [(0, 70, 1, [4, 5], 0, [70]), (1, 80, 1, None, 0, [80])]
    told = "SELECT kind, n FROM quality WHERE kind LIKE '%process is not known%'"
    assert [row[1] for row in connection.execute(told).fetchall()] == [2]


@pytest.mark.slow
def test_a_context_tells_whose_work_it_is(tmp_path: Path) -> None:
    calls = [{**LAUNCH, "correlationId": number, "processId": pid} for number, pid in ((9, 70), (9, 80), (10, 80))]
    kernels = [{**KERNEL, "contextId": 2, "correlationId": number} for number in (9, 10)]
    connection = given(tmp_path, CUPTI_ACTIVITY_KIND_RUNTIME=calls, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL=kernels)
    query = "SELECT rank, correlation FROM kernels ORDER BY 1, 2"
    assert connection.execute(query).fetchall() == [(1, 9), (1, 10)]


def test_a_process_of_no_four_bytes_is_nobody() -> None:
    assert [_four_bytes(pid) for pid in (7, -1, 2**40, -(2**40))] == ["07000000", "FFFFFFFF", "none", "none"]
