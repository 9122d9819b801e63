"""Every algorithm of every convolution: which layers, passes and batches, measured in the Python of the user.

Invariant: what was measured is on disk before the next group (a pass of a layer with a batch) begins, a back-end that
ends its process costs its own row only, and what is not measured has a reason.
"""

from __future__ import annotations

import contextlib
import math
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from traceview.classify import classify_call, classify_op, classify_primitive
from traceview.errors import UsageError
from traceview.experiments import quiet
from traceview.experiments.algorithms.layers import Layer
from traceview.experiments.results import Journal
from traceview.experiments.worker import Worker

TABLE = "algorithm_times"
SOURCE = "measured on "
BACKENDS = ("torch_default", "onednn", "nnpack", "winograd", "winograd_torch", "torch_gemm", "torch_fft", "cudnn")
"""Modules in `backends/`, in the order of their rows."""
PROPAGATION = {"fprop": "forward", "dgrad": "backward_data", "wgrad": "backward_weights"}
OPERATORS = {"fprop": "aten::convolution", "dgrad": "aten::convolution_backward", "wgrad": "aten::convolution_backward"}
ENVIRONMENT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "4294967296"}
"""Memory that was freed is used again: else page faults of new memory would be counted with each pass."""


@dataclass(frozen=True)
class Group:
    """Group of measurements: one pass of a layer with a batch."""

    layer: Layer
    batch: int
    direction: str

    @property
    def name(self) -> str:
        """How people are told of it."""
        return f"{self.layer.name} {self.direction} batch {self.batch}"

    @property
    def key(self) -> tuple[Any, ...]:
        """Return the key that tells it from others in the rows of a journal."""
        return (*self.layer.facts().values(), self.batch, self.direction)


@dataclass(frozen=True)
class Plan:
    """Measurements to make, and how."""

    groups: tuple[Group, ...]
    python: str
    threads: int
    device: str = "cpu"
    backends: tuple[str, ...] = BACKENDS
    repeats: int = 4
    budget_s: float | None = None


@dataclass
class Progress:
    """How far it is, for who watches."""

    done: int
    total: int
    left_s: float | None
    group: Group
    rows: list[dict[str, Any]] = field(default_factory=list)


def groups_of(
    layers: Sequence[tuple[Layer, int | None]], batches: Sequence[int], directions: Sequence[str]
) -> list[Group]:
    """Every pass of every layer with every batch, batch by batch; a layer that says its own batch keeps it.

    Layers of the same shape are measured once, under the first one's name.
    """
    found: dict[tuple[Any, ...], Group] = {}
    for batch in batches:
        for layer, own in layers:
            for direction in directions:
                group = Group(layer, own or batch, direction)
                found.setdefault(group.key[1:], group)
    return list(found.values())


def measure(plan: Plan, journal: Journal, watch: Callable[[Progress], None]) -> list[Group]:
    """Measure what the journal does not hold yet; returns what the budget left out."""
    if plan.device == "cpu":
        refuse_other_processors(journal)
    seen: dict[tuple[Any, ...], set[str]] = {}
    for row in journal.rows(TABLE):
        if row.get("threads") == plan.threads and (row.get("device") == "cpu") == (plan.device == "cpu"):
            # A group that failed as a whole has no back-end, and is not tried again.
            names = [row["backend"]] if row.get("backend") else map(_label, plan.backends)
            seen.setdefault(_key(row), set()).update(names)
    lacking = [(group, [b for b in plan.backends if _label(b) not in seen.get(group.key, ())]) for group in plan.groups]
    todo = [(group, backends) for group, backends in lacking if backends]
    begin, weight, total = time.monotonic(), 0.0, sum(_weight(group) for group, _ in todo)
    variables = {**ENVIRONMENT, "OMP_NUM_THREADS": str(plan.threads), "PYTHONUNBUFFERED": "1"}
    with Worker(plan.python, variables) as worker:
        session = Session(plan, worker)
        for place, (group, backends) in enumerate(todo):
            spent = time.monotonic() - begin
            if place and plan.budget_s is not None and spent > plan.budget_s:
                return [group for group, _ in todo[place:]]
            rows = session.rows(group, backends)
            journal.add_all({TABLE: rows})
            weight += _weight(group)
            left = (time.monotonic() - begin) * (total - weight) / weight
            watch(Progress(len(plan.groups) - len(todo) + place + 1, len(plan.groups), left, group, rows))
    return []


def refuse_other_processors(journal: Journal) -> None:
    """Raises `UsageError` where a journal holds times of another CPU than this machine's: they would be compared."""
    for row in journal.rows(TABLE):
        source = str(row.get("source")).partition(", with ")[0]
        is_here = row.get("device") == "cpu" and row.get("status") != "published" and source.startswith(SOURCE)
        if is_here and source != SOURCE + processor():
            raise UsageError(f"{journal.folder} was {source}, but this is {processor()}; choose another name with -o.")


def _label(module: str) -> str:
    """Return the name of a back-end in its rows."""
    return {"torch_default": "torch"}.get(module, module)


def _weight(group: Group) -> float:
    """Time grows with the arithmetic, and no group costs nothing."""
    return group.layer.flop(group.batch) + 2e9


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    names = [*Layer("", 1, 1, 1, 1, 1, 1).facts(), "batch", "direction"]
    return tuple(row.get(name) for name in names)


class Session:
    """The worker of a plan, started again when a back-end ends it."""

    def __init__(self, plan: Plan, worker: Worker) -> None:
        self.plan, self.worker = plan, worker
        self.about: dict[str, Any] = {}

    def rows(self, group: Group, backends: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of a group by these back-ends."""
        shape = {name: value for name, value in group.layer.facts().items() if name not in ("layer", "model")}
        task = {"kind": "group", "layer": shape, "batch": group.batch}
        task |= {"direction": group.direction, "backends": list(backends), "repeats": self.plan.repeats}
        task["device"] = self.plan.device
        skip: dict[str, str] = {}
        while True:
            self._open()
            moment, cpu_s = quiet.now(), float(self.about["cpu_s"])
            at_work, found = "", []
            for answer in self.worker.ask({**task, "skip": skip}):
                at_work = answer.get("begin", at_work)
                if "row" in answer:
                    found.append(answer["row"])
                if "done" in answer:
                    share = quiet.beside(moment, answer["cpu_s"] - cpu_s)
                    self.about["cpu_s"] = answer["cpu_s"]
                    return [self._row(group, row, share) for row in found]
            ended = self.worker.close()
            if not at_work or at_work in skip:
                # Its tensors do not fit, or no answer can be had: the other groups may be well.
                return [self._row(group, {"status": "failed", "reason": ended, "algorithm": None}, None)]
            skip[at_work] = ended

    def _row(self, group: Group, told: dict[str, Any], share: float | None) -> dict[str, Any]:
        """A row of the table out of what the worker told."""
        walls, cpus = sorted(told.pop("walls", [])), told.pop("cpus", [])
        preparing, arranging = told.pop("preparing", []), told.pop("arranging", [])
        low, high = interval(len(walls))
        algorithm = told.pop("algorithm") or _algorithm(told, group)
        for name in ("primitives", "operator", "kernels"):
            told.pop(name, None)
        row = {
            **group.layer.facts(),
            "batch": group.batch,
            "direction": group.direction,
            "flop": group.layer.flop(group.batch),
            "device": self.about["device"],
            "threads": self.plan.threads,
            "backend_version": self.about["versions"].get(told.get("backend")),
            "source": SOURCE + processor(),
            "others_pct": share,
            "algorithm": algorithm,
            **told,
        }
        if walls:
            times = {"wall_ns": int(median(walls)), "wall_low_ns": walls[low], "wall_high_ns": walls[high]}
            row |= {**times, "cpu_ns": int(median(cpus)), "n": len(walls)}
            row |= {"prepare_ns": min(preparing, default=None), "layout_ns": _both(arranging)}
        return row

    def _open(self) -> None:
        """Start a worker where there is none, and take what it says of its device and back-ends."""
        if self.worker.is_alive:
            return
        plan = self.plan
        task = {"kind": "open", "threads": plan.threads, "device": plan.device, "backends": list(plan.backends)}
        opened = next(self.worker.ask(task), None)
        if opened is None:
            raise UsageError(f"{plan.python} cannot measure: {self.worker.close()}.")
        self.about = opened


def interval(n: int) -> tuple[int, int]:
    """Places in n ascending times between which the true median lies in at least 95 % of cases; below 6 the ends."""
    place, below = 0, 0.5**n if n else 1.0
    while below + math.comb(n, place + 1) * 0.5**n <= 0.025:
        place += 1
        below += math.comb(n, place) * 0.5**n
    return place, n - 1 - place


def _both(times: Sequence[int]) -> int | None:
    """The operand and the result, or the two operands, which were timed in turns: the least of each."""
    return min(times[::2]) + min(times[1::2]) if len(times) > 1 else None


def of_primitive(name: str, direction: str) -> str | None:
    """The word for what oneDNN calls its implementation of a pass."""
    return classify_primitive("convolution", name, PROPAGATION[direction]).algorithm


def _algorithm(told: dict[str, Any], group: Group) -> str | None:
    """The word for what ran, from the library's name of it."""
    if told.get("backend") == "onednn" or told.get("primitives"):
        return of_primitive((told.get("primitives") or [told["implementation"]])[-1], group.direction)
    if told.get("kernels"):
        verdicts = classify_call(OPERATORS[group.direction], tuple(told["kernels"]))
        return next((verdict.algorithm for verdict in verdicts if verdict.algorithm), None)
    return classify_op(told["operator"]).algorithm if told.get("operator") else None


def processor(file: Path = Path("/proc/cpuinfo")) -> str:
    """The name of this machine's processor."""
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine() or "an unknown processor"
