"""The public traces beside the project, one path each; none where the folder is absent."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
TRACES = [
    path
    for folder in ("kineto", "nvprof", "nsys", "rocprof", "tf1-timeline", "xplane")
    for path in sorted((SHARED / "traces" / folder).glob("*"))
    if not path.name.startswith("no-kernels")
]
