"""How `traceview tune` ends where its command does not go well, or somebody ends it: nothing goes on, nothing hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")

TRAIN = """
import os, signal, sys, time
counted = open("runs.txt", "a")
counted.write("x")
counted.close()
number = os.path.getsize("runs.txt")
import torch
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def steps():
    for step in range(200):
        loss = model(torch.randn(8, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield step
"""
# Whoever saves a checkpoint on Ctrl-C ends well.
SAVES = (
    TRAIN
    + """
try:
    for step in steps():
        if number > 1:
            open("waits", "w").close()
            time.sleep(300)
except KeyboardInterrupt:
    sys.exit(0)
"""
)
# What neither ends on a signal nor on its children's.
STAYS = (
    TRAIN
    + """
for number_of_signal in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number_of_signal, signal.SIG_IGN)
import subprocess
for step in steps():
    if number > 1 and step == 0:
        subprocess.Popen(["sleep", "345.679"])
        open("waits", "w").close()
        time.sleep(300)
"""
)
FAILS = (
    TRAIN
    + """
if number > 1:
    sys.exit("no data this time")
for step in steps(): pass
"""
)
LEAVES = (
    TRAIN
    + """
import subprocess
subprocess.Popen(["sleep", "345.678"])
if number > 1:
    print("nothing")
    sys.exit(5)
for step in steps(): pass
"""
)


def start(folder: Path, text: str, words: Sequence[str] = ()) -> subprocess.Popen[str]:
    (folder / "train.py").write_text(text)
    command = [sys.executable, "-m", "traceview", "tune", "-o", "runs", "--try", "malloc_thresholds", "--budget", "2s"]
    return subprocess.Popen(
        [*command, *(words or ["--limit-steps", "3"]), "--", sys.executable, "train.py"],
        cwd=folder, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def group(number: int) -> list[str]:
    """The processes of a group."""
    shown = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    each = [line.split(None, 2) for line in shown.splitlines()]
    return [words[2] for words in each if words[0] == str(number) and not words[1].startswith("Z")]


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_ends_well_on_a_signal_is_not_run_again(tmp_path: Path, number: int, code: int) -> None:
    with start(tmp_path, SAVES) as started:
        until = time.monotonic() + 300
        while started.poll() is None and not (tmp_path / "waits").exists() and time.monotonic() < until:
            time.sleep(0.1)
        (os.killpg if number == signal.SIGINT else os.kill)(started.pid, number)
        _, said = started.communicate(timeout=600)
    assert started.returncode == code, said
    assert (tmp_path / "runs.txt").read_text() == "xx" and not group(started.pid)
    assert "kept so far: the capture of the baseline; go on with -o runs --resume" in said
    shown = subprocess.run(
        [sys.executable, "-m", "traceview", "report", "runs", "tune", "--format", "json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    options = next(part for part in json.loads(shown.stdout)["sections"] if part["name"] == "options")["rows"]
    assert [(row["option"], row["verdict"], row["why"]) for row in options] == [
        (name, "cannot decide", "not all of its runs were made; traceview tune -o RUNS --resume goes on with them")
        for name in ("malloc_thresholds", "nothing (the check)")
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "times"),
    [
        (["--limit-steps", "0"], 2),  # The second Ctrl-C does not wait.
        pytest.param([], 1, marks=pytest.mark.long),
    ],
)
def test_a_command_that_does_not_end_on_a_signal_is_ended(tmp_path: Path, words: list[str], times: int) -> None:
    with start(tmp_path, STAYS, words=words) as started:
        until = time.monotonic() + 60
        while started.poll() is None and not (tmp_path / "waits").exists() and time.monotonic() < until:
            time.sleep(0.1)
        began = time.monotonic()
        for _ in range(times):
            os.killpg(started.pid, signal.SIGINT)
            time.sleep(1.2)
        _, said = started.communicate(timeout=60)
    assert started.returncode == 130, said
    assert time.monotonic() - began < 25 and not group(started.pid)
    assert "go on with -o runs --resume" in said


@pytest.mark.long
@pytest.mark.parametrize(("text", "said", "code"), [(FAILS, "no data this time", 1), (LEAVES, "nothing", 5)])
def test_a_base_that_gives_no_times_ends_it(tmp_path: Path, text: str, said: str, code: int) -> None:
    with start(tmp_path, text) as started:
        _, told = started.communicate(timeout=600)
    assert started.returncode == code
    assert f"gives no times without any option either: the command failed with exit code {code}: {said}" in told
    assert not [words for words in group(started.pid) if "345.678" in words]
    journal = tmp_path / "runs" / "raw" / "rank-0000.experiment.jsonl"
    kept = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert {row["row"]["status"] for row in kept} == {"failed"}
