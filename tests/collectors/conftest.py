"""Runs small programs with and without the collectors, as a user does by hand: two environment variables."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

INJECT = Path(__file__).parents[2] / "collectors" / "inject"

# A model this small is enough to see every hook at work; one thread, so that nothing spins.
PRELUDE = """
import os, sys, time
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)
        self.block = nn.Sequential(nn.ReLU(), nn.Conv2d(8, 8, 3))
        self.fc = nn.Linear(8 * 12 * 12, 10)

    def forward(self, x):
        return self.fc(self.block(self.conv1(x)).flatten(1))


def images():
    return torch.randn(4, 3, 16, 16)


def train(model, optimizer, steps, after=lambda step: None):
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        optimizer.zero_grad()
        criterion(model(images()), torch.zeros(4, dtype=torch.long)).backward()
        optimizer.step()
        after(step)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)
"""


@dataclass(frozen=True)
class Ran:
    """Output and raw traces of a program that has ended."""

    code: int
    stdout: bytes
    stderr: str
    raw: Path

    def names(self, rank: int = 0) -> list[str]:
        """The names of all annotations in a rank's trace, in order of time."""
        spans = [event for event in self.events(rank) if event.get("cat") == "user_annotation"]
        return [str(span["name"]) for span in sorted(spans, key=lambda span: span["ts"])]

    def events(self, rank: int = 0) -> list[dict]:
        """A rank's trace events."""
        path = next(self.raw.glob(f"rank-{rank:04}.kineto.json*"))
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return json.loads(text)["traceEvents"]

    def steps(self, rank: int = 0) -> list[str]:
        """The numbers of the recorded steps."""
        return [name.removeprefix("ProfilerStep#") for name in self.names(rank) if name.startswith("ProfilerStep#")]

    def meta(self, rank: int = 0) -> dict:
        """A rank's facts."""
        return json.loads((self.raw / f"rank-{rank:04}.meta.json").read_text())

    def ranks(self) -> int:
        """How many processes left a trace."""
        return len(list(self.raw.glob("rank-*.kineto.json*")))


def run_program(folder: Path, body: str, is_collected: bool = True, **options: object) -> Ran:
    """Run `body` after the prelude in `folder`; keyword arguments become TRACEVIEW_ options."""
    script = folder / "program.py"
    script.write_text(PRELUDE + body)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONUNBUFFERED", None)  # It changes C's buffering too, and with it the order of C's own prints.
    if is_collected:
        environment |= {"TRACEVIEW_DIR": str(folder / "capture"), "PYTHONPATH": str(INJECT)}
        environment |= {f"TRACEVIEW_{name.upper()}": str(value) for name, value in options.items()}
    done = subprocess.run([sys.executable, script], cwd=folder, env=environment, capture_output=True, timeout=600)
    return Ran(done.returncode, done.stdout, done.stderr.decode(), folder / "capture" / "raw")


@pytest.fixture(scope="session", name="run_program")
def _run_program() -> Callable[..., Ran]:
    """`run_program(folder, body, is_collected=True, **options)`, for fixtures that live longer than a test."""
    return run_program


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Ran]:
    """`program(body, is_collected=True, **options)` runs a program and returns what it left."""
    return lambda body, **options: run_program(tmp_path, body, **options)
