"""Runs a training command unmodified and records a few of its steps into a capture.

The command behaves as it does without traceview: its input, output, signals and exit code are unchanged. Messages of
traceview go to stderr.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from traceview.cli.values import at_least
from traceview.errors import CHECK_FAILED, TraceviewError, UsageError
from traceview.recording import messages, nsight
from traceview.recording.harvest import give_up, harvest, remove_if_empty
from traceview.recording.launch import Run, Stopped, launch, place, shell_code, stoppable
from traceview.recording.repeated import Repeated, on_signal

HELP = "run a training command and record some of its steps"

EXAMPLES = """examples:
  traceview collect -- python train.py --epochs 1
  traceview collect -o before --steps 8 --stop-after -- python -m package.train
  traceview collect --tool nsys --whole -- ./a.out
  traceview collect -- torchrun --nproc-per-node 2 train.py
  traceview collect -o long --every 1000 --on-signal -- python train.py

The exit code is that of the command, or 128 plus the signal number if a signal ended it. Option values that look like
a password, token or key, and passwords in URLs, are recorded as ***; --no-command leaves out the command line.

A step ends when the first optimizer's step() returns, or the compiled function that contains it; of optimizers that
take turns, one step() each, the last one's; in a script without an optimizer, when the call of the model returns. To
mark steps yourself, call `import sys; sys.audit("traceview.step")` at the end of each; without traceview this does
nothing.
"""

CAPTURES_TO_KEEP = 5
"""Captures that stay of a run that is recorded more than once."""
# Environment variables of the collectors, and the options of this verb that they carry.
NUMBERS = ("wait", "warmup", "steps", "every")
SWITCHES = ("light", "stacks", "allocations", "stop_after", "on_signal")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview collect`."""
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="the capture folder; default: named after script and time"
    )
    parser.add_argument(
        "--wait", type=_count, metavar="N", default=3, help="steps to run first without a profiler (default 3)"
    )
    parser.add_argument(
        "--warmup",
        type=_count,
        metavar="N",
        default=1,
        help="next, steps to run with the profiler on but not recorded (default 1)",
    )
    parser.add_argument("--steps", type=_count, metavar="N", default=4, help="after that, steps to record (default 4)")
    parser.add_argument(
        "--every",
        type=_count,
        metavar="N",
        default=0,
        help="record again every N steps, each time into a capture of its own in FOLDER",
    )
    parser.add_argument(
        "--keep", type=at_least(1, "is not a number of captures"), metavar="N", help="the newest to keep (default 5)"
    )
    parser.add_argument("--on-signal", action="store_true", help="record again when SIGUSR1 comes to traceview")
    parser.add_argument("--light", action="store_true", help="record no shapes and no layers, for less overhead")
    parser.add_argument("--stacks", action="store_true", help="record Python call stacks, with PyTorch each line too")
    parser.add_argument("--allocations", action="store_true", help="record memory allocations")
    parser.add_argument("--tool", choices=[nsight.TOOL], help="record with Nsight Systems, for any CUDA program")
    parser.add_argument(
        "--whole", action="store_true", help="with --tool: record the whole run; the program needs no steps"
    )
    parser.add_argument("--stop-after", action="store_true", help="end the command after the recorded steps")
    parser.add_argument("--no-command", action="store_true", help="do not record the command line")
    parser.add_argument(
        "--require-capture", action="store_true", help="exit with 1 if the command succeeds but leaves no capture"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="what to run")


def run(args: argparse.Namespace) -> int:
    """Run the command, describe and convert what it left, and say where that is."""
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError("no command given: traceview collect -- python train.py")
    if args.steps < 1:
        raise UsageError("--steps must be at least 1.")
    if args.whole and not args.tool:
        raise UsageError("--whole needs --tool nsys; without --whole some steps are recorded.")
    repeats = bool(args.every or args.on_signal)
    if repeats and (args.tool or args.stop_after):
        raise UsageError("--every and --on-signal cannot be combined with --tool or --stop-after.")
    if args.keep is not None and not repeats:
        raise UsageError("--keep needs --every or --on-signal; without them there is one capture.")
    options = {name: int(getattr(args, name)) for name in (*NUMBERS, *SWITCHES)}
    is_ours = not (args.output and args.output.exists())
    capture = place(args.output, command)
    job = Run(command, capture, options, args.tool, args.whole, not args.no_command, _say)
    try:
        with stoppable():
            return _record(job, args.require_capture, (args.keep or CAPTURES_TO_KEEP) if repeats else None)
    except Stopped as stopped:
        return shell_code(-stopped.number)
    finally:
        remove_if_empty(capture, is_ours)


def _record(job: Run, needs_capture: bool, keep: int | None) -> int:
    """Run the command and take in what it left; the command's exit code, or 1 without a required capture.

    `keep`: how many captures stay of a run that is recorded more than once.
    """
    raw, exit_code = job.capture / "raw", None
    started_ns = time.time_ns()
    repeated = None if keep is None else Repeated(job, started_ns, keep)
    try:
        raw.mkdir(parents=True)
        with on_signal(job) if job.options["on_signal"] else nullcontext():
            exit_code = launch(job if repeated is None else replace(job, meanwhile=repeated.take_in))
        has_capture = harvest(job, started_ns, exit_code) if repeated is None else repeated.finish(exit_code)
    except Stopped as stopped:
        is_kept = give_up(raw)
        _say(messages.stopped(signal.Signals(stopped.number).name, job.capture if is_kept else None))
        raise
    except (OSError, TraceviewError) as error:
        if exit_code is None:
            give_up(raw)
            if isinstance(error, OSError):
                raise UsageError(f"cannot write to {job.capture}: {error.strerror}.") from error
            raise
        has_capture = False
        _say(messages.unconverted(raw, error))
    if exit_code:
        _say(f"the command {messages.ending(exit_code)}.")
    elif needs_capture and not has_capture:
        return CHECK_FAILED
    return shell_code(exit_code)


_count = at_least(0, "is not a number of steps")


def _say(text: str) -> None:
    # Where stderr is closed there is none, and print would take stdout.
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"traceview: {text}", file=sys.stderr, flush=True)
