"""The output of runs: what is kept of it, and which of its lines say why a run failed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from traceview.experiments.output import bounded, tail

PRINTS = """
import os, sys, time
for _ in range(40):
    os.write(1, b"0123456789abcde\\n" * 250_000)
    time.sleep(0.02)
sys.exit("no space for more")
"""


def test_a_command_that_prints_without_end_takes_little_room_while_it_runs(tmp_path: Path) -> None:
    """160 MB are printed; the beginning is dropped while it goes on, the last lines are kept."""
    log, largest = tmp_path / "output" / "run.txt", 0
    with bounded(log) as output, subprocess.Popen([sys.executable, "-c", PRINTS], stdout=output, stderr=output) as run:
        while run.poll() is None:
            largest = max(largest, log.stat().st_blocks * 512)
            time.sleep(0.005)
    assert 4_000_000 < largest < 100_000_000
    kept = log.read_bytes()
    assert len(kept) < 1_000_100
    first, _, rest = kept.partition(b"\n")
    assert first.startswith(b"[more than the first ") and first.endswith(b" bytes are left out]")
    assert int(first.split()[4]) + len(rest) <= 160_000_000 + len("no space for more\n")
    assert tail(log) == ["0123456789abcde", "0123456789abcde", "no space for more"]


def test_a_command_that_removes_the_file_of_its_output_harms_nothing(tmp_path: Path) -> None:
    log = tmp_path / "run.txt"
    with bounded(log):
        log.unlink()
    assert tail(log) == []


TORCHRUN = """[rank0]: Traceback (most recent call last):
[rank0]: RuntimeError: Connection closed by peer
[rank1]:   File "train.py", line 3
[rank1]: ValueError: no such data
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 22729)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_21:16:01
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : 7 (pid: 22730)
  error_file: <N/A>
============================================================
"""


def test_of_several_processes_the_first_that_failed_is_named(tmp_path: Path) -> None:
    """Torchrun's own last lines say nothing of why."""
    (tmp_path / "log.txt").write_text(TORCHRUN)
    expected = ["rank 1 ended first, with exit code 7", "[rank1]: ValueError: no such data"]
    assert tail(tmp_path / "log.txt") == expected
