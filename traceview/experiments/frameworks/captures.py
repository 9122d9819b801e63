"""One recorded run of each framework and model, and what its layers, categories and libraries take.

Invariant: a recording is whole or not there, and none of its times stands among those of runs without a profiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from traceview import sql, store
from traceview.errors import TraceviewError
from traceview.experiments import recorded
from traceview.experiments.frameworks import comparing
from traceview.experiments.frameworks.comparing import PARTS, TABLE, Plan, Program
from traceview.experiments.frameworks.listed import frameworks as listed
from traceview.experiments.frameworks.listed import models
from traceview.experiments.frameworks.process import Asked
from traceview.experiments.results import Journal
from traceview.paths import content

FOLDER, OUTPUT = "captures", "output"
MODE = "capture"
N_STEPS = sum(recorded.OPTIONS[name] for name in ("wait", "warmup", "steps")) + 4
"""Steps of the program: those of a recording, and more, as some collectors end a step when the next one begins."""
Watch = Callable[[str, str | None], None]


def record(plan: Plan, journal: Journal, watch: Watch, until: float | None = None) -> int:
    """Record what was timed and is not recorded yet, and keep its parts; returns how many the budget left out.

    `watch` is told of each and its trouble; none is begun when the monotonic clock says more than `until`.
    """
    has = {row.get("capture") for row in journal.rows(PARTS)}
    todo = [(name, asked, Path(FOLDER) / f"{asked.model}-{name}") for name, asked in _chosen(plan, journal)]
    todo = [each for each in todo if str(each[2]) not in has]
    for number, (name, asked, place) in enumerate(todo):
        if until is not None and time.monotonic() > until:
            return len(todo) - number
        found = comparing.program(listed()[name], asked.model, plan)
        # It was there when it was timed.
        assert isinstance(found, Program)
        trouble = _recorded(journal.folder.absolute() / place, found, asked)
        facts = {"framework": name, "model": asked.model, "batch": asked.batch, "threads": asked.threads}
        if models()[asked.model].images:
            facts["layout"] = asked.layout
        if trouble is None:
            told = {**facts, "mode": asked.mode, "capture": str(place)}
            rows = [{**told, **part} for part in parts(journal.folder / place)]
            journal.add_all({PARTS: rows})
            trouble = None if rows else "nothing of its steps has a time"
        if trouble is not None:
            failed = {"mode": MODE, "status": "failed", "reason": trouble, "device": asked.device}
            journal.add(TABLE, {**facts, **failed})
        watch(str(place), trouble)
    return 0


def _chosen(plan: Plan, journal: Journal) -> Iterator[tuple[str, Asked]]:
    """Yield each model and framework with the first conditions under which it was timed, training where it trains."""
    timed = {comparing.cell(row) for row in journal.rows(TABLE) if "step_ns" in row}
    for model in plan.models:
        for name in plan.frameworks:
            for group in plan.groups():
                asked = replace(group, mode=listed()[name].modes[-1])
                asked = replace(asked, steps=N_STEPS, discard=0)
                if asked.model == model and comparing.cell(comparing.turn(name, asked)) in timed:
                    yield name, asked
                    break


def _recorded(capture: Path, program: Program, asked: Asked) -> str | None:
    """Record some steps; why there is no capture where there is none."""
    log = capture.parent.parent / OUTPUT / f"{capture.name}.txt"
    try:
        return recorded.record([*program.command, *asked.words()], program.environment, capture, log)[1]
    except (TraceviewError, OSError) as error:
        return str(error)


def parts(capture: Path) -> list[dict[str, Any]]:
    """Rows of the table of parts, without what only the study knows."""
    split, pointwise = (
        sql.load(content("queries") / name) for name in ("experiments/capture_parts.sql", "pointwise/layers.sql")
    )
    steps = sql.load(content("queries") / "step_time.sql")
    with store.open_capture(capture) as connection:
        rows = [dict(zip(split.columns, row, strict=True)) for row in split.run(connection)]
        for row in pointwise.run(connection):
            told = dict(zip(pointwise.columns, row, strict=True))
            rows.append({
                "layer": told["layer"], "category": told["work"], "library": told["library"], "form": told["form"],
                "calls": told["calls"], "busy_ns": told["busy_ns"],
            })  # fmt: skip
        step = next((int(step_ns) for _, _, step_ns in steps.run(connection)), None)
    return [{**row, "step_ns": step} for row in rows if row["layer"] != ALL_LAYERS]


ALL_LAYERS = "(all layers)"
"""The sum of the others, in the report pointwise."""
