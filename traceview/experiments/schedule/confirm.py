"""Proof of a plan within training steps: each pass, and then whole steps, all in one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from traceview.convolution.plan import DIRECTIONS, LAYOUTS, OWN, Option, plan
from traceview.experiments.results import Journal
from traceview.experiments.schedule.job import THE_PLAN, Answer, Job, work

GAINS = 0.98
"""Within the training step a pass has to take at most this share of PyTorch's own time to stay in the plan."""


def confirmed(job: Job, answer: Answer, journal: Journal) -> None:
    """Drop passes that are not faster inside a step, then the plan if whole steps are not."""
    layers = answer.plan["layers"]
    if any(layer[direction] for layer in layers for direction in DIRECTIONS):
        _passes(job, answer, journal)
    if any(layer["layout"] != LAYOUTS[0] or any(layer[it] for it in DIRECTIONS) for layer in layers):
        _measure_steps(job, answer)
    remodel(answer)


def remodel(answer: Answer) -> None:
    """Bring the modelled time of the plan in line with what is left of it: an empty plan takes PyTorch's own time."""
    left = {layer["module"]: layer for layer in answer.plan["layers"]}
    slots = []
    for slot, chosen in zip(answer.slots, answer.choices, strict=True):
        layer = left.get(slot.module, {"layout": LAYOUTS[0]})
        options: list[Option] = []
        for direction in slot.directions:
            own = [it for it in slot.options if it.direction == direction and it.backend == OWN]
            same = [it for it in own if it.layout == layer["layout"]] or own
            options += [chosen.passes[direction]] if layer.get(direction) else same
        slots.append(replace(slot, options=tuple(options)))
    answer.modelled_ns[THE_PLAN] = plan(slots, answer.edges)[1]


def _passes(job: Job, answer: Answer, journal: Journal) -> None:
    """Each pass; those that the journal holds are not measured again."""
    named = {
        (layer["module"], direction): layer[direction]["implementation"]
        for layer in answer.plan["layers"]
        for direction in DIRECTIONS
        if layer[direction]
    }
    known: dict[tuple[str, str], tuple[int, int]] = {}
    for row in journal.answered("schedule_layers"):
        times = row.get("in_step_ns"), row.get("own_in_step_ns")
        if all(times) and named.get((row["layer"], row["direction"])) == row.get("implementation"):
            known[row["layer"], row["direction"]] = times  # type: ignore[assignment]
    if set(named) - set(known):
        job.say("comparing the passes of the plan with PyTorch's own within training steps")
        found = work(job, job.task("confirm", plan=answer.plan))
        for line in found["said"]:
            job.say(line)
        known = {(row["module"], row["direction"]): (row["time_ns"], row["own_ns"]) for row in found["rows"]}
    answer.in_step |= known
    for layer in answer.plan["layers"]:
        for direction in DIRECTIONS:
            within = known.get((layer["module"], direction))
            if layer[direction] and within and within[0] > GAINS * within[1]:
                layer[direction] = None
                answer.dropped.add((layer["module"], direction))


def _measure_steps(job: Job, answer: Answer) -> None:
    """The plan, or what of it makes whole training steps faster in one process; else nothing of it."""
    parts = [answer.plan, *_parts(answer.plan)]
    found = work(job, job.task("whole", plans=parts))
    least, best = min((ns, number) for number, ns in enumerate(found["plans_ns"]))
    job.say(f"a training step: {found['none_ns'] / 1e6:.1f} ms, with the plan {least / 1e6:.1f} ms")
    chosen = parts[best]["layers"] if least <= GAINS * found["none_ns"] else []
    used = {(layer["module"], direction) for layer in chosen for direction in DIRECTIONS if layer[direction]}
    for layer in answer.plan["layers"]:
        for direction in DIRECTIONS:
            if layer[direction] and (layer["module"], direction) not in used:
                answer.dropped.add((layer["module"], direction))
    answer.plan["layers"] = chosen


def _parts(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Less than the whole plan: layers with a choice alone, and gradients of filters alone, all else as it was."""
    chosen = [layer for layer in plan["layers"] if any(layer[direction] for direction in DIRECTIONS)]
    filters = [{**layer, "layout": "nchw", "fprop": None, "dgrad": None} for layer in chosen if layer["wgrad"]]
    return [{**plan, "layers": chosen}, {**plan, "layers": filters}]
