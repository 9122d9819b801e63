"""One fresh run of a command in which nothing is profiled: how long its steps take, and which numbers come out.

Invariant: the command runs as in `collect`, with the same collectors; only its output goes to a file, as it runs often.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview.errors import TraceviewError, UsageError
from traceview.experiments import leftovers, quiet
from traceview.experiments.output import bounded, tail
from traceview.paths import temporary_folder
from traceview.recording import messages
from traceview.recording.launch import Run, Stopped, launch

LEAST_WAIT_S = 60.0
TOO_LONG = "it was ended after "
ENDED = tuple(-number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
ENDED_BY_SHELL = (128 + signal.SIGINT, 128 + signal.SIGTERM)


@dataclass(frozen=True)
class Limits:
    """Which steps are timed, and whether the command is ended after them."""

    discard: int = 2
    steps: int = 6
    ends: bool = True
    seed: int | None = 1
    most_s: float | None = None
    """A run that takes longer is ended, and whatever a run leaves behind; None: neither."""


@dataclass(frozen=True)
class Timed:
    """What came of a run; without `step_ns` it gave no times, for a `reason`."""

    step_ns: int | None
    step_cpu_ns: int | None
    steps: int
    loss: float | None
    checksum: str | None
    norms: tuple[float, ...]
    others_pct: float | None
    exit_code: int
    reason: str | None
    applied: Mapping[str, str]
    started_unix_ns: int
    total_ns: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the collector says of the process: framework, version, device, threads ..."""
    rank_step_ns: tuple[int, ...] = ()
    """The step of each process that gave times; `step_ns` is the slowest one's."""
    took_too_long: bool = False

    @property
    def is_quiet(self) -> bool:
        """Whether its wall times can be believed."""
        return quiet.is_quiet(self.others_pct)


class Failed(TraceviewError):
    """The command itself failed, without any option; the exit code is its own."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def longest_s(budget_s: float, first_run_s: float = 0.0) -> float:
    """After which a run is ended that would else be waited for without end: the budget, and time to start in."""
    return max(budget_s, LEAST_WAIT_S, 10 * first_run_s)


def run(
    command: Sequence[str], environment: Mapping[str, str], limits: Limits, log: Path, folder: Path | None = None
) -> Timed:
    """Run the command once, in `folder`, with its output in the file `log`.

    Raises `CommandFailed` where it cannot be run at all.
    """
    options = {"wait": limits.discard, "warmup": 0, "steps": limits.steps, "stop_after": int(limits.ends)}
    added = {"TRACEVIEW_MODE": "times", "PYTHONUNBUFFERED": "1"}
    if limits.seed is not None:
        added["TRACEVIEW_SEED"] = str(limits.seed)
    with temporary_folder("traceview-run-") as place:
        (place / "raw").mkdir()
        with bounded(log) as output:
            job = Run(
                [*command], place, options, None, False, False, lambda text: None,
                {**environment, **added}, folder, output, uses_nvtx=False, ends_with_us=True,
            )  # fmt: skip
            begin, started, clock = quiet.now(), time.time_ns(), time.monotonic_ns()
            with leftovers.watched(place, limits.most_s) as watch:
                code = launch(job)
            spent = time.monotonic_ns() - clock
            others = quiet.others_pct(begin, quiet.now())
        ranks = [_read(path) for path in sorted((place / "raw").glob("rank-*.times.json"))]
        facts = _read(place / "raw" / "rank-0000.meta.json")
        notes = [path.read_text(errors="replace") for path in sorted((place / "raw").glob(".process-*"))]
    ranks = [rank for rank in ranks if rank.get("steps")]
    reason = _why(code, bool(ranks), notes, log)
    if watch.has_ended_it:
        reason = f"{TOO_LONG}{limits.most_s or 0:.0f} s, without an end of its own"
    times = [_step_time(rank, rank.get("runs_ahead") is True) for rank in ranks] if not reason else []
    first = ranks[0] if ranks else {}
    return Timed(
        step_ns=max((wall for wall, _ in times), default=None),
        step_cpu_ns=max((cpu for _, cpu in times), default=None),
        steps=len(first.get("steps", ())),
        loss=_number(first.get("loss")),
        checksum=first.get("checksum"),
        norms=tuple(map(float, first.get("norms") or ())),
        others_pct=others,
        exit_code=code,
        reason=reason,
        applied={str(name): str(text) for name, text in dict(first.get("applied") or {}).items()},
        started_unix_ns=started,
        total_ns=spent,
        facts=facts,
        rank_step_ns=tuple(wall for wall, _ in times),
        took_too_long=watch.has_ended_it,
    )


def _step_time(rank: Mapping[str, Any], is_device: bool) -> tuple[int, int]:
    """Wall and processor time of a step: the median, the mean where the program runs ahead of it."""
    walls = [int(step["wall_ns"]) for step in rank["steps"]]
    cpus = [int(step["cpu_ns"]) for step in rank["steps"]]
    wall = rank["total_ns"] / len(walls) if is_device else statistics.median(walls)
    return int(wall), int(statistics.median(cpus))


def _why(code: int, has_times: bool, notes: Sequence[str], log: Path) -> str | None:
    """Why a run does not count; None where it does."""
    if code:
        said = " / ".join(tail(log))
        return f"the command {messages.ending(code)}" + (f": {said}" if said else "")
    if has_times:
        return None
    if any(note.startswith("failed") for note in notes):
        return next(note.partition("\n")[2].strip() for note in notes if note.startswith("failed"))
    counted = [note.split()[1] for note in notes if note.startswith("waiting")]
    if counted:
        return f"it ended after {counted[0]} steps, too few to time any; see --limit-steps"
    return "no step was seen to end in it; `traceview collect` on the same command says more"


def check_end(exit_code: int) -> None:
    """Raise `Stopped` where the command was ended from outside, as by Ctrl-C, which reaches it and not us."""
    if exit_code in ENDED:
        raise Stopped(-exit_code)
    if exit_code in ENDED_BY_SHELL:
        raise Stopped(exit_code - 128)


def _read(path: Path) -> dict[str, Any]:
    """What a process left; nothing where it was ended before it could."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _number(value: object) -> float | None:
    return value if isinstance(value, float) and math.isfinite(value) else None


MOST_COPIED_BYTES = 2_000_000_000
NEVER_COPIED = (".git", ".hg", ".svn", ".venv", "__pycache__")


def copy(folder: Path, target: Path, results: Path) -> None:
    """Copy a working folder without version control, environments and the results."""

    def left_out(at: str, names: list[str]) -> list[str]:
        return [name for name in names if name in NEVER_COPIED or Path(at, name).resolve() == results.resolve()]

    shutil.copytree(folder, target, symlinks=True, ignore=left_out)


def size(folder: Path, results: Path) -> int:
    """Bytes that `copy` would copy."""
    total = 0
    for at, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if name not in NEVER_COPIED and Path(at, name).resolve() != results.resolve()
        ]
        total += sum(Path(at, name).lstat().st_size for name in names)
    return total


def check_size(folder: Path, results: Path) -> None:
    """Raise `UsageError` where copies would take too long and fill the disk."""
    n_bytes = size(folder, results)
    if n_bytes > MOST_COPIED_BYTES:
        raise UsageError(
            f"--copy would copy {n_bytes / 1e9:.1f} GB for each run; run it in a folder that holds the script alone."
        )
