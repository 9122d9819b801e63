"""Finds the best algorithm for each pass of each convolution of a PyTorch model on this CPU, and proves it.

The model is run once for its shapes; then every pass is measured on tensors of these shapes, with what PyTorch runs and
with Winograd convolution in several sizes of tiles. The plan is the best of it under a cap on memory, with what changes
of layout cost. Passes that are no faster within a training step leave it, and pairs of fresh training processes say
whether the step is faster: if not, the plan is empty and PyTorch's own stays.

A plan holds for the shapes, number of threads and processor that it was made on. It is applied to an unchanged script
with --apply, or from Python with traceview.schedule.apply(model, "plan.json"). Each pass is compared with double
precision before it is first used.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from traceview import render
from traceview.cli.options import add_output_options, form_of
from traceview.cli.output import emit, say
from traceview.errors import UsageError
from traceview.recording.launch import shell_code, stoppable

HELP = "find the best algorithm for each convolution of a model, and prove it"

EXAMPLES = """examples:
  traceview schedule model.py:make_model --image 3x224x224 --batch 16 --plan plan.json
  traceview schedule model.py:make_model --memory 8MB --numerics equal
  traceview schedule --apply plan.json -- python train.py     an unchanged script, with the plan
  traceview report plan-results schedule                      the answer again

make_model() returns a torch.nn.Module, or a tuple of it and its inputs. Exit codes: 0 done, 2 wrong usage, 3 the model
cannot be run; with --apply that of the command.
"""

_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*(|B|kB|KB|MB|GB)")
_UNITS = {"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9}
LEAST_PAIRS = 6


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview schedule`."""
    parser.add_argument("model", nargs="?", metavar="FILE.py:FACTORY", help="what makes the model")
    parser.add_argument("--batch", type=_count, default=16, help="images of a step (default 16)")
    parser.add_argument("--image", type=_image, default=(3, 224, 224), metavar="CxHxW", help="default 3x224x224")
    parser.add_argument("--threads", type=_count, default=1, help="threads that compute (default 1)")
    parser.add_argument(
        "--memory", type=_memory, metavar="SIZE", help="workspace that a pass may use, for example 64MB"
    )
    parser.add_argument(
        "--memory-total", type=_memory, metavar="SIZE", help="the same for all passes together, as if each kept its own"
    )
    parser.add_argument(
        "--numerics", choices=("equal", "close"), default="close",
        help="equal: as exact as PyTorch's own; close: errors up to 1e-4 of the largest value (default)",
    )  # fmt: skip
    parser.add_argument("--pairs", type=_pairs, default=6, help="pairs of runs for the proof (default 6; 0: no proof)")
    parser.add_argument("--plan", type=Path, default=Path("plan.json"), help="the plan's file (default plan.json)")
    parser.add_argument("--results", type=Path, help="folder for what was measured (default: PLAN-results)")
    parser.add_argument("--python", default=sys.executable, help="the Python that has torch (default: this one)")
    parser.add_argument("--apply", type=Path, metavar="PLAN", help="run a command with a plan")
    add_output_options(parser)
    parser.add_argument("command", nargs="*", metavar="-- COMMAND ...", help="what to run with --apply")


def run(args: argparse.Namespace) -> int:
    """Make a plan, or run a command with one."""
    if args.apply:
        return _apply(args)
    if not args.model or ":" not in args.model:
        raise UsageError("name a file and what makes the model in it: traceview schedule model.py:make_model")
    if args.memory is not None and args.memory_total is not None:
        raise UsageError("give either --memory or --memory-total.")
    from traceview.experiments import results, schedule

    folder = args.results or args.plan.with_name(f"{args.plan.stem}-results")
    for path in (args.plan, folder):
        if path.exists():
            raise UsageError(f"{path} exists already; choose another name with --plan or --results.")
    is_shared = args.memory_total is not None
    job = schedule.Job(
        args.model, args.batch, args.image, args.threads, args.numerics,
        args.memory_total if is_shared else args.memory, is_shared, args.pairs, args.python, say,
    )  # fmt: skip
    with stoppable():
        answer = schedule.schedule(job)
    tables = {"schedule_plans": schedule.plan_rows(answer), "schedule_layers": schedule.rows(answer)}
    results.write(folder, tables, schedule.described(job))
    args.plan.write_text(json.dumps(answer.plan, indent=1) + "\n", encoding="utf-8")
    _show(args, folder)
    say(_conclusion(args, answer.verdict, bool(answer.plan["layers"])))
    return 0


def _show(args: argparse.Namespace, folder: Path) -> None:
    from contextlib import closing

    from traceview import store
    from traceview.analysis import reports

    with closing(store.open_capture(folder, asked=reports.asked([reports.load("schedule")]))) as connection:
        report = reports.run(connection, "schedule", {}, source=str(folder))
    emit([render.renderer(form_of(args)).render_all([report], bool(args.output))], args.output)


def _conclusion(args: argparse.Namespace, verdict: str, has_layers: bool) -> str:
    if not has_layers:
        return f"the step was not shown to be faster ({verdict}): {args.plan} is empty, PyTorch's own stays"
    return f"run with it: traceview schedule --apply {args.plan} -- python train.py ({verdict})"


def _apply(args: argparse.Namespace) -> int:
    """The exit code of the command."""
    from traceview.experiments import schedule
    from traceview.paths import temporary_folder
    from traceview.recording.launch import Run, launch

    # What stands before `--` may have been taken for the model.
    command: list[str] = [word for word in [args.model, *args.command] if word]
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        raise UsageError("no command given: traceview schedule --apply plan.json -- python train.py")
    if not args.apply.is_file():
        raise UsageError(f"there is no plan {args.apply}.")
    environment = {**schedule.with_plan(args.apply), "TRACEVIEW_MODE": "apply"}
    with temporary_folder("traceview-apply-") as place:
        job = Run(command, place, {}, None, False, False, say, environment, uses_nvtx=False)
        return shell_code(launch(job))


def _image(text: str) -> tuple[int, int, int]:
    parts = text.split("x")
    if len(parts) != 3 or not all(part.isdigit() and int(part) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not CxHxW, for example 3x224x224")
    channels, height, width = map(int, parts)
    return channels, height, width


def _memory(text: str) -> int:
    match = _BYTES.fullmatch(text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size; write for example 64MB, or 0")
    return int(float(match[1]) * _UNITS[match[2]])


def _count(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _pairs(text: str) -> int:
    if not text.isdigit() or 0 < int(text) < LEAST_PAIRS:
        raise argparse.ArgumentTypeError(f"{text!r}: an interval needs at least {LEAST_PAIRS} pairs; 0 leaves them out")
    return int(text)
