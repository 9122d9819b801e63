"""The same models in every framework, on this machine: which programs in which environments, in turns.

Invariant: what was measured is on disk before the next process begins; a framework that cannot be run costs its own
rows only, and each of them has a reason.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from traceview.experiments import framework_run
from traceview.experiments.algorithms import processor
from traceview.experiments.framework_list import Framework, Model, environments, frameworks, models
from traceview.experiments.framework_run import Asked
from traceview.experiments.results import Journal
from traceview.paths import content

TABLE = "framework_times"
LAYOUTS = ("nchw", "nhwc")
FINAL = ("timed", "differs", "cannot")
"""What is not tried again when a study is gone on with."""
NEXT = ("failed", "cannot", "missing")
"""What is not tried again in the next round."""


@dataclass(frozen=True)
class Plan:
    """What is compared, and how."""

    models: tuple[str, ...]
    frameworks: tuple[str, ...]
    threads: tuple[int, ...]
    batches: tuple[int, ...] = ()
    """None: the model's own."""
    layouts: tuple[str, ...] = LAYOUTS
    device: str = "cpu"
    rounds: int = 3
    budget_s: float | None = None
    steps: int | None = None
    discard: int | None = None
    folder: Path = Path()
    """Where environments lie."""
    pythons: Mapping[str, str] = field(default_factory=dict)
    """By framework or environment, what goes before its environment."""

    def groups(self) -> list[Asked]:
        """What frameworks are compared on; the mode is still open."""
        known = models()
        return [
            Asked(model.name, "", batch, threads, layout, self.device, *self._steps(model))
            for model in (known[name] for name in self.models)
            for batch in self.batches or (model.batch,)
            for threads in self.threads
            for layout in (self.layouts if model.images else LAYOUTS[:1])
        ]

    def _steps(self, model: Model) -> tuple[int, int]:
        discard = model.discard if self.discard is None else self.discard
        return self.steps or model.steps, discard


@dataclass(frozen=True)
class Progress:
    """One process that has ended, for who watches."""

    done: int
    total: int
    left_s: float | None
    framework: str
    asked: Asked
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Program:
    """How to run a framework's program of a model."""

    python: Path
    script: Path
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def command(self) -> list[str]:
        """What runs it, without what is asked of it."""
        return [str(self.python), "-W", "ignore", str(self.script), *self.arguments]


def program(framework: Framework, model: str, plan: Plan) -> Program | str:
    """How to run it; a reason where it cannot be run here."""
    script = framework.script(model)
    if not script.is_file():
        return f"there is no program {script.name}"
    about = environments()[framework.environment]
    place = (plan.folder / about["folder"]).absolute()
    named = plan.pythons.get(framework.name) or plan.pythons.get(framework.environment)
    python = Path(named) if named else place / "bin" / "python"
    if not named and not python.exists():
        if not importlib.util.find_spec(framework.module):
            maker = content("samples") / "environments.py"
            return f"no environment in {place}; make it: {sys.executable} {maker} {plan.folder} {framework.environment}"
        python = Path(sys.executable)
    own = {name: value.format(folder=place) for name, value in about.get("variables", {}).items()}
    return Program(python, script, framework.arguments, {**_clean(), **own})


def _clean() -> dict[str, str]:
    """This process's environment without what would lead another Python astray."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def measure(plan: Plan, journal: Journal, watch: Callable[[Progress], None]) -> int:
    """Run what the journal does not hold yet; returns how many processes the budget left out."""
    told = [row for row in journal.rows(TABLE) if row.get("status") in FINAL]
    has = {_key(row) for row in told}
    never = {_cell(row) for row in told if row["status"] == "cannot"}
    todo = [turn for turn in _turns(plan) if _key(turn) not in has]
    begin, done, total = time.monotonic(), 0, len(todo)
    for place, turn in enumerate(todo):
        if _cell(turn) in never:
            total -= 1
            continue
        if done and plan.budget_s is not None and time.monotonic() - begin > plan.budget_s:
            return sum(_cell(each) not in never for each in todo[place:])
        asked: Asked = turn["asked"]
        row = {**_facts(turn), **_row(turn["framework"], asked, plan)}
        if row["status"] in NEXT:
            never.add(_cell(turn))
        journal.add(TABLE, row)
        done += 1
        left = (time.monotonic() - begin) * (total - done) / done
        watch(Progress(done, total, left, turn["framework"], asked, row))
    return 0


def _turns(plan: Plan) -> Iterator[dict[str, Any]]:
    """Every process: what is compared runs in rounds of all frameworks, each second one in the opposite order."""
    known = frameworks()
    for group in plan.groups():
        for number in range(plan.rounds):
            names = list(plan.frameworks) if number % 2 == 0 else list(reversed(plan.frameworks))
            place = 0
            for name in names:
                for mode in known[name].modes:
                    asked = replace(group, mode=mode)
                    turn = {**asdict(asked), "asked": asked, "framework": name, "round": number + 1, "place": place}
                    yield turn if models()[group.model].images else {**turn, "layout": None}
                    place += 1


def _cell(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a time is of."""
    return tuple(row.get(name) for name in ("framework", "model", "mode", "batch", "threads", "layout", "device"))


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*_cell(row), row.get("round"))


def _facts(turn: Mapping[str, Any]) -> dict[str, Any]:
    names = ("framework", "model", "mode", "batch", "threads", "layout", "device", "round", "place")
    about = frameworks()[turn["framework"]]
    return {**{name: turn[name] for name in names}, "year": about.year, "source": f"measured on {processor()}"}


def _row(name: str, asked: Asked, plan: Plan) -> dict[str, Any]:
    """What comes of one process, or why there is none."""
    found = program(frameworks()[name], asked.model, plan)
    if isinstance(found, str):
        return {"status": "missing", "reason": found}
    return framework_run.run(found.command, found.environment, asked, models()[asked.model])
