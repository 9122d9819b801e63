"""The sink: times that cannot be true are said whatever the format, and what nothing can hold is taken out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected
from databases import write
from readers.test_nsys import KERNEL, LAUNCH
from readers.test_nsys import TABLES as NSYS
from readers.test_nsys_csv import GPU
from readers.test_rocm_db import RPD
from readers.test_rocprofv3 import record, small

from traceview import store
from traceview.errors import InputError
from traceview.ingest.options import Options
from traceview.ingest.sink import BAD_CLOCK, BEYOND, LONG, NEGATIVE, NEGATIVE_SIZE

DAYS = 24 * 3600 * 10**9


def quality(path: Path, target: Path) -> tuple[Any, dict[str, int]]:
    connection = connected(store.convert([path], target))
    query = "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p)"
    return connection, dict(connection.execute(query).fetchall())


def times(connection: Any) -> list[tuple[int, int]]:
    return list(connection.execute("SELECT start_ns, dur_ns FROM raw.kernels ORDER BY start_ns, dur_ns").fetchall())


@pytest.mark.slow
def test_an_nsys_database_with_odd_times(tmp_path: Path) -> None:
    """A table is read row by row: one bad cell costs one row."""
    spans = [(1300, 1200), (1300, 1300 + 8 * DAYS), (1300, 2 * 10**18), (2**63 - 1, 2**63 - 1), (-(2**63), 5), ("x", 5)]
    rows = [KERNEL, *({**KERNEL, "start": start, "end": end} for start, end in spans)]
    path = write(tmp_path / "trace.db", {**NSYS, "CUPTI_ACTIVITY_KIND_KERNEL": rows})
    connection, found = quality(path, tmp_path / "capture")
    assert times(connection) == [(300, 0), (300, 200), (300, 8 * DAYS)]
    assert {kind: found[kind] for kind in (NEGATIVE, LONG, BEYOND)} == {NEGATIVE: 1, LONG: 1, BEYOND: 1}
    assert connection.execute("SELECT n_events - n_kept - n_dropped FROM captures").fetchall() == [(0,)]
    assert connection.execute("SELECT n_dropped FROM captures").fetchall() == [(4,)]
    with pytest.raises(InputError, match=r"negative durations.*--strict"):
        store.convert([path], tmp_path / "strict", Options(strict=True))


@pytest.mark.slow
def test_sums_of_a_database_stay_within_64_bits(tmp_path: Path) -> None:
    huge = {**KERNEL, "staticSharedMemory": 2**63 - 1, "dynamicSharedMemory": 2**63 - 1, "gridX": 2**62 + 1}
    tables = {**NSYS, "CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL, huge], "CUPTI_ACTIVITY_KIND_RUNTIME": [LAUNCH]}
    connection, _ = quality(write(tmp_path / "trace.db", tables), tmp_path / "capture")
    assert connection.execute("SELECT grid_x, shared_bytes FROM raw.kernels ORDER BY id").fetchall() == [
        (4, 48),
        (None, None),
    ]


@pytest.mark.slow
def test_other_formats_say_the_same(tmp_path: Path) -> None:
    operations = [{**row, "end": row["start"] - 5} for row in RPD["rocpd_op"]]
    path = write(tmp_path / "rpd.db", {**RPD, "rocpd_op": operations})
    connection, found = quality(path, tmp_path / "rpd")
    assert found[NEGATIVE] == 3
    tables = ("kernels", "memcpys")
    counts = [connection.execute(f"SELECT count(*) FROM raw.{table}").fetchall()[0][0] for table in tables]
    assert counts == [2, 1]
    path = tmp_path / "trace.csv"
    path.write_text(GPU.replace("265888", "-1").replace("2707098", str(9 * DAYS)))
    assert quality(path, tmp_path / "csv")[1] == {NEGATIVE: 1, LONG: 1}


@pytest.mark.slow
def test_a_copy_of_less_than_no_bytes_has_no_known_size(tmp_path: Path) -> None:
    copy = {**KERNEL, "bytes": -5, "copyKind": 1, "srcKind": 0, "dstKind": 2}
    nsys = write(tmp_path / "trace.db", {**NSYS, "CUPTI_ACTIVITY_KIND_MEMCPY": [copy, {**copy, "bytes": 7}]})
    event = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 5, "dur": 1}
    events = [{**event, "args": {"device": 0, "stream": 7, "bytes": size}} for size in (-5, 7)]
    kineto = tmp_path / "trace.json"
    kineto.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    for path in (nsys, kineto):
        connection, found = quality(path, tmp_path / f"{path.name}.capture")
        assert found[NEGATIVE_SIZE] == 1
        assert connection.execute("SELECT size_bytes FROM raw.memcpys ORDER BY id").fetchall() == [(None,), (7,)]


@pytest.mark.slow
def test_rocprofv3_names_a_thing_twice_and_keeps_one_row(tmp_path: Path) -> None:
    trace = small()
    tool = trace["rocprofiler-sdk-tool"][0]
    for names in ("agents", "kernel_symbols"):
        tool[names] *= 3
    info = tool["buffer_records"]["kernel_dispatch"][0]["dispatch_info"]
    tool["buffer_records"]["kernel_dispatch"] += [
        record(9, 2, 300, 200, 12, dispatch_info=info),
        record(9, 2, 300, 2**63 - 1, 13, dispatch_info=info),
        {**record(9, 2, 300, 310, 14, dispatch_info=info), "odd": float("nan")},
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(trace))
    connection, found = quality(path, tmp_path / "capture")
    assert connection.execute("SELECT start_ns - 290, dur_ns FROM kernels ORDER BY id").fetchall() == [
        (-100, 60),
        (0, 0),
        (0, 10),
    ]
    assert found == {NEGATIVE: 1, "kernel_dispatch without a readable time": 1}
    # The one whose duration is negative, and the one with NaN.
    assert connection.execute("SELECT n_repaired, n_dropped FROM captures").fetchall() == [(2, 1)]


@pytest.mark.slow
def test_a_clock_of_no_time(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    for number in (-5, 10**40):
        path.write_text(
            f'{{"schemaVersion": 1, "deviceProperties": [], "baseTimeNanoseconds": {number}, "traceEvents": [{event}]}}'
        )
        connection, found = quality(path, tmp_path / f"capture{number}")
        assert found == {BAD_CLOCK: 1}
        assert connection.execute("SELECT origin_unix_ns FROM captures").fetchall() == [(None,)]


@pytest.mark.slow
def test_numbers_of_any_size_in_facts(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = '{"ph": "X", "cat": "kernel", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 1}'
    path.write_text(
        f'{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "totalGlobalMem": {10**30}}}], '
        f'"distributedInfo": {{"rank": {10**15}, "world_size": {10**30}}}, "traceEvents": [{event}]}}'
    )
    connection, _ = quality(path, tmp_path / "capture")
    assert connection.execute("SELECT rank, world_size FROM ranks").fetchall() == [(0, None)]
    assert connection.execute("SELECT memory_bytes FROM raw.devices").fetchall() == [(None,)]
