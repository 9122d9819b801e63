"""Commands run as without traceview: where their capture goes, their signals and their exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from traceview.errors import CommandFailed, UsageError
from traceview.recording import launch

WAITS = "import signal, sys, time; signal.signal(signal.{name}, lambda *rest: sys.exit(9)); {ready}; time.sleep(60)"


def run_of(folder: Path, *command: str) -> launch.Run:
    (folder / "raw").mkdir(exist_ok=True)
    return launch.Run([*command], folder, {"wait": 3}, None, False, True, lambda text: None)


@pytest.fixture(autouse=True)
def no_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another tool has the place behind NVTX, so that nothing is built."""
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/other.so")
    monkeypatch.setattr(launch, "GRACE_S", 0.0)


@pytest.mark.parametrize(("exit_code", "shown"), [(0, 0), (3, 3), (255, 255), (-9, 137), (-15, 143)])
def test_exit_codes_are_those_of_a_shell(exit_code: int, shown: int) -> None:
    assert launch.shell_code(exit_code) == shown


@pytest.mark.parametrize(("name", "code"), [("no-such-program", 127), ("/", 126)])
def test_a_command_that_cannot_be_run(tmp_path: Path, name: str, code: int) -> None:
    with pytest.raises(CommandFailed, match="cannot run") as failed:
        launch.launch(run_of(tmp_path, name))
    assert failed.value.exit_code == code


def test_runs_that_begin_in_one_second_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch.time, "strftime", lambda form: "20260102-030405")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: launch.place(None, ["python", "train.py"]), range(8)))
    first = tmp_path / "traceview-capture-train-20260102-030405"
    assert {*made} == {first, *(first.with_name(f"{first.name}-{number}") for number in range(2, 9))}
    assert launch.place(None, ["python", "train.py"], "tune").name == "traceview-tune-train-20260102-030405"
    (first / "raw").mkdir()
    with pytest.raises(UsageError, match="exists already; choose another name with -o"):
        launch.place(first, ["python", "train.py"])


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(launch, "_stem", lambda command: "absent/train")
    with pytest.raises(UsageError, match=r"cannot write to .*absent/train.*: No such file or directory"):
        launch.place(None, ["python", "train.py"])


def test_a_signal_reaches_the_command_and_not_what_comes_after_it(tmp_path: Path) -> None:
    # The command itself sends the signal to traceview, when it is ready for it.
    ready = "import os; os.kill(os.getppid(), signal.SIGTERM)"
    body = WAITS.format(name="SIGTERM", ready=ready)
    before = signal.getsignal(signal.SIGTERM)
    with launch.stoppable():
        assert launch.launch(run_of(tmp_path, sys.executable, "-S", "-c", body)) == 9
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_that_comes_while_the_command_is_started_reaches_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, sent = subprocess.Popen, tmp_path / "sent"

    def late(words: list[str], **given: Any) -> subprocess.Popen[bytes]:
        """As on a busy machine: the command is far ahead."""
        process = started(words, **given)
        while words[0] == sys.executable and not sent.exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.05)
        return process

    monkeypatch.setattr(launch.subprocess, "Popen", late)
    ready = f"import os; os.kill(os.getppid(), signal.SIGTERM); open({str(sent)!r}, 'w').close()"
    body = WAITS.format(name="SIGTERM", ready=ready)
    assert launch.launch(run_of(tmp_path, sys.executable, "-S", "-c", body)) == 9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("first", [0, 1, 300], ids=["group", "timeout", "many"])
def test_a_signal_to_the_whole_group_comes_once(tmp_path: Path, name: str, first: int) -> None:
    """As from a batch system, or `timeout`, which tells its child first: a second one cut short what handles it."""
    body = f"""
import os, signal, sys, time
came = []
signal.signal(signal.{name}, lambda *rest: came.append(1))
for _ in range({first}):
    os.kill(os.getppid(), signal.{name})
os.killpg(0, signal.{name})
time.sleep(2.5)
sys.exit(len(came))
"""
    call = f"""
import pathlib, sys
from traceview.recording import launch
command, folder = [sys.executable, "-S", "-c", {body!r}], pathlib.Path({str(tmp_path)!r})
run = launch.Run(command, folder, {{}}, None, False, True, print)
sys.exit(launch.launch(run))
"""
    assert subprocess.run([sys.executable, "-c", call], start_new_session=True, check=False).returncode == 1


@pytest.mark.parametrize("number", launch.FORWARDED, ids=lambda number: number.name)
def test_signals_where_no_command_runs_are_an_exception(number: signal.Signals) -> None:
    # Under nohup SIGHUP is ignored, and what is ignored stays so.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(launch.Stopped) as stopped, launch.stoppable():
            os.kill(os.getpid(), number)
            signal.pause()
    finally:
        signal.signal(number, before)
    assert stopped.value.number == number


def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with launch.stoppable():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_within_a_run_that_applies_options_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `traceview schedule --apply plan.json -- traceview collect -- COMMAND`."""
    monkeypatch.setenv("TRACEVIEW_MODE", "apply")
    monkeypatch.setenv("TRACEVIEW_PLAN", "plan.json")
    tells = "import os, pathlib; pathlib.Path('told').write_text(str(list(map(os.environ.get, {}))))"
    names = ["TRACEVIEW_MODE", "TRACEVIEW_PLAN", "TRACEVIEW_WAIT"]
    monkeypatch.chdir(tmp_path)
    assert launch.launch(run_of(tmp_path, sys.executable, "-S", "-c", tells.format(names))) == 0
    assert (tmp_path / "told").read_text(encoding="utf-8") == "[None, 'plan.json', '3']"
