"""A job whose ranks are converted several at a time has the rows of one that was read file after file."""

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
from traceview.errors import InputError, UsageError
from traceview.fleet import Fleet, job, merge
from traceview.store import Options

ROOT = Path(__file__).resolve().parents[2]


def convert(traces: Path, target: Path, notes: list[str] | None = None, **how: object) -> Path:
    note = notes.append if notes is not None else None
    return store.convert([traces], target, Options(many=Fleet(**{"jobs": 2, **how}), note=note))  # type: ignore[arg-type]


@pytest.mark.slow
def test_rows_are_those_of_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = written(tmp_path / "traces")
    alone = rows(store.convert([traces], tmp_path / "alone"))
    monkeypatch.setattr("traceview.fleet.merge.SHARD_RANKS", 3)
    together = convert(traces, tmp_path / "together")
    assert rows(together) == alone
    assert sum(map(len, alone.values())) > 40
    assert sorted(path.name for path in together.iterdir()) == ["converted.json", "shard-0000", "shard-0001"]
    assert left_over(tmp_path) == []


@pytest.mark.long
def test_a_shard_is_a_capture_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traceview.fleet.merge.SHARD_RANKS", 2)
    job_folder = convert(written(tmp_path / "traces"), tmp_path / "job")
    with store.open_capture(job_folder / "shard-0001") as connection:
        assert connection.execute("SELECT DISTINCT rank FROM kernels ORDER BY 1").fetchall() == [(2,), (3,)]
    with store.open_capture(job_folder) as connection:
        assert connection.execute("SELECT count(DISTINCT rank), count(*) FROM kernels").fetchall() == [(4, 24)]


@pytest.mark.long
def test_a_damaged_file_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces")
    damaged = traces / "rank2.json"
    damaged.write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    notes: list[str] = []
    made = convert(traces, tmp_path / "job", notes)
    (note,) = notes
    assert note.startswith(f"1 of 4 traces could not be read and is left out: {damaged} ")
    with store.open_capture(made) as connection:
        assert connection.execute("SELECT list(DISTINCT rank ORDER BY rank) FROM kernels").fetchall() == [([0, 1, 3],)]
        (found,) = connection.execute("SELECT n, examples[1] FROM quality WHERE kind LIKE '%left out'").fetchall()
        assert found[0] == 1 and "rank2.json" in found[1]


@pytest.mark.slow
def test_strict_refuses_a_job_with_a_damaged_file(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces")
    (traces / "rank2.json").write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    with pytest.raises(InputError, match=r"rank2\.json"):
        store.convert([traces], tmp_path / "job", Options(strict=True, many=Fleet(2)))
    assert not (tmp_path / "job").exists()


@pytest.mark.slow
def test_none_that_can_be_read_is_an_error(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces", 2)
    for path in traces.iterdir():
        path.write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    with pytest.raises(InputError, match="none of 2 traces can be read"):
        convert(traces, tmp_path / "job")
    assert left_over(tmp_path) == []


def begun(traces: Path, target: Path, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "traceview", "convert", str(traces), "-o", str(target), "--jobs", "2", *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(words, stderr=subprocess.PIPE, env=environment, text=True, process_group=0)


def wait_for_parts(place: Path, n_parts: int) -> None:
    for _ in range(6000):
        if place.exists() and len([path for path in place.iterdir() if path.name[0] != "."]) >= n_parts:
            return
        time.sleep(0.05)
    raise AssertionError("no part was written in five minutes")


def children(parent: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent and "spawn_main" in (stat.parent / "cmdline").read_text():
            found.append(int(stat.parent.name))
    return found


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_was_done_is_gone_on_with(tmp_path: Path, number: signal.Signals) -> None:
    traces, target = written(tmp_path / "traces", 16), tmp_path / "job"
    process = begun(traces, target)
    wait_for_parts(tmp_path / ".job.partial", 2)
    workers = children(process.pid)
    os.kill(process.pid, number)
    error = process.communicate(timeout=600)[1]
    kept = [path for path in (tmp_path / ".job.partial").iterdir() if path.name[0] != "."]
    assert len(kept) >= 2 and not target.exists()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "of 16 traces are converted and kept; --resume goes on" in error
    deadline = time.monotonic() + 120
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    with pytest.raises(UsageError, match="--resume"):
        convert(traces, target, resumes=False)
    notes: list[str] = []
    convert(traces, target, notes)
    assert notes == []
    assert rows(target) == rows(store.convert([traces], tmp_path / "alone"))
    assert left_over(tmp_path) == []


@pytest.mark.long
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    traces, target = written(tmp_path / "traces", 24), tmp_path / "job"
    process = begun(traces, target)
    wait_for_parts(tmp_path / ".job.partial", 2)
    worker = children(process.pid)[0]
    os.kill(worker, signal.SIGKILL)
    assert process.wait(60) == 0
    assert rows(target) == rows(store.convert([traces], tmp_path / "alone"))
    assert left_over(tmp_path) == []


@pytest.mark.long
def test_parts_of_a_file_that_changed_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces, target = written(tmp_path / "traces", 3), tmp_path / "job"
    monkeypatch.setattr("traceview.fleet.merge.merge", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.convert([traces], target, Options(many=_InThisProcess(2)))
    monkeypatch.undo()
    assert len(list((tmp_path / ".job.partial").iterdir())) == 3
    (traces / "rank1.json").write_text((traces / "rank1.json").read_text().replace("aten::mm", "aten::bmm"))
    store.convert([traces], target, Options(many=Fleet(2)))
    names = {row[0]: row[1] for row in _names(target)}
    assert names == {0: ["aten::mm"], 1: ["aten::bmm"], 2: ["aten::mm"]}
    assert left_over(tmp_path) == []


class _InThisProcess(Fleet):
    """Tasks one after the other, without other processes."""

    def convert(self, *given):  # type: ignore[no-untyped-def]
        def run(jobs, function, tasks):  # type: ignore[no-untyped-def]
            for number, task in enumerate(tasks):
                yield number, function(task)

        before, job.processes.run = job.processes.run, run  # type: ignore[assignment]
        try:
            return job.convert(Fleet(2), *given)
        finally:
            job.processes.run = before


def _interrupted(shard: object) -> str:
    raise KeyboardInterrupt


def _names(target: Path) -> list[tuple[int, list[str]]]:
    with store.open_capture(target) as connection:
        query = "SELECT rank, list(DISTINCT name ORDER BY name) FROM ops GROUP BY rank"
        return connection.execute(query).fetchall()


def test_the_second_of_two_conversions_leaves_the_first_alone(tmp_path: Path) -> None:
    place = tmp_path / ".job.partial"
    with job._parts_folder(Fleet(), tmp_path / "job") as first:
        with (
            pytest.raises(UsageError, match="another conversion is at work"),
            job._parts_folder(Fleet(), tmp_path / "job"),
        ):
            raise AssertionError("two conversions write to one folder")
        assert first == place and place.is_dir()
    assert not place.exists()


def test_what_duckdb_says_of_a_file_that_may_not_grow_is_no_bug(tmp_path: Path) -> None:
    script = """
import resource, signal, sys
import duckdb
from traceview.errors import shortage
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
try:
    duckdb.execute(f"COPY (SELECT random() FROM range(100000)) TO '{sys.argv[1]}' (FORMAT parquet)")
except duckdb.Error as error:
    print(shortage(error))
"""
    words = [sys.executable, "-B", "-c", script, str(tmp_path / "large.parquet")]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("a file of this size cannot be written here")


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
    with job.on_dask("local", 2) as run:
        answers = dict(run(work, [(str(tmp_path), number) for number in range(12)]))
    thread.join()
    assert answers == {number: number * number for number in range(12)}
    assert len(killed) == 1
    assert seen and seen <= LOOPBACK


@pytest.mark.long
def test_rows_on_dask_are_those_of_one_process(tmp_path: Path) -> None:
    traces = written(tmp_path / "traces")
    words = ["convert", str(traces), "-o", str(tmp_path / "job"), "--dask", "local", "--jobs", "2"]
    subprocess.run([sys.executable, "-m", "traceview", *words], check=True, stdout=subprocess.DEVNULL)
    assert rows(tmp_path / "job") == rows(store.convert([traces], tmp_path / "alone"))
    assert left_over(tmp_path) == []


@pytest.mark.slow
def test_a_cluster_is_begun_once_for_reading_and_merging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    begun: list[str] = []

    def in_threads(_: object, address: str, *more: object) -> object:
        begun.append(address)
        return distributed.Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0")

    monkeypatch.setattr(job, "_client", in_threads)
    monkeypatch.setattr(merge, "SHARD_RANKS", 2)
    traces = written(tmp_path / "traces", 3)
    found = store.convert([traces], tmp_path / "job", Options(many=Fleet(1, dask="local")))
    assert sorted(path.name for path in found.glob("shard-*")) == ["shard-0000", "shard-0001"]
    assert begun == ["local"]


@pytest.mark.slow
def test_no_scheduler_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "CONNECT_SECONDS", 1)
    traces = written(tmp_path / "traces", 2)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        store.convert([traces], tmp_path / "job", Options(many=Fleet(dask="tcp://127.0.0.1:9")))
    assert left_over(tmp_path) == []
