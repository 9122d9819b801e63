"""Traces to test with: our samples, and the public traces beside the project.

Of the latter there are none where they are absent or `TRACEVIEW_SHARED=` hides them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traceview.readers import READERS

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = sorted(
    path
    for reader in READERS
    for path in (ROOT / "samples" / reader.NAME).glob("*")
    if not path.name.startswith(".") and path.suffix != ".traceview"
)
"""Files, and folders that are one capture of several processes."""
BESIDE = ROOT.parent / "shared"
SHARED = Path(os.environ.get("TRACEVIEW_SHARED", BESIDE) or os.devnull)
TRACES = [
    path
    for folder in ("kineto", "nvprof", "nsys", "rocprof", "tf1-timeline", "xplane")
    for path in sorted((SHARED / "traces" / folder).glob("*"))
    if not path.name.startswith("no-kernels")
]
SHORT = (
    "mi300-resnet18-train.json.gz",
    "gtx980-tf-alexnet-new.txt.gz",
    "h100-2gpu-schema3.25.sqlite.gz",
)
"""Traces for which `make test` runs all: with and without operators, one device and two, marked and found steps."""
EACH = pytest.mark.parametrize(
    "trace",
    [pytest.param(path, id=path.name, marks=() if path.name in SHORT else pytest.mark.long) for path in TRACES],
)
