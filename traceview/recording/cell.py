"""Records PyTorch in this process: a cell of a notebook, or a loop."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traceview.errors import UsageError


class Recording:
    """A recording by PyTorch's profiler: while it lasts `step()` ends a step, and afterwards it is an opened trace."""

    trace: Any = None
    _steps = 0

    def __init__(self, opened: Callable[[Path], Any]) -> None:
        self._opened = opened

    def __enter__(self) -> Recording:
        if "torch" not in sys.modules:
            raise UsageError(
                "record() records PyTorch: import torch first. `traceview collect` records other frameworks."
            )
        profiler = sys.modules["torch"].profiler
        self._profiler = profiler.profile(
            activities=profiler.supported_activities(), record_shapes=True,
            schedule=lambda step: profiler.ProfilerAction.RECORD,
        )  # fmt: skip
        self._profiler.start()
        return self

    def step(self) -> None:
        """End a step; what follows the last one is in none."""
        self._profiler.step()
        self._steps += 1

    def __exit__(self, kind: object, *rest: object) -> None:
        self._profiler.stop()
        if kind is None:
            # It is removed with the recording.
            self._folder = tempfile.TemporaryDirectory(prefix="traceview-record-")
            file = Path(self._folder.name) / "recording.json"
            self._profiler.export_chrome_trace(str(file))
            if self._steps:
                # The profiler begins another step where the last one ends; readers count the steps of that name.
                name, other = f'"ProfilerStep#{self._steps}"', f'"after step {self._steps - 1}"'
                file.write_bytes(file.read_bytes().replace(name.encode(), other.encode()))
            self.trace = self._opened(file)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name != "_repr_html_":
            raise AttributeError(name)
        if self.trace is None:
            raise UsageError("nothing is recorded yet: the `with` block of record() has to end.")
        return getattr(self.trace, name)
