"""A plan for the convolutions of a model: which shapes there are, what runs them best, and whether the step is faster.

All of it happens in processes of the user's Python (`schedule_worker.py`).

Invariant: a plan is kept only where pairs of fresh training processes, with it and without it, say that it is faster;
else the default stays, and that is the answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.experiments import command
from traceview.experiments.plan import (
    DIRECTIONS,
    INPUT,
    LAYOUTS,
    OWN,
    Choice,
    Option,
    Slot,
    admissible,
    plan,
    single_plans,
    under_shared_cap,
)
from traceview.experiments.verdict import FASTER, Judged, judge, verdict
from traceview.paths import temporary_folder

WORKER = Path(__file__).with_name("schedule_worker.py")
SCHEMA = 1
GAINS = 0.98
"""Within the training step a pass has to take at most this share of PyTorch's own time to stay in the plan."""
MALLOC = {"MALLOC_TRIM_THRESHOLD_": "-1", "MALLOC_MMAP_MAX_": "0"}
"""Both sides of a proof keep freed memory: what is compared are convolutions, not page faults."""


@dataclass(frozen=True)
class Job:
    """What is asked for."""

    model: str
    """FILE.py:factory"""
    batch: int
    image: tuple[int, int, int]
    threads: int
    numerics: str
    cap_bytes: int | None
    is_shared: bool
    pairs: int
    python: str
    say: Callable[[str], None]

    def task(self, kind: str, **more: Any) -> dict[str, Any]:
        """A task of the worker."""
        known = {"model": self.model, "batch": self.batch, "image": self.image, "threads": self.threads}
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
    verdict: str = "not measured"
    noisy_pairs: int = 0


def work(job: Job, task: Mapping[str, Any]) -> dict[str, Any]:
    """What the worker answers. Raises `InputError` with the last line that it said."""
    with temporary_folder("traceview-schedule-") as place:
        asked, answer = place / "task.json", place / "answer.json"
        asked.write_text(json.dumps(task), encoding="utf-8")
        words = [job.python, str(WORKER), str(asked), str(answer)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", env=_environment(job))
        except OSError as error:
            raise UsageError(f"cannot run {job.python}: {error.strerror}.") from error
        if done.returncode or not answer.exists():
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            last = lines[-1][:300] if lines else f"exit code {done.returncode}"
            raise InputError(f"{job.model}: {last}")
        found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        return found


def _environment(job: Job) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": str(job.threads), **MALLOC}


def schedule(job: Job) -> Answer:
    """Measure, plan, confirm and prove."""
    seen = work(job, job.task("shapes"))
    layers = _distinct(seen["layers"])
    if not layers:
        raise InputError(f"{job.model} ran no torch.nn.Conv2d.")
    job.say(f"{len(layers)} convolutions; measuring their passes on {job.threads} thread(s)")
    kinds = {json.dumps([layer["shape"], layer["dgrad"]], sort_keys=True): layer for layer in layers}
    measured = work(job, job.task("measure", layers=list(kinds.values())))
    changes = dict(zip(kinds, measured["changes"], strict=True))
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in measured["rows"]:
        rows.setdefault(json.dumps(row["layer"], sort_keys=True), []).append(row)
    slots: list[Slot] = []
    reasons: dict[tuple[str, str], str] = {}
    for layer in layers:
        key = json.dumps([layer["shape"], layer["dgrad"]], sort_keys=True)
        of_layer = [
            row
            for row in rows[json.dumps(layer["shape"], sort_keys=True)]
            if layer["dgrad"] or row["direction"] != "dgrad"
        ]
        slots.append(_slot(layer["module"], of_layer, changes[key]))
        reasons |= {(layer["module"], row["direction"]): row["reason"] for row in of_layer if row.get("reason")}
    answer = planned(job, seen, layers, slots, reasons)
    confirmed(job, answer)
    if job.pairs:
        prove(job, answer)
    return answer


def _distinct(layers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each module once: with its first shape, as a plan is for one batch."""
    return list({layer["module"]: layer for layer in reversed(layers)}.values())[::-1]


def _slot(module: str, rows: Sequence[Mapping[str, Any]], change: Mapping[str, int]) -> Slot:
    names = (
        "direction",
        "backend",
        "implementation",
        "layout",
        "time_ns",
        "workspace_bytes",
        "algorithm",
        "error",
        "own_error",
    )
    options = [Option(**{name: row.get(name) for name in names}) for row in rows if row.get("time_ns")]  # type: ignore[arg-type]
    options = [replace(it, workspace_bytes=it.workspace_bytes or 0) for it in dict.fromkeys(options)]
    return Slot(module, tuple(options), change["x_ns"], change["y_ns"])


def planned(
    job: Job,
    seen: Mapping[str, Any],
    layers: Sequence[dict[str, Any]],
    slots: Sequence[Slot],
    reasons: dict[tuple[str, str], str],
) -> Answer:
    """The plan under the caps."""
    cap = None if job.is_shared else job.cap_bytes
    usable = [replace(slot, options=admissible(slot.options, job.numerics, cap)) for slot in slots]
    if job.is_shared and job.cap_bytes is not None:
        usable = under_shared_cap(usable, job.cap_bytes)
    edges = [(source, target) for source, target in seen["edges"]]
    fed = {target for _, target in edges}
    edges += [(INPUT, slot.module) for slot in slots if slot.module not in fed]
    choices, total = plan(usable, edges)
    own = [replace(slot, options=tuple(it for it in slot.options if it.backend == OWN)) for slot in slots]
    modelled = {"the plan": total, "PyTorch's own, best layouts": plan(own, edges)[1], **single_plans(slots)}
    about = {name: seen[name] for name in ("torch", "cpu", "threads")}
    document = {
        "traceview_plan": SCHEMA,
        "model": job.model,
        "numerics": job.numerics,
        "memory_bytes": job.cap_bytes,
        "own_workspaces": job.is_shared,
        **about,
        "layers": [
            {
                "module": layer["module"],
                "shape": layer["shape"],
                "layout": chosen.layout,
                **{direction: _named(chosen.passes.get(direction)) for direction in DIRECTIONS},
            }
            for layer, chosen in zip(layers, choices, strict=True)
            if layer["shape"]["dtype"] == "float32"
        ],
    }
    return Answer(document, list(slots), choices, [layer["shape"] for layer in layers], reasons, modelled)


def _named(option: Option | None) -> dict[str, str] | None:
    """What a plan says of a pass; None for PyTorch's own."""
    if option is None or option.backend == OWN:
        return None
    return {"backend": option.backend, "implementation": option.implementation}


def confirmed(job: Job, answer: Answer) -> None:
    """Within training steps, in turns: passes that are no faster there leave the plan, and then what of it makes whole
    steps no faster."""
    layers = answer.plan["layers"]
    if any(layer[direction] for layer in layers for direction in DIRECTIONS):
        _passes(job, answer)
    if any(layer["layout"] != LAYOUTS[0] or any(layer[it] for it in DIRECTIONS) for layer in layers):
        _whole(job, answer)


def _passes(job: Job, answer: Answer) -> None:
    found = work(job, job.task("confirm", plan=answer.plan))
    for line in found["said"]:
        job.say(line)
    for row in found["rows"]:
        answer.in_step[row["module"], row["direction"]] = row["time_ns"], row["own_ns"]
    for layer in answer.plan["layers"]:
        for direction in DIRECTIONS:
            times = answer.in_step.get((layer["module"], direction))
            if layer[direction] and times and times[0] > GAINS * times[1]:
                layer[direction] = None
                answer.dropped.add((layer["module"], direction))


def _whole(job: Job, answer: Answer) -> None:
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


def prove(job: Job, answer: Answer) -> None:
    """Fresh processes in ABBA pairs; without a proof the plan is emptied."""
    job.say(f"{job.pairs} pairs of training processes, with the plan and without it")
    with temporary_folder("traceview-schedule-") as place:
        task, path = place / "task.json", place / "plan.json"
        task.write_text(json.dumps(job.task("train", steps=64)), encoding="utf-8")
        path.write_text(json.dumps(answer.plan), encoding="utf-8")
        words = [job.python, str(WORKER), str(task), str(place / "answer.json")]
        times = pairs(words, path, _environment(job), job.pairs, place / "log.txt")
    answer.noisy_pairs = sum(not quiet for *_, quiet in times)
    answer.proof = judge([base for base, *_ in times], [other for _, other, _ in times])
    answer.verdict = verdict(answer.proof, answer.proof.p)
    if answer.verdict != FASTER and answer.proof.interval is not None:
        answer.plan["layers"] = []


def pairs(
    words: Sequence[str],
    plan_file: Path,
    environment: Mapping[str, str],
    n: int,
    log: Path,
    limits: command.Limits | None = None,
) -> list[tuple[float, float, bool]]:
    """Step times without and with a plan, pair by pair in turns, and whether the machine was quiet.

    Raises `InputError` where a run gave no times.
    """
    found = []
    for number in range(n):
        sides: dict[bool, command.Timed] = {}
        for is_planned in (False, True) if number % 2 == 0 else (True, False):
            added = with_plan(plan_file) if is_planned else {}
            timed = command.run(words, {**environment, **added}, limits or command.Limits(), log)
            if timed.step_ns is None:
                raise InputError(f"a run gave no times: {timed.reason}.")
            sides[is_planned] = timed
        base, other = sides[False], sides[True]
        found.append((float(base.step_ns or 0), float(other.step_ns or 0), base.is_quiet and other.is_quiet))
    return found


def with_plan(plan_file: Path) -> dict[str, str]:
    """The variables by which a process applies a plan."""
    return {"TRACEVIEW_PLAN": str(plan_file.resolve()), "TRACEVIEW_PLAN_RUNTIME": str(WORKER.parent)}


def rows(answer: Answer) -> list[dict[str, Any]]:
    """Rows of the table `schedule_layers`."""
    found = []
    proved = {layer["module"]: layer for layer in answer.plan["layers"]}
    for place, (slot, chosen, shape) in enumerate(zip(answer.slots, answer.choices, answer.shapes, strict=True)):
        for direction, option in chosen.passes.items():
            others = sorted((it for it in slot.options if it.direction == direction), key=lambda it: it.time_ns)
            plain = next(it for it in others if it.backend == OWN and it.layout == "nchw")
            second = next((it for it in others if it.family != option.family), None)
            within = answer.in_step.get((slot.module, direction), (None, None))
            is_dropped = (slot.module, direction) in answer.dropped
            status = "own" if option.backend == OWN else "dropped" if is_dropped else "chosen"
            if status == "chosen" and slot.module not in proved:
                status = "not proved"
            found.append(
                {
                    "place": place,
                    "layer": slot.module,
                    "direction": direction,
                    **{name: shape[name] for name in shape if name != "dtype"},
                    "dtype": shape["dtype"],
                    "layout": chosen.layout,
                    "backend": option.backend,
                    "implementation": option.implementation,
                    "algorithm": option.algorithm,
                    "time_ns": option.time_ns,
                    "own_ns": plain.time_ns,
                    "workspace_bytes": option.workspace_bytes,
                    "error": option.error,
                    "own_error": option.own_error,
                    "second": second.family if second else None,
                    "second_ns": second.time_ns if second else None,
                    "in_step_ns": within[0],
                    "own_in_step_ns": within[1],
                    "status": status,
                    "reason": answer.reasons.get((slot.module, direction)),
                }
            )
    return found


def plan_rows(answer: Answer) -> list[dict[str, Any]]:
    """Rows of the table `schedule_plans`."""
    base = answer.modelled_ns["PyTorch's own, nchw"]
    found: list[dict[str, Any]] = []
    for name, time_ns in answer.modelled_ns.items():
        row: dict[str, Any] = {"name": name, "convolutions_ns": time_ns, "modelled_speedup": base / time_ns}
        if name == "the plan" and answer.proof is not None:
            row |= {"speedup": answer.proof.speedup, "pairs": answer.proof.n_pairs, "noisy_pairs": answer.noisy_pairs}
            row["verdict"] = answer.verdict
            if answer.proof.interval is not None:
                row |= {"low": answer.proof.interval.low, "high": answer.proof.interval.high}
        found.append(row)
    return found


def described(job: Job) -> dict[str, Any]:
    """What the capture of results says of itself."""
    facts = {name: value for name, value in asdict(job).items() if name not in ("say", "python")}
    return {
        "kind": "schedule",
        "framework": "torch",
        "command": [Path(sys.argv[0]).name, "schedule", job.model],
        **facts,
    }
