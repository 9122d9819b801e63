"""Processes of a run are found and ended, also in sessions of their own and where they refuse; others are not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import is_running

from traceview.experiments import leftovers
from traceview.experiments.command import Limits, run

pytestmark = pytest.mark.skipif(not leftovers.PROCESSES.is_dir(), reason="no /proc")
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(60)"


def started(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, env={**os.environ, "TRACEVIEW_DIR": str(folder)}, start_new_session=True, stdout=subprocess.PIPE
    )


def test_only_the_processes_of_that_run_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "GRACE_S", 0.3)
    mine, stubborn = started(tmp_path, "sleep", "60"), started(tmp_path, sys.executable, "-c", STUBBORN)
    other = started(tmp_path / "other", "sleep", "60")
    try:
        assert stubborn.stdout and stubborn.stdout.readline() == b"on\n"
        assert leftovers.of(tmp_path) == sorted([mine.pid, stubborn.pid])
        assert leftovers.end(tmp_path) == 2
        assert (mine.wait(60), stubborn.wait(60)) == (-signal.SIGTERM, -signal.SIGKILL)
        assert other.poll() is None and leftovers.end(tmp_path) == 0
    finally:
        for each in (mine, stubborn, other):
            each.kill()
            each.communicate()


def test_a_run_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    script = tmp_path / "hang.py"
    script.write_text(
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    found = run([sys.executable, str(script)], os.environ, Limits(1, 3, most_s=3), tmp_path / "log.txt")
    assert found.took_too_long and found.step_ns is None
    assert found.reason == "it was ended after 3 s, without an end of its own"
    child = int((tmp_path / "log.txt").read_text().split()[0])
    assert not is_running(child)


def test_what_a_run_leaves_behind_is_ended_after_it(tmp_path: Path) -> None:
    script = tmp_path / "leave.py"
    script.write_text(
        "import subprocess\n"
        "print(subprocess.Popen(['sleep', '62'], start_new_session=True).pid, flush=True)\n"
        "raise SystemExit(3)\n"
    )
    found = run([sys.executable, str(script)], os.environ, Limits(1, 3, most_s=60), tmp_path / "log.txt")
    child = int((tmp_path / "log.txt").read_text().split()[0])
    assert found.exit_code == 3 and not found.took_too_long
    assert not is_running(child)
