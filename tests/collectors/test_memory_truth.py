"""Programs whose memory is known to the byte: what is there before, what is kept, what leaks at which line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from asked import ONE
from given import pick, section

from traceview import store

PROGRAM = """
import sys
import torch
from torch.utils.checkpoint import checkpoint

LEAKED = []

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block() for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if "checkpoint" in sys.argv else block(x)
        return x

net = Net()
optimizer = torch.optim.Adam(net.parameters())
for step in range(7):
    x = torch.randn(2048, 256)
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
    LEAKED.append(torch.zeros(777))
"""
LEAK = PROGRAM.splitlines().index("    LEAKED.append(torch.zeros(777))") + 1
PARAMETERS = 4 * (2 * 256 * 1024 + 1024 + 256) * 4
TANH = 2048 * 1024 * 4


@contextmanager
def recorded(folder: Path, *arguments: str) -> Iterator[Any]:
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM)
    options = ["--allocations", "--stacks", "-o", str(folder / "capture")]
    command = [sys.executable, "-m", "traceview", "collect", *options, "--", sys.executable, str(program), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    with store.open_capture(folder / "capture", ONE) as connection:
        yield connection


@pytest.mark.long
def test_known_programs(tmp_path: Path) -> None:
    with recorded(tmp_path / "plain") as capture:
        query = "SELECT kind, sum(size_bytes) FROM allocations WHERE how = 'noted' GROUP BY kind"
        # Adam keeps two numbers for each, and the count of steps of each of 16 tensors.
        expected = {"parameter": PARAMETERS, "optimizer_state": 2 * PARAMETERS + 16 * 4}
        assert dict(capture.execute(query).fetchall()) == expected
        query = """SELECT count(*), sum(size_bytes) FROM allocations
            WHERE op_name = 'aten::tanh' AND kind = 'activation' GROUP BY step"""
        kept = capture.execute(query).fetchall()
        assert kept == [(4, 4 * TANH)] * len(kept) and len(kept) >= 3
        growth = section(capture, "memory/growth")
        assert pick(growth, "op", "step_bytes") == [("aten::zeros", 777 * 4.0)]
        assert growth[0]["line"].endswith(f"program.py:{LEAK}")
        (bound,) = [row for row in section(capture, "memory/what_if") if "Block (4 of them)" in row["change"]]
        (peak,) = pick(section(capture, "memory/moment"), "peak_bytes")
    with recorded(tmp_path / "again", "checkpoint") as capture:
        query = "SELECT DISTINCT kind FROM allocations WHERE op_name = 'aten::tanh' AND phase = 'forward'"
        assert capture.execute(query).fetchall() == [("temporary",)]
        (less,) = pick(section(capture, "memory/moment"), "peak_bytes")
    assert 0 < peak[0] - less[0] <= bound["saved_bytes"]
