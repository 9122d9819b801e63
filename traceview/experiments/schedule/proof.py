"""Proof of a plan: each pass and then whole steps, within one process; then rounds of fresh processes, one with the
plan and two without it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from traceview.convolution.plan import DIRECTIONS, LAYOUTS, OWN, Choice, Option, Slot, entry
from traceview.convolution.plan import plan as best
from traceview.errors import InputError
from traceview.experiments import command, pairs
from traceview.experiments.pairs import AGAIN, BASE, WITH, Pair, Runner, Side
from traceview.experiments.results import Journal
from traceview.experiments.schedule.job import NOT_PROVED, THE_PLAN, Answer, Job, environment, with_plan, work
from traceview.experiments.verdict import NOISY, SAME, SLOWER, UNDECIDED
from traceview.experiments.worker import PROGRAM
from traceview.paths import temporary_folder

GAINS = 0.98
"""Within the training step a pass has to take at most this share of PyTorch's own time to stay in the plan (also said
in `queries/schedule/reasons.sql`)."""
CLOSE = 1.25
"""Times of a pass by itself up to which, over the best one, another option is tried within the training step, too: the
least of many times is partly luck, and caches are not those of a step."""
PLAN, PROOF = "plan", "proof"
"""The option that is on where the plan is applied, and the phase of such runs."""


def prove(job: Job, answer: Answer, journal: Journal) -> None:
    """Rounds of fresh processes: a plan without a difference is emptied; where nothing can be told it is kept."""
    what = "runs of the command" if job.command else "training processes"
    job.say(f"{job.pairs} rounds of {what}: one with the plan and two without it")
    ran: list[object] = list(job.command) if job.command else [job.model, job.batch, job.image]
    digest = hashlib.sha256(json.dumps([answer.plan["layers"], ran, job.n_threads]).encode()).hexdigest()
    with temporary_folder("traceview-schedule-") as place:
        task, path = place / "task.json", place / "plan.json"
        task.write_text(json.dumps(job.task("train", steps=64)), encoding="utf-8")
        path.write_text(json.dumps(answer.plan), encoding="utf-8")
        words = job.command or (job.python, str(PROGRAM), str(task))
        name = f"{PLAN} {digest[:12]}"
        found, repeated = rounds(name, words, path, environment(job), job.pairs, place / "log.txt", journal, job.seed)
    without = next(filter(None, (pair.without_effect(PLAN) for pair in found)), None)
    if without:
        job.say(f"{NOT_PROVED}, as the plan did nothing there: {without}")
        return
    proof = answer.proof = pairs.prove(found, repeated, job.n_threads)
    answer.verdict = proof.verdict
    busy = f"other programs took the cores in {proof.noisy_rounds} of {job.pairs} rounds"
    if proof.clock == pairs.PROCESSOR:
        job.say(f"{busy}: processor time decides, as one thread computes")
    elif proof.verdict in (UNDECIDED, NOISY):
        why = "runs without any change differed as much" if proof.verdict == NOISY else busy
        job.say(f"{NOT_PROVED}: {why}; the plan is kept, and says that nothing proved it")
    judged = proof.judged
    if proof.verdict in (SAME, SLOWER):
        answer.plan["layers"] = []
    low, high = (judged.interval.low, judged.interval.high) if judged.interval else (None, None)
    told = {"verdict": proof.verdict, "pairs": judged.n_pairs, "clock": proof.clock}
    answer.plan["proof"] = {**told, "speedup": judged.speedup, "low": low, "high": high}
    remodel(answer)


def rounds(
    name: str,
    words: Sequence[str],
    plan_file: Path,
    variables: Mapping[str, str],
    n: int,
    log: Path,
    journal: Journal,
    seed: int,
    limits: command.Limits | None = None,
) -> tuple[list[Pair], list[Pair]]:
    """Rounds of a run with a plan and two without it, in random order: the pairs with each of the two.

    Those under this name that the journal holds are not made again. Raises `InputError` where a run gave no times.
    """

    def measure(options: Sequence[str]) -> command.Timed:
        added = with_plan(plan_file) if options else {}
        timed = command.run(words, {**variables, **added}, limits or command.Limits(), log)
        if timed.step_ns is None:
            raise InputError(f"a run gave no times: {timed.reason}.")
        return timed

    runner = Runner(journal, measure, seed)
    sides = [Side(BASE, name, ()), Side(WITH, name, (PLAN,)), Side(AGAIN, name, ())]
    found = [runner.round(PROOF, number, sides) for number in range(1, n + 1)]
    return [Pair(base, row) for base, row, _ in found], [Pair(again, row) for _, row, again in found]


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
    answer.modelled_ns[THE_PLAN] = best(slots, answer.edges)[1]


def _passes(job: Job, answer: Answer, journal: Journal) -> None:
    """Each pass; those that the journal holds are not measured again."""
    named = {
        (layer["module"], direction): layer[direction]["implementation"]
        for layer in answer.plan["layers"]
        for direction in DIRECTIONS
        if layer[direction]
    }
    shapes = {slot.module: shape for slot, shape in zip(answer.slots, answer.shapes, strict=True)}
    known: dict[tuple[str, str], tuple[int, int]] = {}
    for row in journal.answered("schedule_layers"):
        times = row.get("in_step_ns"), row.get("own_in_step_ns")
        same = row["layer"] in shapes and shapes[row["layer"]].items() <= row.items()
        if all(times) and same and named.get((row["layer"], row["direction"])) == row.get("implementation"):
            known[row["layer"], row["direction"]] = times  # type: ignore[assignment]
    if set(named) - set(known):
        job.say("comparing the passes of the plan with PyTorch's own within training steps")
        found = work(job, job.task("confirm", plan=answer.plan))
        for line in found["said"]:
            job.say(line)
        known = _times(found)
        _take_seconds(job, answer, known)
    answer.in_step |= known
    for layer in answer.plan["layers"]:
        for direction in DIRECTIONS:
            within = known.get((layer["module"], direction))
            if layer[direction] and within and within[0] > GAINS * within[1]:
                layer[direction] = None
                answer.dropped.add((layer["module"], direction))


def finalists(slots: Sequence[Slot], choices: Sequence[Choice]) -> Iterator[tuple[tuple[str, str], Option]]:
    """The next best option of each pass that a plan changes, in the same layout and not much slower by itself."""
    for slot, chosen in zip(slots, choices, strict=True):
        for direction, first in chosen.passes.items():
            others = [it for it in slot.options if it.direction == direction and it.layout == first.layout]
            others = [it for it in others if it.backend != OWN and it.time_ns <= CLOSE * first.time_ns and it != first]
            if first.backend != OWN and others:
                yield (slot.module, direction), min(others, key=lambda it: it.time_ns)


def _times(found: Mapping[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    return {(row["module"], row["direction"]): (row["time_ns"], row["own_ns"]) for row in found["rows"]}


def _take_seconds(job: Job, answer: Answer, known: dict[tuple[str, str], tuple[int, int]]) -> None:
    """Put the second best option in place of the best by itself, where it is the faster one within the step."""
    if not answer.second:
        return
    job.say(f"comparing {len(answer.second)} second best options within training steps, too")
    named = {it: entry(answer.second[it]) for it in answer.second}
    other = [
        {**layer, **{it: named[layer["module"], it] for it in DIRECTIONS if (layer["module"], it) in named}}
        for layer in answer.plan["layers"]
    ]
    within = _times(work(job, job.task("confirm", plan={**answer.plan, "layers": other})))
    layers = {layer["module"]: layer for layer in answer.plan["layers"]}
    for number, chosen in enumerate(answer.choices):
        better = {
            direction: option
            for (module, direction), option in answer.second.items()
            # Each process by its own measure: times of PyTorch's own differ between two of them.
            if module == chosen.module and _share(within, module, direction) < _share(known, module, direction)
        }
        answer.choices[number] = replace(chosen, passes={**chosen.passes, **better})
        for direction, option in better.items():
            layers[chosen.module][direction] = entry(option)
            known[chosen.module, direction] = within[chosen.module, direction]


def _share(times: Mapping[tuple[str, str], tuple[int, int]], module: str, direction: str) -> float:
    """Return the time of a pass within a step over that of PyTorch's own; infinite where it did not run."""
    taken, own = times.get((module, direction), (1, 0))
    return taken / own if own else math.inf


def _measure_steps(job: Job, answer: Answer) -> None:
    """The plan, or what of it makes whole training steps faster in one process; else nothing of it."""
    parts = [answer.plan, *_parts(answer.plan)]
    found = work(job, job.task("whole", plans=parts))
    least, which = min((ns, number) for number, ns in enumerate(found["plans_ns"]))
    job.say(f"a training step: {found['none_ns'] / 1e6:.1f} ms, with the plan {least / 1e6:.1f} ms")
    chosen = parts[which]["layers"] if least <= GAINS * found["none_ns"] else []
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
