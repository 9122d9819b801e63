"""Runs the same models in every installed framework, old and new: forward pass, gradient, update.

Each time is from a fresh process without a profiler; each round has every framework and pass once, in random order.
Afterwards one run of each is recorded, for its layers and libraries. The folder that it writes is a capture and grows
while it runs: stop it with Ctrl-C at any time, and continue with the same command and --resume. A framework that is not
installed gets a row that says how to get it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.cli import studies, values
from traceview.cli.names import completed
from traceview.cli.output import say
from traceview.errors import UsageError
from traceview.experiments.frameworks import listed

if TYPE_CHECKING:
    from traceview.experiments.frameworks.comparing import Plan, Progress
    from traceview.experiments.results import Journal

TITLE = "the same models in every framework, side by side"

EXAMPLES = """examples:
  traceview study frameworks --models lenet --frameworks torch,tensorflow,jax --threads 1
  traceview study frameworks --models lenet,alexnet,autoencoder,lstm --threads 1,2 -o frameworks
  traceview study frameworks -o frameworks --models lenet --resume
  traceview report frameworks frameworks
  traceview compare frameworks/captures/lenet-torch frameworks/captures/lenet-jax

exit codes: 0 done, also where some frameworks failed; 3 where no process gave times
"""

KIND = "study frameworks"
LAYOUTS = ("nchw", "nhwc")
REPORT = "frameworks"
SHOWN = ("times", "refused")
"""Sections of the report that are printed when it has been measured."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview study frameworks`."""
    models, known = listed.models(), list(listed.frameworks())
    read = values.names(models, "models")
    add = parser.add_argument
    completed(
        add(
            "--models",
            type=read,
            default=["lenet"],
            metavar="NAME,...",
            help=f"{', '.join(models)} (default: lenet)",
        ),
        lambda: list(models),
    )
    read = values.names(known, "frameworks")
    completed(
        add("--frameworks", type=read, default=known, metavar="NAME,...", help=f"{', '.join(known)} (default: all)"),
        lambda: known,
    )
    own = ", ".join(f"{model.name} {model.batch}" for model in models.values())
    counts = values.counts("counts")
    add("--threads", type=counts, default=[1], metavar="N,N...", help="threads that compute (default: 1)")
    add("--batch", type=counts, default=[], metavar="N,N...", help=f"samples per step (default: {own})")
    add(
        "--layout", type=values.names(LAYOUTS, "layouts"), default=list(LAYOUTS), metavar="NAME,...",
        help="layouts of images: nchw, nhwc (default: both; only runs of the same layout are compared)",
    )  # fmt: skip
    add("--device", choices=("cpu", "cuda"), default="cpu", help="device to run on (default: cpu)")
    add(
        "--rounds",
        type=values.count,
        default=3,
        metavar="N",
        help="processes per time, in rounds of random order (default: 3)",
    )
    add("--steps", type=values.count, metavar="N", help="steps of each process (default: the model's)")
    steps = values.at_least(0, "is not a number of steps")
    add("--discard", type=steps, metavar="N", help="first steps to leave out (default: the model's)")
    add("--budget", type=values.duration, metavar="TIME", help="start no new process after this time")
    help_text = "record one run of each framework and model, for its layers and libraries (default: yes)"
    add("--captures", action=argparse.BooleanOptionalAction, default=True, help=help_text)
    folder = "where .venv-frameworks and .venv-legacy lie (default: here)"
    add("--environments", type=Path, default=Path(), metavar="FOLDER", help=folder)
    help_text = "the Python to use for a framework or an environment"
    python = values.pair("NAME=PATH; write for example mxnet=/opt/mxnet/bin/python")
    add("--python", type=python, action="append", default=[], metavar="NAME=PATH", help=help_text)
    studies.add_result_options(parser, settings=", with the other options again")


def run(args: argparse.Namespace) -> int:
    """Measure, and print the table; 3 where no process gave times."""
    from traceview.experiments import machine
    from traceview.experiments.frameworks.comparing import TABLE
    from traceview.experiments.results import Journal, described

    plan = _plan(args)
    folder = studies.place(args.output, args.resume, KIND, args.trust)
    settings = {"steps": args.steps, "discard": args.discard}
    earlier = (described(folder).get("settings") if args.resume else None) or settings
    if changed := [name for name, value in settings.items() if value != earlier.get(name)]:
        raise UsageError(f"--{changed[0]} cannot change within {folder}; begin another folder.")
    about = {"kind": KIND, "command": ["traceview", *sys.argv[1:]], "settings": settings}
    journal = Journal(folder, {**about, "machine": machine.facts()})
    code = _measure(plan, journal, args.captures)
    if code:
        return code
    rows = [row for row in journal.rows(TABLE) if "step_ns" in row]
    shares = [row["others_pct"] for row in rows if "others_pct" in row]
    studies.tell(folder, REPORT, SHOWN, args.format, shares, "processes")
    if rows:
        return 0
    say("no process gave times; the reasons stand in the table above.")
    return 3


def _plan(args: argparse.Namespace) -> Plan:
    from traceview.experiments.frameworks.comparing import Plan

    discard = args.discard
    known = listed.models()
    for name in args.models:
        steps = args.steps or known[name].steps
        if (known[name].discard if discard is None else discard) >= steps:
            raise UsageError(f"--steps {steps} leaves no step to time after the discarded ones; see --discard.")
    pythons = dict(args.python)
    names = {*listed.frameworks(), *listed.environments()}
    for name, path in pythons.items():
        if name not in names:
            raise UsageError(f"there is no framework {name}; choose from {', '.join(sorted(names))}.")
        found = shutil.which(path)
        if found is None:
            raise UsageError(f"there is no program {path}.")
        pythons[name] = str(Path(found).absolute())
    return Plan(
        tuple(args.models), tuple(args.frameworks), tuple(args.threads), tuple(args.batch), tuple(args.layout),
        args.device, args.rounds, args.budget, args.steps, discard, args.environments, pythons,
    )  # fmt: skip


def _measure(plan: Plan, journal: Journal, records: bool) -> int:
    """Measure and say how far it is; the exit code."""
    from traceview.experiments.frameworks import captures, comparing

    names, threads = ", ".join(plan.frameworks), ", ".join(map(str, plan.threads))
    say(f"{', '.join(plan.models)} in {names}; {threads} thread{'s' * (plan.threads != (1,))}; into {journal.folder}")

    def measured() -> str | None:
        journal.answer(comparing.known(plan))
        until = None if plan.budget_s is None else time.monotonic() + plan.budget_s
        left = comparing.measure(plan, journal, _watch)
        if left:
            return f"{left} processes are not run" + (", and nothing is recorded" if records else "")
        if records and (left := captures.record(plan, journal, _watch_capture, until)):
            those = f"{left} recordings" if left > 1 else "1 recording"
            return f"{those} of layers and libraries {'are' if left > 1 else 'is'} not made"
        return None

    return studies.finished(measured, journal, comparing.TABLE)


def _watch(progress: Progress) -> None:
    """One line for each process."""
    asked, row = progress.asked, progress.row
    found = f"{row['step_ns'] / 1e6:.2f} ms" if "step_ns" in row else f"{row['status']}: {row['reason']}"
    if row["status"] == "differs":
        found += f", not as asked: {row['reason']}"
    what = f"{progress.framework} {asked.model} {asked.mode} batch {asked.batch} threads {asked.threads} {asked.layout}"
    rest = studies.disturbed(row.get("others_pct")) + studies.left(progress.left_s)
    say(f"[{progress.done}/{progress.total}] {what}: {found}{rest}")


def _watch_capture(place: str, trouble: str | None) -> None:
    """One line for each recording."""
    say(f"recorded {place}" if trouble is None else f"{place} could not be recorded: {trouble}")
