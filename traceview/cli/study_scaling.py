"""Measures how training scales over processes: speed-up, efficiency, exposed communication, by ranks and batch.

The command is run with every number of ranks and every batch, in fresh processes without a profiler, in rounds of
alternating order; a step is that of the slowest rank. Some steps of each are recorded, for the exposed share of
communication. Parameter server, tree and ring are fitted to the times of the collectives.

{ranks} and {batch} (of a rank) stand in the command for what changes, {global_batch} for the batch of all ranks and
{port} for a free port. Without {ranks} the number is put where torchrun and mpirun have theirs. The folder is a
capture: stop with Ctrl-C at any time, and continue with --resume.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli import studies, values
from traceview.cli.output import emit, say
from traceview.errors import InputError, UsageError
from traceview.paths import from_here

if TYPE_CHECKING:
    from traceview.experiments.results import Journal
    from traceview.experiments.scaling.scaling import Job

TITLE = "how training scales over processes and batches"

EXAMPLES = """examples:
  traceview study scaling --ranks 1,2,4 --batch 16,64 -- torchrun --nproc_per_node {ranks} train.py --batch {batch}
  traceview study scaling --ranks 1,2 --global-batch 64 -- torchrun --nproc_per_node 1 train.py --batch {batch}
  traceview study scaling --rounds 6 --budget 20m -o scaling -- mpirun -np 1 python train.py
  traceview study scaling -o scaling --resume --rounds 9       three more rounds
  traceview study scaling --from 1rank/ 2ranks/ 4ranks/    existing recordings
  traceview report scaling scaling                             print the answer again

exit codes: 0 done, also where some runs failed; 3 where no run gave times
"""

MOST_RANKS, MOST_BATCH, MOST_ROUNDS, MOST_STEPS = 512, 1 << 20, 100, 1_000_000
SHOWN = ("verdict", "points", "communication", "breakeven", "models")
"""Sections of the report that are printed at the end."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview study scaling`."""
    ranks, batches = values.counts("ranks", most=MOST_RANKS), values.counts("batches", most=MOST_BATCH)
    rounds, steps = (values.at_least(1, "is not a count; use 1 or more", most) for most in (MOST_ROUNDS, MOST_STEPS))
    parser.add_argument("--ranks", type=ranks, metavar="N,N...", help="numbers of processes (default: 1,2,4)")
    batch = parser.add_mutually_exclusive_group()
    batch.add_argument(
        "--batch", type=batches, metavar="N,N...", help="samples of each rank, whatever their number (weak scaling)"
    )
    batch.add_argument(
        "--global-batch", type=batches, metavar="N,N...", help="samples of all ranks together (strong scaling)"
    )
    parser.add_argument("--rounds", type=rounds, default=3, metavar="N", help="runs of each (default 3; 6 for 95 %%)")
    parser.add_argument("--threads", type=values.count, metavar="N", help="threads of each rank (default 1)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="hide GPUs (cpu); for {device} in the command")
    parser.add_argument("--limit-steps", type=steps, metavar="N", help="time N steps in each run (default 20)")
    parser.add_argument("--discard", type=steps, metavar="N", help="first steps to leave out (default 3)")
    parser.add_argument(
        "--limit-time", type=values.duration, default=600.0, metavar="TIME", help="end a run after this (default 10m)"
    )
    parser.add_argument("--budget", type=values.duration, metavar="TIME", help="start no new run after this time")
    parser.add_argument(
        "--from",
        dest="recordings",
        nargs="+",
        type=Path,
        metavar="INPUT",
        help="run nothing; compare these existing recordings, one by one",
    )
    parser.add_argument(
        "--captures", action=argparse.BooleanOptionalAction, default=True,
        help="record some steps of each, for communication (default: yes)",
    )  # fmt: skip
    studies.add_result_options(parser, settings=", with its settings")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="what to run")


def run(args: argparse.Namespace) -> int:
    """Measure, and print what it comes to."""
    from traceview.experiments import machine
    from traceview.experiments.results import Journal
    from traceview.experiments.scaling import scaling

    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.recordings:
        return _of_captures(args, command)
    job, words = _resumed(args, command) if args.resume else _job(args, command)
    job.sizes()
    about = {"kind": scaling.KIND, "command": words, "settings": job.settings()}
    journal = Journal(job.folder, _noted(job.folder) | about | {"machine": machine.facts()})

    def measured() -> str | None:
        left = scaling.measure(job, journal)
        return f"{left} runs are not made" if left else None

    code = studies.finished(measured, journal, scaling.RUNS, scaling.answer)
    return code or _shown(job, journal)


def _of_captures(args: argparse.Namespace, command: list[str]) -> int:
    """A study of existing recordings."""
    from traceview.experiments import results
    from traceview.experiments.scaling import captures, scaling

    if command or args.resume:
        raise UsageError("--from reads what is there: it takes no command and nothing to resume.")
    batches = args.global_batch or args.batch or [None]
    if len(batches) > 1:
        raise UsageError("with --from, --batch takes one number: the batch of all of these recordings.")
    folder = studies.place(args.output, False, scaling.KIND)
    rows = captures.rows(args.recordings, batches[0], bool(args.global_batch))
    results.write(folder, rows, {"kind": scaling.KIND, "command": ["traceview", "study", "scaling", "--from"]})
    _print(folder.absolute())
    return 0


def _noted(folder: Path) -> dict[str, object]:
    """Return the facts of the framework that an earlier session noted."""
    from traceview.experiments.results import described

    if not (folder / "capture.json").exists():
        return {}
    told = described(folder)
    return {name: told.get(name) for name in ("framework", "framework_version", "model")}


def _job(args: argparse.Namespace, command: list[str]) -> tuple[Job, list[str]]:
    from traceview.experiments.command import Limits
    from traceview.experiments.scaling.command import parse
    from traceview.experiments.scaling.outcome import STRONG, WEAK
    from traceview.experiments.scaling.scaling import KIND, Job

    template = parse(command)
    batches = args.global_batch or args.batch or ()
    if args.global_batch and not template.has_batch:
        raise UsageError("--global-batch needs {batch} in the command: what each rank gets of it.")
    if len(batches) > 1 and not template.has_batch:
        raise UsageError("the command has no {batch}; name the one batch that it has, or write {batch} into it.")
    if not batches and template.has_batch:
        raise UsageError("the command has {batch}; name batches with --batch 16,64 or --global-batch 64.")
    folder = studies.place(args.output, False, KIND)
    limits = Limits(
        3 if args.discard is None else args.discard, args.limit_steps or 20, seed=None, most_s=args.limit_time
    )
    job = Job(
        template, folder.absolute(), say, tuple(sorted(args.ranks or (1, 2, 4))), tuple(sorted(batches)),
        STRONG if args.global_batch else WEAK, args.rounds, args.threads or 1, args.budget, limits, args.device,
        args.captures,
    )  # fmt: skip
    return job, command


def _resumed(args: argparse.Namespace, command: list[str]) -> tuple[Job, list[str]]:
    """The job of an earlier session; ranks and batches that are named add to its own."""
    from traceview.experiments import records, results, trust
    from traceview.experiments.command import Limits
    from traceview.experiments.scaling.command import parse
    from traceview.experiments.scaling.outcome import STRONG, WEAK
    from traceview.experiments.scaling.scaling import KIND, SETTINGS, Job

    told = results.described(studies.place(args.output, True, KIND))
    words = results.command(told, command)
    where = f"{args.output / trust.ABOUT}: settings"
    earlier = records.checked(told.get("settings") or {}, SETTINGS, where, is_whole=True)
    lacking = SETTINGS.keys() - earlier.keys()
    if lacking:
        raise InputError(f"{where}: {min(lacking)} is missing; begin another study.")
    if earlier["mode"] not in (STRONG, WEAK) or earlier["device"] not in (None, "cpu", "cuda"):
        raise InputError(f"{where}: its mode or device is not one that traceview measures; begin another study.")
    trust.allow(args.output, args.trust, say, words)
    fixed = {"threads": args.threads, "steps": args.limit_steps, "discard": args.discard, "device": args.device}
    changed = [name for name, value in fixed.items() if value is not None and value != earlier.get(name)]
    is_strong = earlier.get("mode") == STRONG
    if changed or (args.batch if is_strong else args.global_batch):
        what = changed[0] if changed else "the kind of batch"
        raise UsageError(f"{what} cannot change within a study; begin another one.")
    batches = (args.global_batch if is_strong else args.batch) or ()
    limits = Limits(earlier["discard"], earlier["steps"], seed=None, most_s=args.limit_time)
    job = Job(
        parse(words), args.output.absolute(), say, tuple(sorted({*earlier["ranks"], *(args.ranks or ())})),
        tuple(sorted({*earlier["batches"], *batches})), earlier["mode"], args.rounds, earlier["threads"], args.budget,
        limits, earlier["device"], args.captures,
    )  # fmt: skip
    return job, words


def _shown(job: Job, journal: Journal) -> int:
    """Print the answer; 3 where no run gave times."""
    from traceview.experiments.scaling import scaling

    rows = journal.rows(scaling.RUNS)
    _print(job.folder)
    if any(row.get("step_ns") for row in rows):
        return 0
    say(f"no run gave times; output of the runs is in {from_here(job.folder / scaling.OUTPUT)}")
    return 3


def _print(folder: Path) -> None:
    """The first sections of the report."""
    from dataclasses import replace

    report = studies.answered(folder, "scaling")
    shown = tuple(section for section in report.sections if section.name in SHOWN)
    emit([render.renderer("table").render(replace(report, sections=shown))], None)
    say(f"`traceview report {from_here(folder)} scaling` has all of it.")
