"""Finds the best algorithm for each pass of each convolution of a PyTorch model on this CPU, and proves it.

Shapes come from one run of the model (FILE.py:FACTORY), or from what a capture recorded; every pass is then measured on
tensors of these shapes. For a folder written by `traceview study algorithms` or by an earlier schedule, the plan is
made from its rows, without measuring. The plan is the fastest combination under the memory cap, layout conversions
included. Passes that turn out no faster in a training step are dropped from it, and pairs of fresh training processes
show whether the step is faster: if not, the plan is empty and PyTorch's own stays. Without a model the proof needs a
command.

From times that were not measured on a CPU (of a GPU, or published ones, which `traceview study import` reads) it prints
the best combination under a memory cap beside every single algorithm, and what frameworks can take of it: nothing
proves such a plan, and nothing can apply it here.

A plan is valid for the shapes, number of threads and processor that it was made on. It is applied to an unchanged
script with --apply, or from Python with traceview.schedule.apply(model, "plan.json"). Each pass is compared with double
precision before it is first used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview import render
from traceview.cli import studies, values
from traceview.cli.output import DEFAULT_LIMIT, emit, say
from traceview.errors import InputError, TraceviewError, UsageError
from traceview.recording.launch import Stopped, shell_code, stoppable

if TYPE_CHECKING:
    from traceview.analysis.model import Report
    from traceview.experiments.results import Journal
    from traceview.experiments.schedule.job import Job

SAME = ("model", "batch", "image", "threads", "network")
"""Times within a step depend on these: --resume does not change them."""
HELP = "find the best algorithm for each convolution of a model, and prove it"

EXAMPLES = """examples:
  traceview schedule model.py:make_model --image 3x224x224 --batch 16 --plan plan.json
  traceview schedule model.py:make_model --workspace 8MB --numerics equal
  traceview schedule traceview-capture-train-20260102-030405 -- python train.py    proved on the script itself
  traceview schedule alexnet16 --workspace 8MB                   from a study, without measuring
  traceview schedule published --workspace 300MB                 from published times: printed, not proved
  traceview schedule model.py:make_model -o plan-results --resume    continue after Ctrl-C or a crash
  OMP_NUM_THREADS=1 traceview schedule --apply plan.json -- python train.py    an unchanged script, with the plan
  OMP_NUM_THREADS=1 traceview schedule --apply plan.json -- traceview collect -- python train.py    a capture of it
  traceview report plan-results schedule                      print the answer again

make_model() returns a torch.nn.Module, or a tuple of it and its inputs. Exit codes: 0 done, 2 wrong usage, 3 the model
cannot be run; with --apply that of the command.
"""

LEAST_PAIRS = 6
PASSES = ("fprop", "dgrad", "wgrad")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview schedule`."""
    parser.add_argument(
        "model",
        nargs="?",
        metavar="FILE.py:FACTORY|CAPTURE|STUDY",
        help="what makes the model, or a capture or study of it",
    )
    parser.add_argument(
        "--batch",
        type=values.count,
        metavar="N",
        help="images per step (default: 16, or those of the capture or study)",
    )
    parser.add_argument("--image", type=values.image, default=(3, 224, 224), metavar="CxHxW", help="default 3x224x224")
    parser.add_argument(
        "--threads", type=values.count, metavar="N", help="threads that compute (default: 1, or the study's)"
    )
    parser.add_argument("--network", metavar="NAME", help="the network to plan, if the study has several")
    parser.add_argument(
        "--passes", type=values.names(PASSES, "passes"), default=PASSES, metavar="PASS,...",
        help=f"passes to plan from a study: {', '.join(PASSES)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--workspace", type=_workspace, metavar="SIZE", help="workspace that any pass may use, such as 64MB"
    )
    parser.add_argument(
        "--workspace-total", type=_workspace, metavar="SIZE", help="total workspace, one buffer per pass"
    )
    parser.add_argument(
        "--numerics", choices=("close", "equal"), default="close",
        help="equal: errors up to 2e-6 of the largest value, or 4 times PyTorch's own if that is more; "
        "close: up to 1e-4, or 100 times (default)",
    )  # fmt: skip
    parser.add_argument("--pairs", type=_pairs, default=6, help="pairs of runs for the proof (default 6; 0: no proof)")
    parser.add_argument(
        "--plan", type=Path, metavar="PLAN", default=Path("plan.json"), help="file for the plan (default plan.json)"
    )
    studies.add_result_options(parser, "PLAN-results", "; nothing is measured twice")
    parser.add_argument(
        "--python", metavar="PROGRAM", default=sys.executable, help="the Python that has torch (default: this one)"
    )
    parser.add_argument("--apply", type=Path, metavar="PLAN", help="run a command with this plan")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND ...", help="command to prove the plan on, or to run")


def run(args: argparse.Namespace) -> int:
    """Make a plan, or run a command with one."""
    if args.apply:
        return _apply(args)
    if not args.model:
        raise UsageError("name a file and what makes the model in it: traceview schedule model.py:make_model")
    if args.workspace is not None and args.workspace_total is not None:
        raise UsageError("give either --workspace or --workspace-total.")
    from traceview.experiments import inside, machine
    from traceview.experiments.results import Journal
    from traceview.experiments.schedule import inputs, outcome, scheduling

    if not inputs.is_factory(args.model) and inputs.is_elsewhere(Path(args.model)):
        return _strategy(args)
    job = _job(args)
    about = outcome.described(job)
    folder = _place(args, about)
    journal = Journal(folder, about | {"machine": machine.facts()})
    try:
        with stoppable():
            answer = scheduling.schedule(job, journal)
    except Stopped as stopped:
        say(
            f"stopped; go on with the same command and -o {folder} --resume"
            if _finished(journal)
            else "stopped before anything was measured"
        )
        return shell_code(-stopped.number)
    except TraceviewError:
        _finished(journal)
        raise
    journal.finish()
    if args.plan.exists() and not args.plan.is_file():
        raise UsageError(f"{args.plan} is not a regular file; choose another name with --plan.")
    plan = args.plan.resolve()
    inside.replace(plan.parent, plan.name, (json.dumps(answer.plan, indent=1) + "\n").encode())
    _show(args, studies.answered(folder, "schedule"), str(folder))
    say(_conclusion(args, answer.verdict, answer.plan))
    return 0


def _strategy(args: argparse.Namespace) -> int:
    """Print the best combination of times that were not measured here: there is nothing to prove or to apply."""
    from traceview import store
    from traceview.analysis import reports

    if args.command:
        raise UsageError(
            f"{args.model} holds times of another device, or published ones: no command can prove them here."
        )
    if args.workspace_total is not None:
        raise UsageError("for times of another device, or published ones, give --workspace: what any pass may use.")
    cap = -1 if args.workspace is None else args.workspace
    values = {"cap_bytes": str(cap), "network": args.network or "", "images": str(args.batch or 0)}
    with store.open_capture(Path(args.model)) as connection:
        report = reports.run(connection, "strategy", values, source=args.model)
    _show(args, report, args.model)
    say("not proved: these times were measured elsewhere; no plan is written, as nothing here can apply it")
    return 0


def _job(args: argparse.Namespace) -> Job:
    from traceview.experiments.schedule.inputs import is_factory, is_study
    from traceview.experiments.schedule.job import Job

    path = Path(args.model.rpartition(":")[0] if is_factory(args.model) else args.model)
    if is_factory(args.model) and not path.is_file():
        raise InputError(f"there is no file {path}.")
    if not is_factory(args.model) and (path.suffix == ".py" or not path.exists()):
        raise UsageError(
            f"{args.model} is neither FILE.py:FACTORY (for example model.py:make_model) nor a capture or study that "
            "exists."
        )
    if args.threads and (is_factory(args.model) or not is_study(path)):
        # A study's rows may be of another machine; everything else is measured here.
        studies.threads(args.threads)
    is_shared = args.workspace_total is not None
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    return Job(
        args.model, args.batch, args.image, args.threads, args.numerics,
        args.workspace_total if is_shared else args.workspace, is_shared, args.pairs, args.python, say, tuple(command),
        args.network, tuple(args.passes),
    )  # fmt: skip


def _place(args: argparse.Namespace, about: Mapping[str, Any]) -> Path:
    """The folder to write: a new one, or with --resume the one that is there."""
    from traceview.experiments import results, trust

    folder: Path = args.output or args.plan.with_name(f"{args.plan.stem}-results")
    results.refuse(folder)
    if args.resume:
        told = results.described(folder)
        if told.get("kind") != "schedule":
            raise UsageError(f"{folder} was not made by traceview schedule.")
        now = json.loads(json.dumps({name: about[name] for name in SAME}))
        if changed := [name for name in SAME if told.get(name, now[name]) != now[name]]:
            raise UsageError(f"{changed[0]} cannot change within {folder}; begin another folder.")
        trust.allow(folder, args.trust, say)
        return folder
    for path in (args.plan, folder):
        if path.exists():
            raise UsageError(f"{path} exists already; choose another name with --plan or -o, or go on with --resume.")
    if not args.plan.parent.is_dir():
        raise UsageError(f"there is no folder {args.plan.parent} for the plan.")
    return folder


def _finished(journal: Journal) -> bool:
    """Leave a whole capture where something was measured, else no folder."""
    from traceview.experiments.results import discard
    from traceview.experiments.schedule.rows import TABLE

    if journal.rows(TABLE) or journal.answered("schedule_plans"):
        journal.finish()
        return True
    if journal.is_new:
        discard(journal.folder)
    return False


def _show(args: argparse.Namespace, report: Report, name: str) -> None:
    """Print the answer in `name`, shortened for people."""
    if args.format == "table":
        from traceview.analysis import reports

        # As this verb has no --limit, notes of shortened tables name the command that shows all rows.
        all_of_it = f"traceview report {name} {report.name} --limit 0"
        report = reports.shown(report, DEFAULT_LIMIT)
        parts = (replace(it, note=it.note and it.note.replace("--limit 0", all_of_it)) for it in report.sections)
        report = replace(report, sections=tuple(parts))
    emit([render.renderer(args.format).render_all([report])], None)


def _conclusion(args: argparse.Namespace, verdict: str, plan: Mapping[str, Any]) -> str:
    if not plan["layers"]:
        return f"the step was not shown to be faster ({verdict}): {args.plan} is empty, PyTorch's own stays"
    threads = f"OMP_NUM_THREADS={plan['threads']}"
    return f"run with it: {threads} traceview schedule --apply {args.plan} -- python train.py ({verdict})"


def _apply(args: argparse.Namespace) -> int:
    """The exit code of the command."""
    from traceview.experiments import command as commands
    from traceview.experiments.schedule.job import with_plan
    from traceview.experiments.tune import plan_option

    # What stands before `--` may have been taken for the model.
    command: list[str] = [word for word in [args.model, *args.command] if word]
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        raise UsageError("no command given: OMP_NUM_THREADS=1 traceview schedule --apply plan.json -- python train.py")
    plan_option.read(args.apply)
    return shell_code(commands.apply(command, {**os.environ, **with_plan(args.apply)}))


def _pairs(text: str) -> int:
    n = _any_pairs(text)
    if 0 < n < LEAST_PAIRS:
        raise argparse.ArgumentTypeError(f"{text!r}: an interval needs at least {LEAST_PAIRS} pairs; 0 leaves them out")
    return n


_any_pairs = values.at_least(0, "is not a number of pairs; 0 leaves them out", 9999)
_workspace = partial(values.size, least=0)
