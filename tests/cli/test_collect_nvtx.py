"""`traceview collect` around programs that use NVTX: their ranges are in the capture, with and without a framework."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from asked import ask

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not any(map(shutil.which, ("cc", "gcc", "clang"))),
    reason="needs Linux and a C compiler",
)


def collect(folder: Path, body: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program under `traceview collect`, its capture in `folder/capture`."""
    pytest.importorskip("nvtx")
    (folder / "program.py").write_text(body)
    command = [sys.executable, "-m", "traceview", "collect", "-o", "capture", "--", sys.executable, "program.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    return ask(folder / "capture", query)


TORCH = """
import nvtx, os, torch
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1568, 10))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with nvtx.annotate("training"):
    for step in range(10):
        with nvtx.annotate(f"step {step}"):
            with nvtx.annotate("load", domain="data"):
                images = torch.randn(4, 3, 16, 16)
            with nvtx.annotate("forward and backward"):
                model(images).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.long
def test_ranges_of_a_program_lie_in_its_recorded_steps(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = collect(tmp_path, TORCH)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    described = json.loads((tmp_path / "capture" / "capture.json").read_text())
    assert "rank-0000.nvtx.log" in described["ranks"][0]["files"]
    found = rows(
        tmp_path, "SELECT domain, name, count(*), count(step) FROM ranges WHERE kind = 'nvtx' GROUP BY ALL ORDER BY 2"
    )
    assert found == [
        (None, "forward and backward", 4, 4), ("data", "load", 4, 4),
        (None, "step 4", 1, 1), (None, "step 5", 1, 1), (None, "step 6", 1, 1), (None, "step 7", 1, 1),
    ]  # fmt: skip
    assert rows(tmp_path, "SELECT step FROM steps ORDER BY 1") == [(4,), (5,), (6,), (7,)]
    inside = """SELECT count(DISTINCT r.id) FROM ranges r JOIN ops o ON o.name = 'aten::convolution' AND o.tid = r.tid
        AND o.pid = r.pid AND o.start_ns > r.start_ns AND o.start_ns + o.dur_ns < r.start_ns + r.dur_ns
        WHERE r.name = 'forward and backward'"""
    assert rows(tmp_path, inside) == [(4,)]
    report = [sys.executable, "-m", "traceview", "report", "capture", "ranges", "--format", "csv"]
    shown = subprocess.run(
        report, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert "forward and backward" in shown.stdout


@pytest.mark.slow
def test_a_program_without_a_framework_has_steps_by_their_names(tmp_path: Path) -> None:
    body = """
import nvtx, os, signal
for step in range(3):
    with nvtx.annotate(f"iteration {step}"):
        with nvtx.annotate("solve"):
            pass
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = collect(tmp_path, body)
    assert (done.returncode, "was ended by SIGKILL" in done.stderr) == (137, True), done.stderr
    assert "recorded the NVTX ranges of 1 process; no framework was recorded" in done.stderr
    assert rows(tmp_path, "SELECT step FROM steps ORDER BY 1") == [(0,), (1,), (2,)]
    assert rows(tmp_path, "SELECT count(*) FROM ranges WHERE name = 'solve' AND step IS NOT NULL") == [(3,)]


@pytest.mark.long
def test_without_a_compiler_everything_else_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = collect(tmp_path, TORCH, CC="false")
    assert done.returncode == 0
    assert "NVTX ranges are not recorded: false could not build" in done.stderr and "recorded 4 steps" in done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM ranges WHERE kind = 'nvtx'") == [(0,)]


@pytest.mark.long
def test_a_process_beside_the_recorded_one_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    other = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import nvtx; nvtx.mark(1)'], check=True)\n"
    done = collect(tmp_path, other.replace("mark(1)", "mark(message=chr(97))") + TORCH)
    assert done.returncode == 0 and "used NVTX but ran no recorded step: its ranges are left out" in done.stderr
