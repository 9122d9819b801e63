"""`traceview collect` that is told to end, or cannot write, leaves what can be read or nothing, and says so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import ask

from traceview import cli, store
from traceview.recording import nvtx

ROOT = Path(__file__).parents[2]
# Leaves what a collector leaves of a process that recorded a step.
LEAVES = """
import json, os, sys
raw = os.path.join(os.environ["TRACEVIEW_DIR"], "raw")
facts = {"rank": 0, "framework": "torch", "framework_version": "2", "model": None, "world_size": 1, "warnings": [],
    "cost": {"bare_step_ns": None, "profiled_step_ns": None}, "steps": {"recorded": 1}, "ended_by": "complete"}
event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 10, "dur": 5}
open(os.path.join(raw, "rank-0000.meta.json"), "w").write(json.dumps(facts))
open(os.path.join(raw, "rank-0000.kineto.json"), "w").write(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """`collect(code, *options)`: the exit code of collecting a program that leaves a trace and ends with `code`."""
    monkeypatch.setenv(nvtx.VARIABLE, "/other.so")  # Another tool has that place, so that nothing is built.
    monkeypatch.chdir(tmp_path)
    program = [sys.executable, "-S", "-c", LEAVES]
    return lambda code, *options: cli.main(["collect", "-o", "capture", *options, "--", *program, str(code)])


def raising(number: signal.Signals) -> Callable[..., None]:
    return lambda *rest: os.kill(os.getpid(), number)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_told_to_end_before_the_command_nothing_is_left(collect, tmp_path, monkeypatch, capsys, number):
    monkeypatch.setattr(nvtx, "library", raising(number))
    assert collect(0) == 128 + number
    assert capsys.readouterr().err == f"traceview: ended by {number.name}; no capture\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_told_to_end_after_the_command_the_traces_are_kept(collect, tmp_path, monkeypatch, capsys, number):
    with monkeypatch.context() as patched:
        patched.setattr(store, "convert_raw", raising(number))
        assert collect(0) == 128 + number
    err = capsys.readouterr().err
    assert err == (
        f"traceview: ended by {number.name} before the traces were converted; traceview report capture does it\n"
    )
    assert ask(tmp_path / "capture", "SELECT name FROM raw.ops") == [("aten::add",)]


@pytest.mark.parametrize("code", [0, 3])
def test_a_capture_whose_tables_cannot_be_written(collect, tmp_path, monkeypatch, capsys, code):
    def full(*rest: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(store, "convert_raw", full)
        assert collect(code) == code
    said = f"traceview: the raw traces are in {tmp_path / 'capture/raw'}, but could not be converted: No space left"
    assert capsys.readouterr().err.startswith(said)
    assert ask(tmp_path / "capture", "SELECT count(*) FROM raw.ops") == [(1,)]


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 1), ("exit 5", 5), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_a_capture_that_is_required(tmp_path, monkeypatch, capsys, command, code):
    monkeypatch.setenv(nvtx.VARIABLE, "/other.so")
    assert cli.main(["collect", "-o", str(tmp_path / "x"), "--require-capture", "--", "/bin/sh", "-c", command]) == code
    assert "no capture: " in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_capture_that_is_required_and_there(collect, tmp_path):
    assert collect(0, "--require-capture") == 0
    assert ask(tmp_path / "capture", "SELECT name FROM raw.ops") == [("aten::add",)]


def test_a_folder_that_cannot_be_made(monkeypatch, capsys):
    assert cli.main(["collect", "-o", "/dev/null/capture", "--", "true"]) == 2
    assert capsys.readouterr().err.startswith("traceview: cannot write to /dev/null/capture: ")


@pytest.mark.long
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path, redirection):
    """No message of traceview lands in a stream, or a file, that is the command's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), nvtx.VARIABLE: "/other.so"}
    program = [sys.executable, "-S", "-c", LEAVES, "7"]
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--", *program]
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *command],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (7, "", False), done.stderr
    assert json.loads((tmp_path / "capture/capture.json").read_text())["exit_code"] == 7


@pytest.mark.long
@pytest.mark.parametrize("files", [6, 8])
def test_few_files_may_be_open(tmp_path, files):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), nvtx.VARIABLE: "/other.so"}
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--", sys.executable, "-S", "-c", LEAVES]
    done = subprocess.run(
        ["/bin/sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command, "0"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr, "fault" in done.stderr) == (0, False, False), done.stderr
    assert ask(tmp_path / "capture", "SELECT count(*) FROM raw.ops") == [(1,)]
