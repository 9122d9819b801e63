"""What `traceview schedule` was asked for, what came of it, and the processes that measure (`schedule_worker.py`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.experiments.plan import DIRECTIONS, Choice, Slot
from traceview.experiments.verdict import Judged
from traceview.paths import temporary_folder

WORKER = Path(__file__).with_name("schedule_worker.py")
BATCH = 16
NOT_PROVED = "not proved end to end"
SAID = b'{"schedule": '
"""Begins the lines in which the worker says what it has measured."""
MALLOC = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0"}
"""Both sides of a proof keep freed memory: what is compared are convolutions, not page faults."""


@dataclass(frozen=True)
class Job:
    """What is asked for."""

    model: str
    """FILE.py:factory, a capture, or a folder of what was measured before."""
    batch: int | None
    image: tuple[int, int, int]
    threads: int | None
    numerics: str
    cap_bytes: int | None
    is_shared: bool
    pairs: int
    python: str
    say: Callable[[str], None]
    command: tuple[str, ...] = ()
    """What the plan is proved on; without it a plain training loop where there is a model."""
    network: str | None = None
    directions: tuple[str, ...] = DIRECTIONS

    @property
    def n_threads(self) -> int:
        """Threads that compute."""
        return self.threads or 1

    def task(self, kind: str, **more: Any) -> dict[str, Any]:
        """A task of the worker."""
        known = {"model": self.model, "batch": self.batch or BATCH, "image": self.image, "threads": self.n_threads}
        return {"kind": kind, **known, **more}


@dataclass
class Answer:
    """A plan, and what speaks for it."""

    plan: dict[str, Any]
    slots: list[Slot]
    choices: list[Choice]
    shapes: list[dict[str, Any]]
    reasons: dict[tuple[str, str], str]
    modelled_ns: dict[str, int]
    in_step: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """Of each pass that the plan changes: its time within a training step, and that of PyTorch's own there."""
    dropped: set[tuple[str, str]] = field(default_factory=set)
    proof: Judged | None = None
    verdict: str = NOT_PROVED
    noisy_pairs: int = 0


def work(job: Job, task: Mapping[str, Any], told: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    """What the worker answers; `told` is called with each line of JSON that it says meanwhile.

    Raises `InputError` with the last line of its errors.
    """
    with temporary_folder("traceview-schedule-") as place, tempfile.TemporaryFile() as errors:
        asked, answer = place / "task.json", place / "answer.json"
        asked.write_text(json.dumps(task), encoding="utf-8")
        words = [job.python, str(WORKER), str(asked), str(answer)]
        try:
            worker = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, env=environment(job))
        except OSError as error:
            raise UsageError(f"cannot run {job.python}: {error.strerror}.") from error
        try:
            for line in _lines(worker):
                if told:
                    told(line)
            code = worker.wait()
        finally:
            worker.kill()
            worker.wait()
        if code or not answer.exists():
            errors.seek(0)
            said = errors.read()[-20_000:].decode(errors="replace").splitlines()
            lines = [line.strip() for line in said if line.strip()]
            last = lines[-1][:300] if lines else f"exit code {code}"
            raise InputError(f"{job.model}: {last}")
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def _lines(worker: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What the worker says of itself; what else is printed there is not ours."""
    assert worker.stdout
    for line in worker.stdout:
        # What begins so and is no JSON was printed by somebody else.
        with suppress(ValueError, RecursionError):
            if line.startswith(SAID):
                yield json.loads(line)


def environment(job: Job) -> dict[str, str]:
    """That of every process, measured or proved."""
    return {**os.environ, "OMP_NUM_THREADS": str(job.n_threads), **MALLOC}


def with_plan(plan_file: Path) -> dict[str, str]:
    """The variables by which a process applies a plan."""
    return {"TRACEVIEW_PLAN": str(plan_file.resolve()), "TRACEVIEW_PLAN_RUNTIME": str(WORKER.parent)}
