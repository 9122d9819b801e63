"""A plan for the convolutions of a model: which shapes there are, what runs them best, and whether the step is faster.

Measuring happens in processes of the user's Python (`convolution/worker.py`).

Invariant: what was measured is on disk before the next layer is measured; where pairs of fresh training processes do
not say that the plan is faster, the default stays, and without them the plan says that nothing proved it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from traceview.convolution.plan import (
    DIRECTIONS,
    INPUT,
    OWN,
    SCHEMA,
    admissible,
    entry,
    plan,
    single_plans,
    under_shared_cap,
)
from traceview.errors import InputError
from traceview.experiments import quiet
from traceview.experiments.algorithms.measuring import refuse_other_processors
from traceview.experiments.results import Journal
from traceview.experiments.schedule import inputs
from traceview.experiments.schedule.job import Answer, Job, work
from traceview.experiments.schedule.outcome import keep
from traceview.experiments.schedule.proof import confirmed, finalists, prove
from traceview.experiments.schedule.rows import TABLE, Given, is_done, key, rows_of, slots_of


def schedule(job: Job, journal: Journal) -> Answer:
    """Measure what is not measured yet, plan, confirm and prove."""
    job, given = _given(job)
    if given.keys == inputs.MODULE:
        journal.describe(graph={"layers": given.layers, "edges": given.edges})
    if not given.is_measured:
        given.rows.extend(_measured(job, given, journal))
    elif not journal.rows(TABLE):
        # The folder can be planned again, and read, without the one that it is from.
        journal.add_all({TABLE: given.rows})
    answer = planned(job, given)
    if inputs.is_factory(job.model):
        confirmed(job, answer, journal)
    keep(answer, journal)
    if answer.plan["layers"] and job.pairs and (job.command or inputs.is_factory(job.model)):
        prove(job, answer, journal)
        keep(answer, journal)
    return answer


def _given(job: Job) -> tuple[Job, Given]:
    """The layers, and the job with what they decide."""
    if inputs.is_factory(job.model):
        seen = work(job, job.task("shapes"))
        layers = seen["layers"]
        if seen["left_out"]:
            left_out = "1 convolution" if seen["left_out"] == 1 else f"{seen['left_out']} convolutions"
            job.say(
                f"{left_out} left out: not of an nn.Conv2d, of another shape than its first, not float32 on a CPU, "
                "padded otherwise, or no images"
            )
        if not layers:
            raise InputError(f"{job.model} ran no torch.nn.Conv2d that can be measured.")
        about = {name: seen[name] for name in ("torch", "cpu", "threads")}
        edges = [(source, target) for source, target in seen["edges"]]
        return job, Given(layers, edges, about, inputs.MODULE, "as the model ran them")
    path = Path(job.model)
    if not path.exists():
        raise InputError(f"there is no {job.model}; name FILE.py:FACTORY, a capture, or a folder of a study.")
    if inputs.is_study(path):
        given = inputs.of_study(path, job.batch, job.threads, job.network, job.directions, job.say)
        return replace(job, threads=given.about["threads"]), given
    return job, inputs.of_capture(path, job.batch, job.n_threads, job.say)


def _measured(job: Job, given: Given, journal: Journal) -> list[dict[str, Any]]:
    """The rows of every layer; those that the journal holds are not measured again."""
    refuse_other_processors(journal)
    here = [row for row in journal.rows(TABLE) if row.get("threads") == job.n_threads]
    by_shape: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in here:
        by_shape.setdefault(key(row), []).append(row)
    kinds: dict[tuple[Any, ...], dict[str, Any]] = {}
    for layer in given.layers:
        # Of layers of one shape the one that needs the most.
        earlier = kinds.get(key(layer["shape"]))
        kinds[key(layer["shape"])] = layer if earlier is None or layer["dgrad"] > earlier["dgrad"] else earlier
    lacking = [layer for shape, layer in kinds.items() if not is_done(layer, by_shape.get(shape, ()))]
    known = f", {len(kinds) - len(lacking)} of them measured already" if len(lacking) < len(kinds) else ""
    n_calls = sum((layer.get("calls") or {}).get("fprop", 1) for layer in given.layers)
    job.say(
        f"{n_calls} convolutions of {len(kinds)} shapes{known}; measuring on {job.n_threads} "
        f"thread{'s' * (job.n_threads > 1)}"
    )
    about: dict[str, Any] = dict(given.about)
    done, since, cpu_s = len(kinds) - len(lacking), quiet.now(), 0.0

    def told(line: dict[str, Any]) -> None:
        nonlocal done, since, cpu_s
        share = quiet.beside(since, line["cpu_s"] - cpu_s)
        since, cpu_s = quiet.now(), line["cpu_s"]
        if "measured" not in line:
            about.update(line["environment"])
            return
        layer = lacking[line["measured"]]
        rows = rows_of(layer, line["rows"], line["change"], about, Path(job.model).name)
        journal.add_all({TABLE: [{**row, "others_pct": share} for row in rows]})
        done += 1
        job.say(f"[{done}/{len(kinds)}] {layer['module']} is measured")

    if lacking:
        work(job, job.task("candidates", layers=lacking), told)
    shapes = {key(layer["shape"]) for layer in given.layers}
    return [row for row in journal.rows(TABLE) if row.get("threads") == job.n_threads and key(row) in shapes]


def planned(job: Job, given: Given) -> Answer:
    """The plan under the caps."""
    every, reasons = slots_of(given.layers, given.rows)
    layers = [layer for layer, slot in zip(given.layers, every, strict=True) if slot.options]
    slots = [slot for slot in every if slot.options]
    if len(slots) < len(every):
        names = ", ".join(slot.module for slot in every if not slot.options)[:200]
        job.say(
            f"{len(every) - len(slots)} layers without times of PyTorch's own on plain NCHW stay as they are: {names}"
        )
    if not slots:
        raise InputError(f"{job.model} holds no times of PyTorch's own, which a plan is compared with.")
    cap = None if job.is_shared else job.cap_bytes
    usable = [replace(slot, options=admissible(slot.options, job.numerics, cap)) for slot in slots]
    if job.is_shared and job.cap_bytes is not None:
        usable = under_shared_cap(usable, job.cap_bytes)
    edges = list(given.edges)
    fed = {target for _, target in edges}
    edges += [(INPUT, slot.module) for slot in slots if slot.module not in fed]
    choices, total = plan(usable, edges)
    own = [replace(slot, options=tuple(it for it in slot.options if it.backend == OWN)) for slot in slots]
    modelled = {"the plan": total, "PyTorch's own, best layouts": plan(own, edges)[1], **single_plans(slots, edges)}
    document = {
        "traceview_plan": SCHEMA,
        "model": job.model,
        "numerics": job.numerics,
        "memory_bytes": job.cap_bytes,
        "own_workspaces": job.is_shared,
        **{name: given.about.get(name) for name in ("torch", "cpu", "threads")},
        "device": "cpu",
        "keys": given.keys,
        "order": given.order,
        "convolutions_ns": modelled,
        "layers": [
            {
                "module": layer["module"],
                "shape": layer["shape"],
                "layout": chosen.layout,
                **{direction: entry(chosen.passes.get(direction)) for direction in DIRECTIONS},
            }
            for layer, chosen in zip(layers, choices, strict=True)
            if layer["shape"]["dtype"] == "float32"
        ],
    }
    second = dict(finalists(usable, choices))
    shapes = [layer["shape"] for layer in layers]
    return Answer(document, list(slots), choices, shapes, reasons, modelled, edges=edges, second=second)
