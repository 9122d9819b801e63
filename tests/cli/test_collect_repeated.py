"""`traceview collect --every` and `--on-signal`: a capture each time, of the steps that it is named after."""

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
from asked import ask

from traceview import cli

ROOT = Path(__file__).parents[2]
TRAINING = """
import sys, time, torch
from pathlib import Path
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step():
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
"""


def started(folder: Path, body: str, *words: str, launcher: Sequence[str] = ()) -> subprocess.Popen[str]:
    """`traceview collect -o out WORDS`, wait 2, warm-up 1, steps 2, around a program."""
    pytest.importorskip("torch")
    (folder / "train.py").write_text(TRAINING + body)
    options = ["-o", "out", "--wait", "2", "--warmup", "1", "--steps", "2", *words]
    command = [sys.executable, "-m", "traceview", "collect", *options, "--", sys.executable, *launcher, "train.py"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def recorded(capture: Path) -> list[str]:
    """The names of the recorded steps."""
    query = "SELECT name FROM ranges WHERE name LIKE 'ProfilerStep#%' ORDER BY start_ns"
    return [name for (name,) in ask(capture, query)]


@pytest.mark.slow
def test_every_ten_steps_a_capture_and_the_newest_stay(tmp_path, capsys):
    run = started(tmp_path, "for _ in range(40): step()\nprint('trained'); sys.exit(3)", "--every", "10", "--keep", "2")
    out, errors = run.communicate(timeout=600)
    assert (out, run.returncode) == ("trained\n", 3), errors
    assert errors.count("recorded 2 steps") == 4, errors
    captures = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in captures] == ["step-000023", "step-000033"]
    assert [recorded(path) for path in captures] == [[f"ProfilerStep#{n + i}" for i in (0, 1)] for n in (23, 33)]
    # Of the bare steps around each recording, not those that another recorded: 26 to 31 lie before, 36 to 39 after.
    cost = json.loads((captures[1] / "capture.json").read_text())["cost"]
    assert (cost["bare_steps"], cost["profiled_steps"]) == (6 + 4, 2)
    assert cli.main(["report", str(tmp_path / "out")]) == 3
    said = "holds captures of several runs or times (step-000023, step-000033); name one, or compare them."
    assert said in capsys.readouterr().err


@pytest.mark.long
def test_a_signal_asks_for_a_capture(tmp_path):
    body = """
def recordings():
    return len(list(Path("out").glob("step-*/raw/rank-0000.kineto.json")))
end = time.time() + 300
while recordings() < 2 and time.time() < end:
    step(); time.sleep(0.01)
for _ in range(40): step()
"""
    run = started(tmp_path, body, "--on-signal")
    first = tmp_path / "out/step-000003/capture.json"
    end = time.monotonic() + 300
    while not first.exists() and time.monotonic() < end and run.poll() is None:
        time.sleep(0.1)
    run.send_signal(signal.SIGUSR1)
    _, errors = run.communicate(timeout=600)
    assert run.returncode == 0 and f"kill -USR1 {run.pid} records 2 steps" in errors, errors
    before, after = sorted((tmp_path / "out").iterdir())
    assert before.name == "step-000003" and int(after.name.removeprefix("step-")) > 3
    assert recorded(after) == [f"ProfilerStep#{int(after.name.removeprefix('step-')) + i}" for i in (0, 1)]


@pytest.mark.long
def test_a_signal_records_every_rank_of_a_job(tmp_path):
    body = """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
end = time.time() + 300
def recordings():
    # Ranks go on together.
    mine = len(list(Path("out").glob("step-*/raw/rank-*.kineto.json"))) if time.time() < end else 4
    least = torch.tensor([mine])
    dist.all_reduce(least, dist.ReduceOp.MIN)
    return least.item()
while recordings() < 4:
    step(); time.sleep(0.01)
for _ in range(40): step()
dist.destroy_process_group()
"""
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2"]
    run = started(tmp_path, body, "--on-signal", "--keep", "5", launcher=launcher)
    end = time.time() + 300
    while len(list((tmp_path / "out").glob("step-000003/raw/rank-*.meta.json"))) < 2 and time.time() < end:
        time.sleep(0.1)
    run.send_signal(signal.SIGUSR1)
    _, errors = run.communicate(timeout=600)
    assert run.returncode == 0 and errors.count("recorded 2 steps of 2 processes") == 2, errors
    for path in (tmp_path / "out").glob("step-*"):
        ranks = json.loads((path / "capture.json").read_text())["ranks"]
        assert [(each["rank"], each["steps"]["recorded"]) for each in ranks] == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--every", "10", "--tool", "nsys"], "--every and --on-signal cannot be combined with --tool or --stop-after"),
        (["--on-signal", "--stop-after"], "--every and --on-signal cannot be combined with --tool or --stop-after"),
        (["--keep", "3"], "--keep needs --every or --on-signal; without them there is one capture."),
    ],
)
def test_what_does_not_go_together_is_said(capsys, words, said):
    assert cli.main(["collect", *words, "--", "true"]) == 2
    assert said in capsys.readouterr().err
