"""A process that answers queries ends when it is asked to, whatever it is at, and the next query gets a new one."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path

import duckdb
import pytest

from traceview import store
from traceview.errors import UsageError
from traceview.store.reader import Late, Reader

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"
LONG = "SELECT levenshtein(repeat('ab', 50000), repeat('ba', 50000))"


def rows(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[object]:
    yield from connection.execute(text).fetchall()


def ended_time() -> float:
    """Seconds of the processor that the processes took which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ended(_connection: duckdb.DuckDBPyConnection, number: int) -> Iterator[object]:
    faulthandler.disable()
    os.kill(os.getpid(), number)
    yield 1


class Odd(Exception):
    def __init__(self, one: object, other: object) -> None:
        super().__init__(f"{one} {other}")


def odd(_connection: duckdb.DuckDBPyConnection) -> Iterator[object]:
    yield 1
    raise Odd(1, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store.prepare(store.convert([SAMPLE], tmp_path_factory.mktemp("read") / "capture"))


@pytest.mark.slow
@pytest.mark.parametrize("has_threads", [False, True])
def test_pieces_come_and_errors_with_them(folder: Path, has_threads: bool) -> None:
    with Reader(folder, has_threads=has_threads) as reader:
        assert list(reader.ask(rows, "FROM range(3)")) == [(0,), (1,), (2,)]
        with pytest.raises(duckdb.CatalogException, match="nothing"):
            list(reader.ask(rows, "FROM nothing"))
        if not has_threads:
            # Itself where something else in this process (distributed) taught pickle to carry any error.
            with pytest.raises((RuntimeError, Odd), match="1 2"):
                list(reader.ask(odd))
        assert list(reader.ask(rows, "SELECT 1")) == [(1,)]


def test_what_takes_too_long_ends_at_its_time(folder: Path) -> None:
    with Reader(folder) as reader:
        assert list(reader.ask(rows, "SELECT 1", seconds=600.0)) == [(1,)]
        before = ended_time()
        with pytest.raises(Late):
            list(reader.ask(rows, LONG, seconds=0.3))
        # It takes half a minute of the processor where nobody ends it.
        assert ended_time() - before < 3
        assert list(reader.ask(rows, "SELECT 2")) == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "says"),
    [(signal.SIGSEGV, "did not survive this query .SIGSEGV."), (signal.SIGKILL, "was killed, as happens where memory")],
)
def test_a_crash_is_a_sentence_and_the_next_query_is_answered(folder: Path, number: int, says: str) -> None:
    with Reader(folder) as reader:
        with pytest.raises(UsageError, match=says):
            list(reader.ask(ended, number))
        assert list(reader.ask(rows, "SELECT 1")) == [(1,)]


def test_who_reads_no_further_ends_the_process(folder: Path) -> None:
    with Reader(folder) as reader:
        pieces = reader.ask(rows, "FROM range(3)")
        assert next(pieces) == (0,)
        pieces.close()
        assert list(reader.ask(rows, "SELECT 1")) == [(1,)]


def test_ctrl_c_while_the_process_is_started_ends_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = BaseProcess.start

    def interrupted(process: BaseProcess) -> None:
        start(process)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    before = {*active_children()}
    with Reader(folder) as reader:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(BaseProcess, "start", interrupted)
            list(reader.ask(rows, "SELECT 1"))
        assert {*active_children()} <= before
        assert list(reader.ask(rows, "SELECT 1")) == [(1,)]


def test_a_capture_that_is_none_is_said_so(tmp_path: Path) -> None:
    with Reader(tmp_path) as reader, pytest.raises(store.InputError, match="is not a capture"):
        list(reader.ask(rows, "SELECT 1"))


@pytest.mark.slow
def test_a_machine_without_room_for_a_process_is_said_so(folder: Path, root: Path) -> None:
    program = f"""
import multiprocessing.popen_fork, os, resource
from pathlib import Path
from traceview.store.reader import Reader
os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
list(Reader(Path({str(folder)!r})).ask(print))
"""
    if os.getuid():
        program = program.replace("os.setuid(65534)\n", "")
    said = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True).stderr
    assert "UsageError: no process could be started for this query: Resource temporarily unavailable." in said


@pytest.mark.slow
def test_it_ends_with_the_process_that_asks(folder: Path, root: Path) -> None:
    program = f"""
from pathlib import Path
from traceview.store.reader import Reader
def rows(connection):
    import os
    yield os.getpid()
    yield connection.execute({LONG!r}).fetchall()
reader = Reader(Path({str(folder)!r}))
for piece in reader.ask(rows):
    print(piece, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        number = int(process.stdout.readline())
        os.kill(number, 0)
        process.kill()
    until = time.monotonic() + 60
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < until:
            os.kill(number, 0)
            time.sleep(0.05)
