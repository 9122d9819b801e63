"""Whether a plan makes whole training steps faster: pairs of fresh processes with it and without it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from traceview.errors import InputError
from traceview.experiments import command
from traceview.experiments.pairs import BASE, WITH, Pair, Runner, Side, speedup
from traceview.experiments.results import Journal
from traceview.experiments.schedule.job import NOT_PROVED, Answer, Job, environment, with_plan
from traceview.experiments.verdict import FASTER, verdict
from traceview.experiments.worker import PROGRAM
from traceview.paths import temporary_folder

PLAN, PROOF = "plan", "proof"
"""The option that is on where the plan is applied, and the phase of such runs."""


def prove(job: Job, answer: Answer, journal: Journal) -> None:
    """Fresh processes in pairs; what is not shown to be faster is emptied."""
    what = "runs of the command" if job.command else "training processes"
    job.say(f"{job.pairs} pairs of {what}, with the plan and without it")
    ran: list[object] = list(job.command) if job.command else [job.model, job.batch, job.image]
    digest = hashlib.sha256(json.dumps([answer.plan["layers"], ran, job.n_threads]).encode()).hexdigest()
    with temporary_folder("traceview-schedule-") as place:
        task, path = place / "task.json", place / "plan.json"
        task.write_text(json.dumps(job.task("train", steps=64)), encoding="utf-8")
        path.write_text(json.dumps(answer.plan), encoding="utf-8")
        words = job.command or (job.python, str(PROGRAM), str(task))
        name = f"{PLAN} {digest[:12]}"
        found = pairs(name, words, path, environment(job), job.pairs, place / "log.txt", journal)
    without = next(filter(None, (pair.without_effect(PLAN) for pair in found)), None)
    if without:
        job.say(f"{NOT_PROVED}, as the plan did nothing there: {without}")
        return
    judged = answer.proof = speedup(found)
    answer.noisy_pairs = sum(not pair.is_quiet for pair in found)
    answer.verdict = verdict(judged, judged.p)
    if answer.verdict != FASTER and judged.interval is not None:
        answer.plan["layers"] = []
    low, high = (judged.interval.low, judged.interval.high) if judged.interval else (None, None)
    told = {"verdict": answer.verdict, "pairs": job.pairs, "speedup": judged.speedup, "low": low, "high": high}
    answer.plan["proof"] = told


def pairs(
    name: str,
    words: Sequence[str],
    plan_file: Path,
    variables: Mapping[str, str],
    n: int,
    log: Path,
    journal: Journal,
    limits: command.Limits | None = None,
) -> list[Pair]:
    """Pairs of runs without and with a plan, in turns; those under this name that the journal holds are not made again.

    Raises `InputError` where a run gave no times.
    """

    def measure(options: Sequence[str]) -> command.Timed:
        added = with_plan(plan_file) if options else {}
        timed = command.run(words, {**variables, **added}, limits or command.Limits(), log)
        command.check_end(timed.exit_code)
        if timed.step_ns is None:
            raise InputError(f"a run gave no times: {timed.reason}.")
        return timed

    runner = Runner(journal, measure)
    sides = [Side(BASE, name, ()), Side(WITH, name, (PLAN,))]
    return [Pair(*runner.round(PROOF, number, sides)) for number in range(1, n + 1)]
