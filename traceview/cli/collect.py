"""Runs a training command, unmodified, and records a few of its steps into a capture.

The one law: the command behaves as without traceview. Its input, output, signals and exit code are its own; what
traceview has to say goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from traceview import __version__
from traceview.errors import CommandFailed, TraceviewError, UsageError
from traceview.paths import content
from traceview.recording import nsight, nvtx

HELP = "run a training command and capture some of its steps"

EXAMPLES = """examples:
  traceview collect -- python train.py --epochs 1
  traceview collect -o before --steps 8 --stop-after -- python -m package.train
  traceview collect --tool nsys --whole -- ./a.out
  traceview collect -- torchrun --nproc-per-node 2 train.py

A step ends where the first optimizer's step() does, or the call of the compiled function that holds it; in a script
without an optimizer, where its model's call does.
A loop that knows better says so with `import sys; sys.audit("traceview.step")`, which does nothing without traceview.
"""

CAPTURE_SCHEMA = 1
# Environment variables of the collectors, and the options of this verb that they carry.
NUMBERS = ("wait", "warmup", "steps")
SWITCHES = ("light", "stacks", "memory", "stop_after")
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Whoever signals a whole process group has reached the command already; a second signal could cut its cleanup short.
GRACE_S = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview collect`."""
    parser.add_argument("-o", "--output", type=Path, help="the capture folder; default: named after script and time")
    parser.add_argument("--wait", type=_count, default=3, help="steps to run first, untouched (default 3)")
    parser.add_argument("--warmup", type=_count, default=1, help="then steps with the profiler set up (default 1)")
    parser.add_argument("--steps", type=_count, default=4, help="then steps to record (default 4)")
    parser.add_argument("--light", action="store_true", help="record no shapes and no layers, for less overhead")
    parser.add_argument("--stacks", action="store_true", help="record Python stacks")
    parser.add_argument("--memory", action="store_true", help="record allocations")
    parser.add_argument("--tool", choices=[nsight.TOOL], help="record with Nsight Systems, for anything with CUDA")
    parser.add_argument(
        "--whole", action="store_true", help="with --tool: the whole run, also of a program without steps"
    )
    parser.add_argument("--stop-after", action="store_true", help="end the command after the recorded steps")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...", help="what to run")


def run(args: argparse.Namespace) -> int:
    """Run the command, describe and convert what it left, and say where that is."""
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise UsageError("no command given: traceview collect -- python train.py")
    if args.steps < 1:
        raise UsageError("--steps must be at least 1.")
    if args.whole and not args.tool:
        raise UsageError("--whole goes with --tool nsys; without it some steps are recorded.")
    options = {name: int(getattr(args, name)) for name in (*NUMBERS, *SWITCHES)}
    capture = _place(args.output, command)
    is_ours = not capture.exists()
    started_ns = time.time_ns()
    try:
        (capture / "raw").mkdir(parents=True)
        words = nsight.command(command, capture / "raw", args.whole) if args.tool else command
        exit_code = _launch(words, capture, options, args.tool)
        facts = {"command": command, "started_unix_ns": started_ns, "exit_code": exit_code, "options": options}
        facts |= {"recorded_by": args.tool}
        problem = _harvest(capture, facts)
    except OSError as error:
        raise UsageError(f"cannot write to {capture}: {error.strerror}.") from error
    finally:
        _remove_if_empty(capture, is_ours)
    if exit_code:
        raise CommandFailed(f"the command {_ending(exit_code)}.")
    if problem is not None:
        raise problem
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return number


def _say(text: str) -> None:
    print(f"traceview: {text}", file=sys.stderr, flush=True)


def _place(output: Path | None, command: Sequence[str]) -> Path:
    """Where the capture goes; the path is absolute because the command may change directory."""
    if output is None:
        output = Path(f"traceview-capture-{_stem(command)}-{time.strftime('%Y%m%d-%H%M%S')}")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} exists already; choose another name with -o.")
    return output.absolute()


def _remove_if_empty(capture: Path, is_ours: bool) -> None:
    """Leave no empty capture behind, and a folder that was there before as it was."""
    for folder in [capture / "raw", *([capture] if is_ours else [])]:
        with suppress(OSError):
            folder.rmdir()


def _stem(command: Sequence[str]) -> str:
    """A short name for a command: its script's, its module's, or the program's."""
    script = next((word for word in command if word.endswith(".py")), None)
    if script is None and "-m" in command[:-1]:
        return command[command.index("-m") + 1].rsplit(".", 1)[-1]
    return Path(script or command[0]).stem


# Running the command


def _launch(command: Sequence[str], capture: Path, options: dict[str, int], tool: str | None) -> int:
    """Run the command with the collectors in its way; its exit code, or minus the signal that ended it."""
    environment = dict(os.environ)
    inject = str(content("collectors") / "inject")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [inject, environment.get("PYTHONPATH")]))
    environment["TRACEVIEW_DIR"] = str(capture)
    library, reason = nvtx.library() if tool is None else (None, None)
    if library:
        environment[nvtx.VARIABLE] = library
    elif reason:
        _say(reason)
    if tool:
        environment["TRACEVIEW_TOOL"] = tool
    environment.update({f"TRACEVIEW_{name.upper()}": str(value) for name, value in options.items()})
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise CommandFailed(f"cannot run {command[0]}: {error.strerror}.") from error
    with _signals_to(process):
        exit_code = process.wait()
    if tool is None:
        return exit_code
    own = nsight.status(capture / "raw", exit_code)
    if own is None:
        raise CommandFailed(f"{tool} {_ending(exit_code)} and did not run the command.")
    if exit_code != own:
        _say(f"{tool} {_ending(exit_code)}; the command itself {_ending(own)}")
    return own


@contextmanager
def _signals_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Outlive the command's signals, and pass on those that only this process got."""
    is_foreground = _is_foreground()

    def send(number: int) -> None:
        if process.poll() is None:
            process.send_signal(number)

    def pass_on(number: int, frame: FrameType | None) -> None:
        # What is typed at a terminal reaches every process in the foreground.
        if number == signal.SIGTERM or not is_foreground:
            timer = threading.Timer(GRACE_S, send, (number,))
            timer.daemon = True
            timer.start()

    before = {number: signal.getsignal(number) for number in FORWARDED}
    changed = [number for number in FORWARDED if before[number] != signal.SIG_IGN]
    for number in changed:
        signal.signal(number, pass_on)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])


def _is_foreground() -> bool:
    try:
        with Path("/dev/tty").open() as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _ending(exit_code: int) -> str:
    if exit_code == 0:
        return "succeeded"
    if exit_code > 0:
        return f"failed with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"


# What it left


def _harvest(capture: Path, facts: dict[str, Any]) -> TraceviewError | None:
    """Describe and convert the raw traces, or say why there are none; returns what went wrong with them."""
    notes = _notes(capture / "raw")
    is_bare = all(state == "python" for _, state, _ in notes) and not _ranks(capture / "raw")
    left_out = nvtx.adopt(capture / "raw", is_bare)
    if nsight.reports(capture / "raw") and not list((capture / "raw").glob("rank-*.meta.json")):
        nvtx.describe(capture / "raw", 0, None)
    _clear(capture / "raw")
    ranks = _ranks(capture / "raw")
    if not ranks:
        for path in (capture / "raw").iterdir():
            path.unlink()  # The facts of a process that was killed before its trace was whole.
        _say(f"no capture: {_why_none(notes, facts['options'])}")
        return None
    lost = [f"process {pid}: {_LOST[state]}{detail}" for pid, state, detail in notes if state in _LOST]
    facts["warnings"] = (
        lost + left_out + [f"rank {rank['rank']}: {text}" for rank in ranks for text in rank["warnings"]]
    )
    described = _describe(capture, facts, ranks)
    for warning in facts["warnings"]:
        _say(warning)
    from traceview import store

    try:
        store.convert_raw(capture)
        _write(capture, described | {"conv_flop": _work(capture)})
    except TraceviewError as error:
        _say(f"the raw traces are in {capture / 'raw'}, but could not be converted")
        return error
    _say(f"{_summary(ranks, facts['options'])}; see it with: traceview report {_shown(capture)}")
    return None


def _notes(raw: Path) -> list[tuple[int, str, str]]:
    """How far each Python program came: its process id, the state it reached, and what there is to say of that."""
    notes = []
    for path in sorted(raw.glob(".process-*")):
        state, _, detail = path.read_text(encoding="utf-8", errors="replace").partition("\n")
        notes.append((int(path.stem.rpartition("-")[2]), state, detail.strip()))
    return notes


def _clear(raw: Path) -> None:
    """Clear away the notes and what was left half written."""
    for path in sorted(raw.glob(".*")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _ranks(raw: Path) -> list[dict[str, Any]]:
    """The facts of each process whose trace is there, in order of rank; without a framework a log is all there is."""
    found = []
    for path in sorted(raw.glob("rank-*.meta.json")):
        stem = path.name.removesuffix(".meta.json")
        others = [other.name for other in raw.glob(f"{stem}.*") if other != path] + nsight.reports(raw)
        facts = json.loads(path.read_text(encoding="utf-8") or "{}")
        if facts and (facts["framework"] is None or any(not name.endswith(".log") for name in others)):
            found.append(facts | {"files": sorted(others)})
    return found


def _describe(capture: Path, facts: dict[str, Any], ranks: list[dict[str, Any]]) -> dict[str, Any]:
    """Write `capture.json`: what was run, and for each process with what and on what; returns it."""
    described = {
        "schema": CAPTURE_SCHEMA,
        "tool": f"traceview {__version__}",
        "command": facts["command"],
        "folder": Path.cwd().name,
        "started_unix_ns": facts["started_unix_ns"],
        "ended_unix_ns": time.time_ns(),
        "exit_code": facts["exit_code"],
        "recorded_by": facts["recorded_by"],
        "options": facts["options"],
        "framework": ranks[0]["framework"],
        "framework_version": ranks[0]["framework_version"],
        "model": ranks[0]["model"],
        "world_size": max(len(ranks), *(rank["world_size"] for rank in ranks)),
        "cost": ranks[0]["cost"],
        "warnings": facts["warnings"],
        "ranks": ranks,
    }
    _write(capture, described)
    return described


def _work(capture: Path) -> int | None:
    """FLOPs of the convolutions of a step and rank: what a fair comparison has equal, and only the traces tell.

    None where they do not, and where they cannot be read: a run that went well is not to fail for it.
    """
    import duckdb

    from traceview import sql, store

    query = sql.load(content("queries") / "work.sql")
    with (
        suppress(TraceviewError, duckdb.Error),
        closing(store.open_capture(capture, asked=query.body)) as connection,
    ):
        ((flop,),) = query.run(connection)
        return None if flop is None else int(flop)
    return None


def _write(capture: Path, described: dict[str, Any]) -> None:
    draft = capture / ".capture.json"
    draft.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    draft.replace(capture / "capture.json")


_LOST = {
    "recording": "it ended while recording with no chance to write its trace (os._exit, kill -9 or a crash)",
    "exec": "what was recorded before it called exec, to become another program, is left out",
    "failed": "",
}


def _why_none(notes: list[tuple[int, str, str]], options: dict[str, int]) -> str:
    """The reason that tells most, as a sentence: that of the process that came furthest."""
    found = {state: detail for _, state, detail in notes}
    if "recording" in found:
        return f"a process was recording; {_LOST['recording']}."
    if "captured" in found:
        return "nsys left no report of the steps that it was to record; what it printed says why."
    if "failed" in found:
        return f"the recording was given up: {found['failed']}."
    if "waiting" in found:
        done, _, source = found["waiting"].partition(" ")
        first = options["wait"] + options["warmup"]
        if done != "0":
            return (
                f"the script ended after {done} steps ({source}) and recording begins after {first}; "
                "run more steps, or pass --wait 0 --warmup 0."
            )
    if "exec" in found:
        return (
            "a process was recording when it became another program (exec), of which nothing was recorded; "
            "pass a smaller --wait or --steps to be done before."
        )
    if "waiting" in found or "framework" in found:
        return (
            "a framework was imported, but no step was seen to end: no optimizer's step, no call of a model or of a "
            "compiled function that is called again. "
            'Mark the end of each step with: import sys; sys.audit("traceview.step")'
        )
    if "python" in found:
        return (
            "the command imported no framework that traceview supports "
            "(torch, tensorflow, jax, onnxruntime, mxnet, cntk, theano, cv2)."
        )
    return (
        "the collector was not loaded. Give a command that runs Python, "
        "without its options -S, -I and -E, which ignore PYTHONPATH."
    )


def _summary(ranks: list[dict[str, Any]], options: dict[str, int]) -> str:
    if ranks[0]["framework"] is None:
        if any(not name.endswith(nvtx.SUFFIX) for name in ranks[0]["files"]):
            return "recorded the whole run"
        count = "1 process" if len(ranks) == 1 else f"{len(ranks)} processes"
        return f"recorded the NVTX ranges of {count}, and no framework"
    recorded = ranks[0]["steps"]["recorded"]
    processes = f" of {len(ranks)} processes" if len(ranks) > 1 else ""
    text = f"recorded {recorded} {'step' if recorded == 1 else 'steps'}{processes}"
    if recorded < options["steps"]:
        text += f" (of {options['steps']}; cut short: {ranks[0]['ended_by']})"
    cost = ranks[0]["cost"]
    if cost["bare_step_ns"] and cost["profiled_step_ns"]:
        text += f", {cost['profiled_step_ns'] / 1e6:.1f} ms each ({cost['bare_step_ns'] / 1e6:.1f} ms unprofiled)"
    return text


def _shown(capture: Path) -> Path:
    """A path as short as can be typed from here."""
    here = Path.cwd()
    return capture.relative_to(here) if capture.is_relative_to(here) else capture
