"""Runs that verbs compare or keep: measured from traces and captures, or read from a file that holds measured ones."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview.cli.options import opened
from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.compare import Run

BASELINES = Path("traceview-baselines")
"""Folder of the baselines that have a plain name, in the current one."""
BEGINNING = 1 << 16
"""Bytes of a file in which a saved comparison says that it is one."""


def baseline(name: str) -> Path:
    """Return the file of a baseline: a path says where, any other name is one of the current folder's baselines."""
    return Path(name) if "/" in name or name.endswith(".json") else BASELINES / f"{name}.json"


def of_baseline(name: str) -> str:
    """Return the input that a baseline stands for: the kept runs, or else the trace or capture of this name."""
    file = baseline(name)
    return str(file) if file.is_file() and not Path(name).exists() else name


def run(args: argparse.Namespace, path: str, whole: bool) -> Run:
    """Return the facts of one input, of its steps or as a whole.

    Raises `UsageError` where kept runs cannot be measured as asked for, `InputError` where the input cannot be read.
    """
    from traceview.analysis import compare

    steps, nth = getattr(args, "step", None), getattr(args, "nth_step", None)
    data = content(path)
    if data is not None:
        found = compare.restored(data.get("runs") if isinstance(data, dict) else None, path)
        if whole and found.has_steps:
            raise UsageError(f"{path} holds times per step, and another input has no steps to compare them with.")
        chosen = compare.choice(steps, nth)
        if found.has_steps and any(recording.steps != chosen for recording in found.recordings):
            raise UsageError(
                f"{path} is a saved comparison of {found.steps or 'all steps but warm-up'}, the other inputs of "
                f"{chosen or 'all steps but warm-up'}; choose the same steps of all."
            )
        return found
    with opened(args, path) as connection:
        has_steps = compare.has_steps(connection)
        if (steps or nth) and not has_steps:
            raise UsageError(f"{path} has no steps; leave out --step and --nth-step.")
        whole = whole or not has_steps
        return compare.measure(connection, Path(path).name, steps, whole, nth)


def content(path: str) -> Any:
    """Return what a file of measured runs holds, unchecked; None where the file is something else."""
    file = Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        if b'"report": "compare"' not in stream.read(BEGINNING):
            return None
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return []
