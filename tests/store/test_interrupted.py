"""Whatever interrupts a conversion, the next run is right: kill -9, a full disk, two at once.

TRACEVIEW_KILLS=50 kills at that many moments instead of a few.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from asked import ask

from traceview import store

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
N_KILLS = int(os.environ.get("TRACEVIEW_KILLS", 3))
CHILD = """
import sys
from pathlib import Path
from traceview import store
from traceview.store import conversion
print("ready", flush=True)
store.open_capture(Path(sys.argv[1]))
"""
REPORT = [sys.executable, "-m", "traceview", "report", "--format", "json"]


def answer(trace: Path) -> list[tuple[object, ...]]:
    """Answer a query about the trace, converted if need be."""
    query = """SELECT count(*), sum(dur_ns), count(category), (SELECT count(*) FROM primitives),
                (SELECT sum(total_ns) FROM conv_calls), (SELECT count(*) FROM steps) FROM ops"""
    return ask(trace, query)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "place" / "trace.json.gz"
    path.parent.mkdir()
    path.write_bytes(SAMPLE.read_bytes())
    return path


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def started(trace: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(trace)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True, process_group=0)
    assert process.stdout and process.stdout.readline() == "ready\n"
    return process


@pytest.mark.long
def test_kill_at_any_moment(trace: Path) -> None:
    right = answer(trace)
    cache = trace.parent / "trace.json.gz.traceview"
    begun = time.perf_counter()
    _drop(cache)
    started(trace).wait()
    longest = time.perf_counter() - begun
    for number in range(N_KILLS):
        _drop(cache)
        process = started(trace)
        # Evenly over the whole run, so that a few kills reach its beginning and its end as well.
        time.sleep(longest * (number + random.Random(number).random()) / N_KILLS)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert answer(trace) == right
        assert [path.name for path in trace.parent.iterdir() if path != trace] == [cache.name]


def _drop(cache: Path) -> None:
    shutil.rmtree(cache, ignore_errors=True)


@pytest.mark.long
def test_two_conversions_at_once(trace: Path) -> None:
    processes = [started(trace) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert [path.name for path in trace.parent.iterdir() if path != trace] == ["trace.json.gz.traceview"]
    key = (trace.parent / "trace.json.gz.traceview" / store.KEY_FILE).stat().st_mtime_ns
    assert answer(trace)[0][0]
    assert (trace.parent / "trace.json.gz.traceview" / store.KEY_FILE).stat().st_mtime_ns == key


@pytest.mark.long
@pytest.mark.parametrize("limit", [1_000, 12_000])
def test_files_that_cannot_grow(trace: Path, limit: int) -> None:
    """A limit on the size of files is a full disk for whoever writes them."""
    command = f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); "
    command += f"sys.argv = ['traceview', 'report', {str(trace)!r}]; runpy.run_module('traceview', run_name='__main__')"
    done = subprocess.run([sys.executable, "-B", "-c", command], capture_output=True, text=True, env=environment())
    _is_refused(done, trace)
    assert answer(trace)[0][0]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(place)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"a small disk cannot be made here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    trace = small_disk / "trace.json.gz"
    trace.write_bytes(SAMPLE.read_bytes())
    _is_refused(subprocess.run([*REPORT, str(trace)], capture_output=True, text=True, env=environment()), trace)


@pytest.mark.slow
def test_a_full_disk_of_the_cache_takes_no_answer(small_disk: Path, tmp_path: Path) -> None:
    """Rows that reports share cannot be stored there; the trace is converted beside itself."""
    trace = tmp_path / "trace.json.gz"
    trace.write_bytes(SAMPLE.read_bytes())
    said = [
        subprocess.run(
            [*REPORT, str(trace)], capture_output=True, text=True, env={**environment(), "XDG_CACHE_HOME": str(place)}
        )
        for place in (small_disk, tmp_path / "cache")
    ]
    assert [done.returncode for done in said] == [0, 0], said[0].stderr
    assert said[0].stdout == said[1].stdout


def _is_refused(done: subprocess.CompletedProcess[str], trace: Path) -> None:
    assert done.returncode == 3, done.stderr
    assert "cannot write" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert [path.name for path in trace.parent.iterdir()] == [trace.name]
