"""Whether a plan makes whole training steps faster: rounds of fresh processes, one with it and two without it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from traceview.errors import InputError
from traceview.experiments import command, pairs
from traceview.experiments.pairs import AGAIN, BASE, WITH, Pair, Runner, Side
from traceview.experiments.results import Journal
from traceview.experiments.schedule.confirm import remodel
from traceview.experiments.schedule.job import NOT_PROVED, Answer, Job, environment, with_plan
from traceview.experiments.verdict import NOISY, SAME, SLOWER, UNDECIDED
from traceview.experiments.worker import PROGRAM
from traceview.paths import temporary_folder

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
        why = "a change of nothing made a difference" if proof.verdict == NOISY else busy
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
        command.check_end(timed.exit_code)
        if timed.step_ns is None:
            raise InputError(f"a run gave no times: {timed.reason}.")
        return timed

    runner = Runner(journal, measure, seed)
    sides = [Side(BASE, name, ()), Side(WITH, name, (PLAN,)), Side(AGAIN, name, ())]
    found = [runner.round(PROOF, number, sides) for number in range(1, n + 1)]
    return [Pair(base, row) for base, row, _ in found], [Pair(again, row) for _, row, again in found]
