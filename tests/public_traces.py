"""The public traces beside the project, one path each; none where the folder is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
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
"""What `make test` asks everything: with and without operators, one device and two, marked and found steps."""
EACH = pytest.mark.parametrize(
    "trace",
    [pytest.param(path, id=path.name, marks=() if path.name in SHORT else pytest.mark.long) for path in TRACES],
)
