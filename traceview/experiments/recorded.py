"""A short recording of a command that an experiment also times: some steps as `traceview collect` records them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from traceview.experiments import command as commands
from traceview.experiments import inside
from traceview.experiments.command import bounded, tail
from traceview.recording import messages
from traceview.recording.harvest import give_up, harvest
from traceview.recording.launch import Run

OPTIONS = {"wait": 3, "warmup": 1, "steps": 4, "light": 0, "stacks": 0, "allocations": 0, "stop_after": 1}


def record(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    log: Path,
    there: Path | None = None,
    most_s: float | None = None,
) -> tuple[int, str | None]:
    """Record into `folder`: the exit code, and why there is no capture; then there is no folder either. The log lies in
    a folder beside it, in the same results; what an earlier recording left there is kept under another name.

    Raises `CommandFailed` where the command cannot be run, and `TraceviewError` where its traces cannot be converted.
    """
    said: list[str] = []
    results = log.parent.parent
    inside.make_new(results, str(folder.relative_to(results)))
    (folder / "raw").mkdir()
    has_capture = False
    try:
        with bounded(log) as output:
            run = Run(
                [*command], folder, OPTIONS, None, False, True, said.append, environment, there, output,
                ends_with_us=True,
            )  # fmt: skip
            started = time.time_ns()
            code, too_long = commands.launched(run, most_s)
        if too_long:
            return code, too_long
        if not code:
            has_capture = harvest(run, started, code)
    finally:
        if not has_capture:
            give_up(folder / "raw")
            shutil.rmtree(folder, ignore_errors=True)
    if has_capture:
        return code, None
    lines = " / ".join(tail(log)) or "it printed nothing"
    return code, "; ".join(said) or f"the command {messages.ending(code)}: {lines}"
