"""Files on disk are whole or absent: caches, captures, crashes, clocks."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from asked import ask, connected
from cases import first
from databases import write

import traceview
from traceview import store
from traceview.errors import InputError, UsageError

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"
COUNT = "SELECT count(*) FROM raw.ops"


def event(name: str, ts: int, rank: int | None = None) -> bytes:
    op = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 5}
    top = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 2, "backend": "gloo"}}
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], **top, "traceEvents": [op]}).encode()


def names(path: Path) -> list[str]:
    return [name for (name,) in ask(path, "SELECT name FROM raw.ops ORDER BY start_ns, name")]


def test_a_trace_is_converted_once_into_a_cache_beside_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    assert names(trace) == ["a"]
    cache = tmp_path / "trace.json.traceview"
    written = (cache / "rank-0000/ops.parquet").stat().st_mtime_ns
    assert names(trace) == ["a"]
    assert (cache / "rank-0000/ops.parquet").stat().st_mtime_ns == written
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["trace.json", "trace.json.traceview"]


def test_a_cache_is_never_stale(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    status = trace.stat()
    assert names(trace) == ["a"]
    trace.write_bytes(event("b", 1))
    os.utime(trace, ns=(status.st_atime_ns, status.st_mtime_ns))  # same size, same time of modification
    assert names(trace) == ["b"]


@pytest.mark.parametrize("change", ["schema", "damage"])
def test_a_cache_of_another_version_or_damaged_is_rebuilt(tmp_path: Path, change: str) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    names(trace)
    key = tmp_path / "trace.json.traceview" / store.KEY_FILE
    facts = json.loads(key.read_text())
    if change == "schema":
        facts["schema"] = "another"
    key.write_text("{" if change == "damage" else json.dumps(facts))
    (tmp_path / "trace.json.traceview/rank-0000/ops.parquet").unlink()
    assert names(trace) == ["a"]


def test_a_read_only_folder_uses_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda path, mode: "cache" in str(path))
    assert names(trace) == ["a"]
    assert not (tmp_path / "trace.json.traceview").exists()
    assert [entry.name[:10] for entry in (tmp_path / "cache/traceview/captures").iterdir()] == ["trace.json"]


def test_two_at_once_give_one_cache(tmp_path: Path) -> None:
    trace = tmp_path / SAMPLE.name
    shutil.copy(SAMPLE, trace)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ask(trace, COUNT), range(4)))
    assert len({str(count) for count in found}) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [trace.name, f"{trace.name}.traceview"]


def test_a_capture_is_not_overwritten(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    store.convert([trace], tmp_path / "capture")
    with pytest.raises(UsageError, match="exists already"):
        store.convert([trace], tmp_path / "capture")


def test_ranks_are_on_one_clock(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_bytes(event("late", 2_000, rank=1))
    (tmp_path / "zero.json").write_bytes(event("early", 1_000, rank=0))
    found = connected(store.resolve(tmp_path))
    assert found.execute("SELECT rank, name, start_ns FROM ops ORDER BY start_ns").fetchall() == [
        (0, "early", -1_000_000),
        (1, "late", 0),
    ]
    assert found.execute("SELECT DISTINCT origin_unix_ns FROM captures").fetchall() == [(2_000_000,)]
    assert found.execute("SELECT count(DISTINCT id) FROM ops").fetchall() == [(2,)]


def test_a_path_with_pattern_characters(tmp_path: Path) -> None:
    folder = tmp_path / "run [1] *? {a}'\""
    folder.mkdir()
    (folder / "t[x]*.json").write_bytes(event("a", 1))
    assert names(folder / "t[x]*.json") == ["a"]
    assert names(folder) == ["a"]


@pytest.mark.parametrize("what", ["missing", "an empty folder", "a folder without traces"])
def test_nothing_to_read_is_a_sentence(tmp_path: Path, what: str) -> None:
    place = tmp_path / "place"
    if what != "missing":
        place.mkdir()
    if what == "a folder without traces":
        (place / "notes.txt").write_text("nothing here")
    with pytest.raises(InputError, match="does not exist" if what == "missing" else "holds no trace"):
        traceview.open(place)


def test_a_damaged_capture_is_a_sentence(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    folder = store.convert([trace], tmp_path / "capture")
    (folder / "rank-0000/kernels.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(InputError, match="is damaged"):
        traceview.open(folder)


def flipped(file: Path) -> None:
    """One bit of a file is another, in the middle of it, and nothing else says so."""
    data = bytearray(file.read_bytes())
    data[len(data) // 3] ^= 4
    file.write_bytes(data)


def test_one_wrong_bit_in_a_capture_is_a_sentence_and_in_a_cache_read_again(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_bytes(event("a", 1))
    folder = store.convert([trace], tmp_path / "capture")
    flipped(folder / "rank-0000/ops.parquet")
    with pytest.raises(InputError, match=r"is damaged \(ops\.parquet does not match its check sum\); convert it again"):
        traceview.open(folder)
    cache = store.resolve(trace)
    flipped(cache / "rank-0000/ops.parquet")
    assert ask(trace, "SELECT name FROM raw.ops") == [("a",)]


def device_work(pid: int, device: int) -> dict[str, int]:
    """A kernel of a process, as Nsight Systems keeps it."""
    return {"start": 1, "end": 3, "deviceId": device, "demangledName": 1, "globalPid": pid << 24}


@pytest.mark.parametrize(("pids", "expected"), first(1, [((70, 80), {0: 70, 1: 80}), ((), {0: 80, 1: 70})]))
def test_each_process_of_a_collected_file_is_a_rank(
    tmp_path: Path, pids: tuple[int, ...], expected: dict[int, int]
) -> None:
    tables = {
        "StringIds": [{"id": 1, "value": "gemm"}],
        "TARGET_INFO_SESSION_START_TIME": [{"utcEpochNs": 10**18}],
        "CUPTI_ACTIVITY_KIND_KERNEL": [device_work(70, 1), device_work(80, 0), device_work(80, 0)],
    }
    (tmp_path / "raw").mkdir()
    write(tmp_path / "raw" / "nsys.sqlite", tables)
    # Beside its export a report is passed over; what is not a trace at all is said.
    (tmp_path / "raw" / "nsys.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report 2024@5@1")
    about = {
        "ranks": [{"rank": rank, "pid": pid, "cpu": f"cpu of {pid}", "threads": 2} for rank, pid in enumerate(pids)]
    }
    (tmp_path / "capture.json").write_text(json.dumps(about))
    connection = store.open_capture(tmp_path)
    assert dict(connection.execute("SELECT rank, pid FROM ranks").fetchall()) == expected
    counted = connection.execute("SELECT rank, count(*) FROM kernels GROUP BY rank ORDER BY rank").fetchall()
    assert counted == [(rank, 2 if pid == 80 else 1) for rank, pid in expected.items()]
    processors = connection.execute("SELECT rank, name FROM devices WHERE kind = 'cpu' ORDER BY rank").fetchall()
    assert processors == [(rank, f"cpu of {pid}") for rank, pid in enumerate(pids)]
