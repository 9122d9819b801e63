"""However its streams are and whatever ends it, the program has its exit code and no traceback."""

from __future__ import annotations

import errno
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import first

from traceview import cli
from traceview.cli.output import emit
from traceview.errors import InputError

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
SAMPLES = Path(__file__).resolve().parent.parent / "samples"
SAMPLE = SAMPLES / "kineto/torch-2.13.0-lenet-cpu.json.gz"
PROGRAM = (sys.executable, "-m", "traceview")
ENDLESS = "SELECT count(*) FROM range(10000000) a, range(1000000) b WHERE a.range % 7 = b.range % 3"
HOST = {"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", "name": "aten::add"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that is converted already."""
    path = tmp_path_factory.mktemp("streams") / SAMPLE.name
    path.write_bytes(SAMPLE.read_bytes())
    subprocess.run([*PROGRAM, "report", str(path)], check=True, capture_output=True)
    return path


def shell(text: str, **variables: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a line of bash in which $T is the program."""
    environment = {**ENVIRONMENT, "T": shlex.join(PROGRAM), **variables}
    done = subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, timeout=600)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "words", ["report {}", "sql {} .tables", "sql {} 'SELECT 1' --format parquet", "export {} --to chrome", "--version"]
)
def test_an_answer_on_a_closed_stdout_is_lost(trace: Path, words: str) -> None:
    command = f"$T {words.format(shlex.quote(str(trace)))}"
    assert shell(f"{command} >&-") == (3, "", "traceview: cannot write to stdout: Bad file descriptor.\n")
    assert shell(f"{command} <&- >&- 2>&-") == (3, "", "")
    code, said, _ = shell(f"{command} <&- 2>&- | cat -v; exit ${{PIPESTATUS[0]}}")
    assert code == 0 and said


@pytest.mark.long
def test_what_prints_nothing_needs_no_stdout_nor_does_a_command(trace: Path, tmp_path: Path) -> None:
    command = f"$T report {shlex.quote(str(trace))} -o {shlex.quote(str(tmp_path / 'answer'))}"
    assert shell(f"{command} <&- >&-") == (0, "", "") and (tmp_path / "answer").stat().st_size
    command = f"$T collect -o {shlex.quote(str(tmp_path / 'run'))} -- {shlex.quote(sys.executable)} -c 'print(1)'"
    code, _, said = shell(f"{command} >&-")
    assert code == 0 and "descriptor" not in said


def test_a_wrong_word_where_nobody_can_be_told() -> None:
    assert shell("$T report absent 2>&-") == (3, "", "")
    assert shell("$T classify <&-") == (0, "category  algorithm  direction  role  library  rule  name\n", "")
    code, _, _ = shell("$T report absent 2>&1 | true; exit ${PIPESTATUS[0]}")
    assert code == 3


@pytest.mark.slow
def test_a_check_that_fails_does_so_without_a_reader(tmp_path: Path) -> None:
    trace = shutil.copy(SAMPLES / "onednn/onednn-3.12.0-lenet-cpu.log.gz", tmp_path)
    command = f"$T advise {shlex.quote(str(trace))} --at-least 0 --fail-over 0%"
    assert shell(f"{command} | true; exit ${{PIPESTATUS[0]}}")[0] == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", ["--help", "list categories"])
@pytest.mark.parametrize("variables", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_a_full_disk_is_said(words: str, variables: dict[str, str]) -> None:
    said = "traceview: cannot write to stdout: No space left on device.\n"
    assert shell(f"$T {words} >/dev/full", **variables) == (3, "", said)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words",
    first(4, ["sql {} 'SELECT 1'", "sql {} 'SELECT 1' --format parquet", "page {}", "export {} --to chrome",
              "report {}", "advise {}", "compare {} {}",
              "export {} --to collapsed"]),
)  # fmt: skip
def test_a_file_on_a_full_disk_is_not_wrong_usage(trace: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*shlex.split(words.replace("{}", shlex.quote(str(trace)))), "-o", "/dev/full"]) == 3
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("traceview: cannot write /dev/full: ")
    assert "No space left on device" in said.err and said.err.count("\n") == 1


@pytest.mark.parametrize("before", [None, "whole"])
def test_a_file_that_fails_half_way_is_as_it_was(tmp_path: Path, before: str | None) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "page.html"
    if before:
        path.write_text(before)
        path.chmod(0o600)
    with pytest.raises(InputError, match=f"cannot write {path}: No space left on device"):
        emit(pieces(), str(path))
    assert [each.read_text() for each in tmp_path.iterdir()] == ([before] if before else [])
    emit(["all ", "of it"], str(path))
    assert path.read_text() == "all of it" and (path.stat().st_mode & 0o777 == 0o600) == bool(before)


def test_where_a_link_leads_is_written_and_the_link_stays(tmp_path: Path) -> None:
    link, path = tmp_path / "link", tmp_path / "file"
    link.symlink_to(path)
    emit(["text"], str(link))
    assert link.is_symlink() and path.read_text() == "text"


@pytest.mark.slow
def test_warnings_as_errors_no_assertions_no_locale(trace: Path) -> None:
    command = [sys.executable, "-O", "-W", "error", "-m", "traceview", "sql", str(trace), "SELECT 'é' AS e"]
    environment = {**ENVIRONMENT, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "") and "é" in done.stdout


def ended(words: list[str], number: int, when: float, where: Path | None = None) -> tuple[int, str]:
    """Exit code and stderr of a command that gets a signal after DuckDB is loaded or something is made in a folder."""
    before = set(where.iterdir()) if where else set()
    process = subprocess.Popen([*PROGRAM, *words], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    maps = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and not (set(where.iterdir()) > before if where else "_duckdb" in maps.read_text()):
        time.sleep(0.005)
    time.sleep(when)
    process.send_signal(number)
    said = process.communicate(timeout=600)[1]
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc tells when the program is loaded")
@pytest.mark.parametrize(("number", "code", "says"), [(signal.SIGINT, 130, "traceview: interrupted\n"), (15, 143, "")])
def test_a_signal_ends_a_query(trace: Path, number: int, code: int, says: str) -> None:
    found, said = ended(["sql", str(trace), ENDLESS], number, when=0.5)
    assert found == code and said in (says, "traceview: interrupted\n")


def test_a_signal_while_modules_are_loaded() -> None:
    """The module that is being loaded makes an ImportError of it, as those of C++ do."""
    script = """
import os, signal, sys
class Finder:
    def find_spec(name, *_):
        if name == "traceview.cli.{}":
            try:
                os.kill(os.getpid(), signal.{})
            except BaseException as error:
                {}
sys.meta_path.insert(0, Finder)
sys.argv[1:] = ["--version"]
from traceview.__main__ import program
sys.exit(program())
"""
    wrap = 'raise ImportError("initialization failed") from error'
    for name, code in (("SIGINT", 130), ("SIGTERM", 143)):
        for module, raising in (("report", "raise"), ("report", wrap)):
            command = [sys.executable, "-c", script.format(module, name, raising)]
            done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
            assert done.returncode == code, done.stderr
            assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_a_callback_of_an_import_ends_the_program(number: int, code: int) -> None:
    """Python drops what is raised in a callback, as importlib has one for the lock of each module."""
    script = f"""
import signal, sys, time, weakref
from traceview import __main__ as program, cli
class Lock: pass
exec(compile("def callback(_): signal.raise_signal({number:d})", "<frozen importlib._bootstrap>", "exec"))
def main():
    lock = Lock()
    watched = weakref.ref(lock, callback)
    del lock
    time.sleep(20)
    return 0
cli.main = main
sys.exit(program.program())
"""
    done = subprocess.run([sys.executable, "-c", script], env=ENVIRONMENT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.fixture
def long_trace(tmp_path: Path) -> Path:
    """A trace that takes a while to convert."""
    path = tmp_path / "long.json"
    events = ",".join(json.dumps({**HOST, "ts": 10 * number, "dur": 5}) for number in range(100_000))
    path.write_text(f'{{"schemaVersion": 1, "traceEvents": [{events}]}}')
    return path


@pytest.mark.long
def test_what_is_half_written_is_cleared_away(long_trace: Path) -> None:
    """By SIGTERM at once; after kill -9 the next run works."""
    code, said = ended(["report", str(long_trace)], signal.SIGTERM, 0.1, long_trace.parent)
    assert code == 143 and "Traceback" not in said
    assert list(long_trace.parent.iterdir()) == [long_trace]
    assert ended(["report", str(long_trace)], signal.SIGKILL, 0.1, long_trace.parent)[0] == -9
    done = subprocess.run([*PROGRAM, "report", str(long_trace)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in long_trace.parent.iterdir()} == {"long.json", "long.json.traceview"}


@pytest.mark.parametrize(("limit", "amount"), [(resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_AS, 350_000_000)])
def test_what_the_machine_lacks_is_said(limit: int, amount: int) -> None:
    done = subprocess.run(
        [*PROGRAM, "report", str(SAMPLE)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(limit, (amount, amount)),
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1 and "limit" in done.stderr and "fault of" not in done.stderr
