"""The program as a process: its exit code and its output are whole, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

UNSET = "PYTHONUNBUFFERED", "OPENBLAS_NUM_THREADS"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in UNSET}
NOWHERE, TASKS = Path("/dev/full"), Path("/proc/self/task")


def ended(*command: str, **output: object) -> subprocess.CompletedProcess[str]:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **output}
    run: Callable[..., subprocess.CompletedProcess[str]] = subprocess.run
    return run([sys.executable, *command], env=ENVIRONMENT, text=True, timeout=600, **streams)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--version"], 0, "traceview "),
        (["list", "formats"], 0, "kineto"),
        (["report", "absent"], 3, "traceview: absent does not exist."),
        (["reprot"], 2, "did you mean report?"),
        (["--debug", "report", "absent"], 1, "InputError: absent does not exist."),
    ],
)
def test_an_exit_code_and_all_of_the_output(arguments: list[str], code: int, says: str) -> None:
    found = ended("-m", "traceview", *arguments)
    assert found.returncode == code
    assert says in (found.stderr if code else found.stdout)


def test_what_waits_for_the_end_is_done() -> None:
    script = """
import atexit, sys
from traceview import __main__ as program, cli
cli.main = lambda: print("work") or atexit.register(print, "at the end") and 3
sys.exit(program.program())
"""
    found = ended("-c", script)
    assert (found.returncode, found.stdout) == (3, "work\nat the end\n")


@pytest.mark.skipif(not TASKS.exists(), reason="this system does not tell the threads of a process")
def test_numpy_starts_no_threads_here_and_as_many_as_ever_in_what_is_run() -> None:
    script = f"""
import os, subprocess, sys
from traceview import __main__ as program, cli
def main():
    import numpy
    told = [sys.executable, "-c", "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'))"]
    print(len(os.listdir("{TASKS}")), subprocess.check_output(told, env={{**os.environ}}, text=True))
cli.main = main
sys.exit(program.program())
"""
    assert ended("-c", script).stdout.split() == ["1", "None"]


@pytest.mark.skipif(not NOWHERE.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["list", "formats"]])
def test_output_that_cannot_be_written_is_a_failure(arguments: list[str]) -> None:
    with NOWHERE.open("w") as full:
        found = ended("-m", "traceview", *arguments, stdout=full)
    assert found.returncode != 0
    assert "bug in traceview" not in found.stderr


def test_a_reader_that_leaves_is_no_failure() -> None:
    command = f"{sys.executable} -m traceview --help | true; exit ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", command], env=ENVIRONMENT, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
