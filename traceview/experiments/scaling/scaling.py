"""Runs a training command with more and more processes and larger batches: fresh runs in rounds, and short recordings.

Invariant: a run is on disk before the next one begins, whoever resumes makes none again, and no process of a run goes
on when the run is over.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from traceview import sql, store
from traceview.errors import InputError, TraceviewError, UsageError
from traceview.experiments import command as commands
from traceview.experiments import quiet, recorded
from traceview.experiments.command import Limits, next_log
from traceview.experiments.pairs import new_seed, shuffled
from traceview.experiments.results import Journal
from traceview.experiments.scaling import outcome
from traceview.experiments.scaling.command import Template
from traceview.experiments.scaling.outcome import STRONG, WEAK
from traceview.paths import content
from traceview.tables import BY_NAME

RUNS, EXCHANGES, TIMES = "scaling_runs", "scaling_exchanges", "collective_times"
KIND = "study scaling"
CAPTURES, OUTPUT = "captures", "output"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
TIMED, FAILED, NOISY, RECORDED = "timed", "failed", "noisy", "recorded"
MOST_FAILURES = 2
"""Failures after which a number of ranks and a batch are not run again."""
Row = dict[str, Any]
SETTINGS = {
    "ranks": tuple[int, ...], "batches": tuple[int, ...], "mode": str, "threads": int, "steps": int, "discard": int,
    "device": str | None,
}  # fmt: skip
"""Types of what `Job.settings` notes."""


@dataclass(frozen=True)
class Size:
    """How many processes, and the batch of each, if it is known."""

    ranks: int
    batch: int | None
    mode: str

    @property
    def global_batch(self) -> int | None:
        """Samples of all ranks in a step."""
        return None if self.batch is None else self.batch * self.ranks

    @property
    def name(self) -> str:
        """How people are told of it."""
        ranks = f"{self.ranks} rank{'s' * (self.ranks > 1)}"
        if self.batch is None:
            return ranks
        batch = f"batch {self.batch} per rank" if self.mode == WEAK else f"batch {self.global_batch} of all ranks"
        return f"{ranks}, {batch}"

    def facts(self) -> Row:
        """The columns that say so in every table."""
        return {"mode": self.mode, "ranks": self.ranks, "batch": self.batch, "global_batch": self.global_batch}

    def is_of(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is of this size."""
        return all(row.get(name) == value for name, value in self.facts().items())


@dataclass(frozen=True)
class Job:
    """Command to be scaled, and how."""

    template: Template
    folder: Path
    say: Callable[[str], None]
    ranks: tuple[int, ...] = (1, 2, 4)
    batches: tuple[int, ...] = ()
    """Batches of a rank (weak), or of all ranks together (strong); none: as the command has it."""
    mode: str = WEAK
    rounds: int = 3
    threads: int = 1
    budget_s: float | None = None
    limits: Limits = field(default_factory=lambda: Limits(discard=3, steps=20, seed=None, most_s=600))
    device: str | None = None
    records: bool = True
    seed: int = field(default_factory=new_seed)
    """Seed of the order within rounds."""

    def settings(self) -> Row:
        """Return settings that must be equal when it is resumed, and are taken from there."""
        return {
            "ranks": [*self.ranks], "batches": [*self.batches], "mode": self.mode, "threads": self.threads,
            "steps": self.limits.steps, "discard": self.limits.discard, "device": self.device,
        }  # fmt: skip

    def sizes(self) -> list[Size]:
        """Return the sizes to run, the smallest first. Raises `UsageError` where a batch cannot be divided."""
        if not self.batches:
            return [Size(ranks, None, self.mode) for ranks in self.ranks]
        if self.mode == WEAK:
            return [Size(ranks, batch, WEAK) for batch in self.batches for ranks in self.ranks]
        for batch in self.batches:
            uneven = [ranks for ranks in self.ranks if batch % ranks]
            if uneven:
                raise UsageError(f"a batch of {batch} cannot be divided among {uneven[0]} ranks.")
        return [Size(ranks, batch // ranks, STRONG) for batch in self.batches for ranks in self.ranks]

    def environment(self) -> dict[str, str]:
        """This process's, with the threads of each rank; without GPUs where the device is the CPU."""
        added = dict.fromkeys(THREADS, str(self.threads))
        return {**os.environ, **added, **({"CUDA_VISIBLE_DEVICES": ""} if self.device == "cpu" else {})}


def plan(job: Job, n_left: int) -> str:
    """Describe the runs before they are made."""
    cores = quiet.n_cores()
    n_threads = f"{job.threads} thread{'s' * (job.threads > 1)}"
    most, shared = max(job.ranks), ""
    if job.device != "cuda" and most * job.threads > cores:
        shared = f"; {most} ranks of {n_threads} share {cores} cores, more than there are, if they run on the CPU"
    return (
        f"{n_left} run{'s' * (n_left != 1)} in {job.rounds} round{'s' * (job.rounds > 1)}, "
        f"each of {job.limits.discard + job.limits.steps} steps at most, "
        f"{n_threads} per rank{shared}. Output goes to {job.folder / OUTPUT}."
    )


def measure(job: Job, journal: Journal) -> int:
    """Run what the journal does not hold yet; how many runs are left because the budget is spent."""
    sizes, until = job.sizes(), None if job.budget_s is None else monotonic() + job.budget_s
    left = list(_left(job, journal.rows(RUNS), sizes))
    job.say(plan(job, len(left)))
    spent: list[float] = []
    for done, (number, place, size) in enumerate(left):
        if number > 1 or done == len(left):
            _record_all(job, journal, sizes, until)
        if until is not None and monotonic() >= until:
            return len(left) - done
        failed = sum(row.get("status") == FAILED and size.is_of(row) for row in journal.rows(RUNS))
        if failed >= MOST_FAILURES:
            continue
        began = monotonic()
        row = _run(job, journal, size) | {"round": number, "place": place}
        journal.add(RUNS, row)
        spent.append(monotonic() - began)
        _tell(job, row, size, done + 1, len(left), statistics.mean(spent))
    _record_all(job, journal, sizes, until)
    return 0


def answer(journal: Journal) -> None:
    """Put what it comes to beside what was measured."""
    points = outcome.points(journal.rows(RUNS))
    models = outcome.models(journal.rows(TIMES))
    journal.answer({"scaling_points": [*points, *outcome.published()], "scaling_models": models})


def _left(job: Job, rows: Sequence[Row], sizes: Sequence[Size]) -> Iterator[tuple[int, int, Size]]:
    """Round, place and size of every run that is not made yet, in random order within a round."""
    for number in range(1, job.rounds + 1):
        for place, size in enumerate(shuffled(sizes, f"{job.seed} {number}"), 1):
            if not any(row.get("round") == number and size.is_of(row) for row in rows):
                yield number, place, size


def _run(job: Job, journal: Journal, size: Size) -> Row:
    log = next_log(job.folder / OUTPUT)
    words = job.template.of(size.ranks, size.batch, job.device)
    timed = commands.run(words, job.environment(), job.limits, log)
    found = len(timed.rank_step_ns)
    reason = timed.reason or (f"{found} of {size.ranks} processes gave times of steps" if found != size.ranks else None)
    if not reason and not journal.about.get("framework"):
        facts = {name: timed.facts.get(name) for name in ("framework", "framework_version", "model")}
        journal.describe(**facts)
    return {
        **size.facts(),
        "noted_batch": (timed.facts.get("model") or {}).get("batch"),
        "threads": job.threads,
        "cores": quiet.n_cores(),
        "step_ns": None if reason else timed.step_ns,
        "step_cpu_ns": None if reason else timed.step_cpu_ns,
        "fastest_ns": None if reason else min(timed.rank_step_ns, default=None),
        "steps": timed.steps,
        "device": timed.facts.get("device"),
        "others_pct": timed.others_pct,
        "exit_code": timed.exit_code,
        "status": FAILED if reason else TIMED if timed.is_quiet else NOISY,
        "reason": reason,
        "started_unix_ns": timed.started_unix_ns,
        "total_ns": timed.total_ns,
    }


def _record_all(job: Job, journal: Journal, sizes: Sequence[Size], until: float | None) -> None:
    """Record some steps of every size that gives times and is not recorded yet."""
    if not job.records:
        return
    rows = journal.rows(RUNS)
    for size in sizes:
        has_times = any(row.get("step_ns") and size.is_of(row) for row in rows)
        if not has_times or any(size.is_of(row) for row in journal.rows(EXCHANGES)):
            continue
        if until is not None and monotonic() >= until:
            return
        job.say(f"recording some steps: {size.name}")
        device = next((row["device"] for row in rows if row.get("device")), None)
        journal.add_all(_recorded(job, size, device))


def _recorded(job: Job, size: Size, device: str | None) -> dict[str, list[Row]]:
    """The rows of one recording, or why there is none."""
    name = f"{size.ranks}x{size.batch}" if size.batch else f"{size.ranks}"
    folder, log = job.folder / CAPTURES / name, job.folder / OUTPUT / f"capture-{name}.txt"
    words = job.template.of(size.ranks, size.batch, job.device)
    begin = quiet.now()
    try:
        _, why = recorded.record(words, job.environment(), folder.absolute(), log, most_s=job.limits.most_s)
        found = None if why else exchanged(folder)
    except TraceviewError as error:
        why, found = str(error), None
    if found is None:
        return {EXCHANGES: [{**size.facts(), "status": FAILED, "reason": why}]}
    sent, collectives = found
    others_pct = quiet.others_pct(begin, quiet.now())
    about = {"others_pct": others_pct, "capture": f"{CAPTURES}/{name}", "status": RECORDED}
    columns = {column.name for column in BY_NAME[EXCHANGES].columns}
    sent = {name: value for name, value in sent.items() if name in columns} | size.facts() | about
    shared = {
        "mode": size.mode, "batch": size.batch, "cores": quiet.n_cores(), "threads": job.threads, "nodes": 1,
        "device": device, "others_pct": others_pct, "status": "measured",
    }  # fmt: skip
    return {EXCHANGES: [sent], TIMES: [{**row, **shared} for row in collectives]}


def exchanged(folder: Path) -> tuple[Row, list[Row]]:
    """Return a recording's communication: per step, and by collective. Raises `InputError` if it has no steps."""
    names = ("scaling_exchanges", "scaling_collectives")
    queries = [sql.load(content("queries") / "experiments" / f"{name}.sql") for name in names]
    with store.open_capture(folder) as connection:
        steps, collectives = (
            [dict(zip(query.columns, row, strict=True)) for row in query.run(connection)] for query in queries
        )
    if not steps[0]["slowest_ns"]:
        raise InputError(f"{folder} holds no steps to compare.")
    return steps[0], collectives


def _tell(job: Job, row: Row, size: Size, done: int, total: int, mean_s: float) -> None:
    """One line for each run."""
    said = f"{row['step_ns'] / 1e6:.2f} ms a step" if row.get("step_ns") else f"failed: {row['reason']}"
    busy = f"; other programs took {row['others_pct']:.0f} % of the cores" if row["status"] == NOISY else ""
    left_s = (total - done) * mean_s
    left = f"; about {left_s / 60:.0f} min left" if left_s >= 90 else f"; about {left_s:.0f} s left" if left_s else ""
    job.say(f"[{done}/{total}] round {row['round']}: {size.name}: {said}{busy}{left}")
