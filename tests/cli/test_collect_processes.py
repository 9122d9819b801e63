"""`traceview collect` around programs of several processes, or of one that becomes another: what each records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from asked import connected

# Programs of their own import it: where nothing here does, no worker has to.
pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable
LENET = ROOT / "samples" / "training" / "lenet_torch.py"
# Trains until a step is done, then becomes `python ARGUMENTS`.
BECOMES = """
import os, sys, torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
LOADS = """
import argparse, os, sys
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Images(Dataset):
    def __init__(self):
        self.scale = torch.nn.Linear(1, 1, bias=False)  # a model of the worker's own, called in each of its steps
        torch.nn.init.constant_(self.scale.weight, 2.0)

    def __len__(self):
        return 40

    def __getitem__(self, index):
        with torch.no_grad():
            size = self.scale(torch.full((1,), float(index)))
        return torch.full((3, 16, 16), size.item() / 80), index % 10, get_worker_info().id


def main():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1568, 10)]
    model = torch.nn.Sequential(*layers)
    optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.1), torch.nn.CrossEntropyLoss()
    loader = DataLoader(Images(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1])
    for images, labels, workers in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.6f}", set(workers.tolist()), flush=True)


if __name__ == "__main__":
    main()
"""


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}


def script(folder: Path, body: str) -> Path:
    path = folder / "program.py"
    path.write_text(body)
    return path


def collect(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """`python WORDS` in `folder` under `traceview collect`."""
    command = [PYTHON, "-m", "traceview", "collect", "-o", "capture", "--", PYTHON, *map(str, words)]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=600)


@pytest.mark.long
def test_the_program_that_a_recorded_one_becomes_is_recorded(tmp_path):
    done = collect(tmp_path, script(tmp_path, BECOMES), 6, LENET, "--steps", "9", "--batch", "4")
    assert done.returncode == 0 and done.stdout.startswith("lenet: 431080 parameters"), done.stderr
    (rank,) = json.loads((tmp_path / "capture" / "capture.json").read_text())["ranks"]
    assert (rank["model"]["name"], rank["steps"]["recorded"], rank["ended_by"]) == ("LeNet", 4, "complete")
    (warning,) = json.loads((tmp_path / "capture" / "capture.json").read_text())["warnings"]
    assert warning == (
        f"process {rank['pid']}: what was recorded before it called exec, to become another program, is left out"
    )
    names = sorted(path.name for path in (tmp_path / "capture" / "raw").iterdir())
    assert names == ["rank-0000.kineto.json", "rank-0000.meta.json", "rank-0000.onednn.log"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "said"),
    [
        pytest.param(2, "ended after 2 steps", marks=pytest.mark.long),
        (6, "called exec, and nothing was recorded of the program that followed"),
    ],
)
def test_a_recorded_program_that_becomes_one_without_a_framework(tmp_path, steps, said):
    done = collect(tmp_path, script(tmp_path, BECOMES), steps, "-c", "print('other')")
    assert (done.returncode, done.stdout) == (0, "other\n")
    assert said in done.stderr and not (tmp_path / "capture").exists()


@pytest.mark.long
def test_a_recording_that_is_over_outlives_the_program(tmp_path):
    done = collect(tmp_path, script(tmp_path, BECOMES), 9, "-c", "print('other')")
    assert (done.returncode, "recorded 4 steps" in done.stderr) == (0, True), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_workers_of_a_loader_are_no_ranks(tmp_path, context):
    path = script(tmp_path, LOADS)
    bare = subprocess.run([PYTHON, path, context], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    done = collect(tmp_path, path, context)
    assert (done.returncode, done.stdout) == (bare.returncode, bare.stdout) == (0, bare.stdout), done.stderr
    assert bare.stderr == "" and len(done.stdout.splitlines()) == 10
    assert done.stderr.startswith("traceview: recorded 4 steps, ")
    described = json.loads((tmp_path / "capture" / "capture.json").read_text())
    assert (len(described["ranks"]), described["world_size"], described["warnings"]) == (1, 1, [])
    assert (described["model"]["name"], described["model"]["batch"]) == ("Sequential", 4)
    connection = connected(tmp_path / "capture")
    assert connection.execute("SELECT step FROM steps ORDER BY 1").fetchall() == [(4,), (5,), (6,), (7,)]
    calls = "SELECT layer, direction, count(*) FROM conv_calls GROUP BY ALL ORDER BY ALL"
    assert connection.execute(calls).fetchall() == [("0", "fprop", 4), ("0", "wgrad", 4)]
    layers = "SELECT DISTINCT layer FROM ops WHERE layer IS NOT NULL ORDER BY 1"
    assert connection.execute(layers).fetchall() == [("0",), ("1",), ("2",), ("3",), ("CrossEntropyLoss",)]
