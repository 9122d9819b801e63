"""The sample scripts train, with their options and the parameters they are known for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

SAMPLES = Path(__file__).parents[2] / "samples" / "training"


@pytest.mark.parametrize(("name", "count", "layout"), [("alexnet", 62_378_344, "nhwc"), ("lenet", 431_080, "nchw")])
def test_sample(name, count, layout):
    words = ["--batch", "2", "--steps", "2", "--device", "cpu", "--layout", layout, "--threads", "1"]
    done = subprocess.run(
        [sys.executable, SAMPLES / f"{name}_torch.py", *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{name}: {count} parameters, batch 2, cpu, {layout}"
    assert lines[1].startswith("step 2: loss ")
