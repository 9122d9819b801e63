"""Conversion on a Dask cluster of this machine: the same rows, through the death of a worker, on loopback only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from job_traces import left_over, rows, written

from traceview import store
from traceview.errors import InputError
from traceview.fleet import Fleet, cluster
from traceview.store import Options

LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


def listening(processes: set[int]) -> set[str]:
    """The addresses, in hexadecimal, at which processes wait for connections."""
    sockets = set()
    for process in processes:
        for handle in Path(f"/proc/{process}/fd").iterdir():
            try:
                name = str(handle.readlink())
            except OSError:
                continue
            if name.startswith("socket:["):
                sockets.add(name[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in sockets:
                found.add(words[1].split(":")[0])
    return found


def family(parent: int) -> set[int]:
    """A process and those that it began."""
    found, size = {parent}, 0
    while len(found) > size:
        size = len(found)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[1]) in found:
                found.add(int(stat.parent.name))
    return found


def work(task: tuple[str, int]) -> int:
    """Note which process has the task, and take a while."""
    place, number = task
    (Path(place) / f"{number}-{os.getpid()}").touch()
    time.sleep(0.3)
    return number * number


@pytest.mark.long
def test_a_killed_worker_loses_nothing_and_nothing_listens_elsewhere(tmp_path: Path) -> None:
    seen: set[str] = set()
    killed: list[int] = []

    def kill() -> None:
        while not killed:
            for file in tmp_path.iterdir():
                seen.update(listening(family(os.getpid())))
                killed.append(int(file.name.split("-")[1]))
                os.kill(killed[0], signal.SIGKILL)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    answers = dict(cluster.run("local", 2, work, [(str(tmp_path), number) for number in range(12)]))
    thread.join()
    assert answers == {number: number * number for number in range(12)}
    assert len(killed) == 1
    assert seen and seen <= LOOPBACK


@pytest.mark.long
def test_rows_are_those_of_one_process(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces")
    words = ["convert", str(traces), "-o", str(tmp_path / "job"), "--dask", "local", "--jobs", "2"]
    subprocess.run([sys.executable, "-m", "traceview", *words], check=True, stdout=subprocess.DEVNULL)
    assert rows(tmp_path / "job") == rows(store.convert([traces], tmp_path / "alone"))
    assert left_over(tmp_path) == []


def test_no_scheduler_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    traces = written(tmp_path / "traces", 2)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        store.convert([traces], tmp_path / "job", Options(many=Fleet(dask="tcp://127.0.0.1:9")))
    assert left_over(tmp_path) == []
