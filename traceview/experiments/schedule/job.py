"""Job and answer of `traceview schedule`, and what the worker that measures says of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traceview.convolution.plan import DIRECTIONS, Choice, Option, Slot
from traceview.errors import InputError
from traceview.experiments.pairs import Proof, new_seed
from traceview.experiments.worker import Worker
from traceview.paths import CONVOLUTION

BATCH = 16
THE_PLAN = "the plan"
"""Name of the plan among those that it is compared with."""
NOT_PROVED = "not proved end to end"
MALLOC = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0"}
"""Both sides of a proof keep freed memory: what is compared are convolutions, not page faults."""


@dataclass(frozen=True)
class Job:
    """Request to `traceview schedule`."""

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
    """Command the plan is proved on; without it a plain training loop where there is a model."""
    network: str | None = None
    directions: tuple[str, ...] = DIRECTIONS
    seed: int = field(default_factory=new_seed)
    """Seed of the order of runs within rounds."""

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
    """Times of each pass that the plan changes: its time within a training step, and that of PyTorch's own there."""
    dropped: set[tuple[str, str]] = field(default_factory=set)
    second: dict[tuple[str, str], Option] = field(default_factory=dict)
    """Options of passes that were nearly as fast by themselves, to be tried within a training step, too."""
    edges: list[tuple[str, str]] = field(default_factory=list)
    """Which layer's result reaches which."""
    proof: Proof | None = None
    verdict: str = NOT_PROVED


def work(job: Job, task: Mapping[str, Any], told: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
    """Return the worker's last answer to a task; `told` is called with each one before.

    Raises `InputError` with the reason where the worker ends before it.
    """
    with Worker(job.python, environment(job)) as worker:
        for answer in worker.ask(task):
            if "done" in answer:
                return answer
            if told:
                told(answer)
        raise InputError(f"{job.model}: {worker.close()}.")


def environment(job: Job) -> dict[str, str]:
    """Return the environment of every process, measured or proved."""
    return {**os.environ, "OMP_NUM_THREADS": str(job.n_threads), **MALLOC}


def with_plan(plan_file: Path) -> dict[str, str]:
    """The variables by which a process applies a plan."""
    return {"TRACEVIEW_PLAN": str(plan_file.resolve()), "TRACEVIEW_PLAN_RUNTIME": str(CONVOLUTION)}
