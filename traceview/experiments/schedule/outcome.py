"""Results of `traceview schedule`, as rows of its tables."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from traceview.convolution.plan import LAYOUTS, OWN
from traceview.experiments.results import Journal
from traceview.experiments.schedule.job import THE_PLAN, Answer, Job


def keep(answer: Answer, journal: Journal) -> None:
    """Put the answer so far on disk."""
    journal.answer({"schedule_plans": plan_rows(answer), "schedule_layers": rows(answer)})


def rows(answer: Answer) -> list[dict[str, Any]]:
    """Rows of the table `schedule_layers`."""
    found = []
    proved = {layer["module"]: layer for layer in answer.plan["layers"]}
    for place, (slot, chosen, shape) in enumerate(zip(answer.slots, answer.choices, answer.shapes, strict=True)):
        for direction, option in chosen.passes.items():
            others = sorted((it for it in slot.options if it.direction == direction), key=lambda it: it.time_ns)
            plain = next(it for it in others if it.backend == OWN and it.layout == "nchw")
            within = answer.in_step.get((slot.module, direction), (None, None))
            layout = proved[slot.module]["layout"] if slot.module in proved else LAYOUTS[0]
            if option.backend == OWN:
                # Own against own in another layout is not a gain of a plan that leaves this layer as it is.
                option = next((it for it in others if it.backend == OWN and it.layout == layout), plain)
            second = next((it for it in others if it.family != option.family or it.time_ns < option.time_ns), None)
            is_dropped = (slot.module, direction) in answer.dropped
            status = "own" if option.backend == OWN else "dropped" if is_dropped else "chosen"
            if status == "chosen" and slot.module not in proved:
                status = "not proved"
            found.append(
                {
                    "place": place,
                    "layer": slot.module,
                    "direction": direction,
                    **shape,
                    "layout": layout,
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
        if name == THE_PLAN:
            row["verdict"] = answer.verdict
        if name == THE_PLAN and answer.proof is not None:
            judged = answer.proof.judged
            row |= {"speedup": judged.speedup, "pairs": judged.n_pairs, "clock": answer.proof.clock}
            row["noisy_pairs"] = answer.proof.noisy_rounds
            if judged.interval is not None:
                row |= {"low": judged.interval.low, "high": judged.interval.high}
        found.append(row)
    return found


def described(job: Job) -> dict[str, Any]:
    """Describe the capture of results."""
    return {
        "kind": "schedule",
        "framework": "torch",
        "command": ["traceview", *sys.argv[1:]],
        **{name: value for name, value in asdict(job).items() if name not in ("say", "python", "command")},
    }
