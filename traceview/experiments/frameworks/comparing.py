"""Study of the same models in every framework, on this machine: which programs in which environments, in random order.

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

from traceview.experiments.algorithms.measuring import processor
from traceview.experiments.frameworks import process
from traceview.experiments.frameworks.listed import (
    MODES,
    Framework,
    Model,
    environments,
    frameworks,
    gone,
    models,
    published,
)
from traceview.experiments.frameworks.process import Asked
from traceview.experiments.pairs import new_seed, shuffled
from traceview.experiments.results import Journal
from traceview.paths import content

TABLE = "framework_times"
PARTS = "framework_parts"
LAYOUTS = ("nchw", "nhwc")
FINAL = ("timed", "differs", "cannot")
"""States that are not tried again when a study is resumed."""
NEXT = ("failed", "cannot", "missing")
"""States that are not tried again in the next round."""


@dataclass(frozen=True)
class Plan:
    """Models and frameworks to compare, and how."""

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
    """Folder of the environments."""
    pythons: Mapping[str, str] = field(default_factory=dict)
    """By framework or environment, what goes before its environment."""
    seed: int = field(default_factory=new_seed)
    """Seed of the order within rounds."""

    def groups(self) -> list[Asked]:
        """Return the conditions to compare frameworks on; the mode is still open."""
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

    command: list[str]
    """Without the arguments of a request."""
    environment: Mapping[str, str]


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
    # Without what would lead another Python astray.
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return Program([str(python), "-W", "ignore", str(script), *framework.arguments], clean | own)


def measure(plan: Plan, journal: Journal, watch: Callable[[Progress], None]) -> int:
    """Run what the journal does not hold yet; returns how many processes the budget left out."""
    told = [row for row in journal.rows(TABLE) if row.get("status") in FINAL]
    has = {_key(row) for row in told}
    never = {cell(row) for row in told if row["status"] == "cannot"}
    todo = [each for each in _turns(plan) if _key(each) not in has]
    begin, done, total = time.monotonic(), 0, len(todo)
    for place, each in enumerate(todo):
        if cell(each) in never:
            total -= 1
            continue
        if done and plan.budget_s is not None and time.monotonic() - begin > plan.budget_s:
            return sum(cell(rest) not in never for rest in todo[place:])
        row = {**_facts(each), **_row(each["framework"], each["asked"], plan)}
        if row["status"] in NEXT:
            never.add(cell(each))
        journal.add(TABLE, row)
        done += 1
        left = (time.monotonic() - begin) * (total - done) / done
        watch(Progress(done, total, left, each["framework"], each["asked"], row))
    return 0


def known(plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Rows by table of what is told and not measured: published times of these models, and what cannot be had."""
    times: list[dict[str, Any]] = [
        {"framework": name, "status": "gone", "reason": reason} for name, reason in gone().items()
    ]
    parts: list[dict[str, Any]] = []
    for source in published():
        origin = {"source": source["name"]}
        for each in source.get("times", ()):
            facts = {"device": source["device"], "status": "published", **origin}
            facts |= {name: each[name] for name in ("model", "batch", "differs", "reason") if name in each}
            for name, pair in each["ms"].items():
                told = {**facts, "framework": name, "version": source["versions"][name]}
                times += [
                    {**told, "mode": mode, "step_ns": round(1e6 * ms)} for mode, ms in zip(MODES, pair, strict=False)
                ]
        for each in source.get("parts", ()):
            facts = {"model": each["model"], "category": each["category"], **origin}
            parts += [
                {**facts, "framework": name, "library": library, "busy_ns": 1e6 * ms}
                for name, (ms, library) in each["ms"].items()
            ]
    return {
        TABLE: [row for row in times if row.get("model") in (None, *plan.models)],
        PARTS: [row for row in parts if row["model"] in plan.models],
    }


def _turns(plan: Plan) -> Iterator[dict[str, Any]]:
    """Every process: what is compared runs in rounds of all frameworks and passes, in random order within a round."""
    every = [(name, mode) for name in plan.frameworks for mode in frameworks()[name].modes]
    for which, group in enumerate(plan.groups()):
        for number in range(1, plan.rounds + 1):
            for place, (name, mode) in enumerate(shuffled(every, f"{plan.seed} {which} {number}")):
                asked = replace(group, mode=mode)
                yield {**turn(name, asked), "asked": asked, "round": number, "place": place}


def turn(name: str, asked: Asked) -> dict[str, Any]:
    """Return the fields of a row for a request; without images there is no layout."""
    return {**asdict(asked), "framework": name, **({} if models()[asked.model].images else {"layout": None})}


def cell(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the conditions of a time."""
    return tuple(row.get(name) for name in ("framework", "model", "mode", "batch", "threads", "layout", "device"))


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*cell(row), row.get("round"))


def _facts(each: Mapping[str, Any]) -> dict[str, Any]:
    names = ("framework", "model", "mode", "batch", "threads", "layout", "device", "round", "place")
    about = frameworks()[each["framework"]]
    return {**{name: each[name] for name in names}, "year": about.year, "source": f"measured on {processor()}"}


def _row(name: str, asked: Asked, plan: Plan) -> dict[str, Any]:
    """Result of one process, or the reason it failed."""
    found = program(frameworks()[name], asked.model, plan)
    if isinstance(found, str):
        return {"status": "missing", "reason": found}
    return process.run(found.command, found.environment, asked, models()[asked.model])
