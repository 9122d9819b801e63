"""Launches a command so that its Python processes load the collectors.

Invariant: the command behaves as without traceview. Its input, output, signals and exit code are its own.
"""

from __future__ import annotations

import math
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from traceview.errors import CommandFailed, UsageError
from traceview.ingest import secrets
from traceview.paths import content
from traceview.recording import messages, nsight, nvtx

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Whoever signals a whole process group (a terminal, `timeout`, a batch system) has reached the command already; another
# signal would cut its cleanup short. So long the witness may take to end on such a signal.
GRACE_S = 1.0
PATIENCE_S = 10.0
"""How long a command may take to end on a signal on which we end too; at a second one after GRACE_S it has to."""
PAUSE_S = 1.0
_NOT_PLAIN = re.compile(r"[^\w.+=@-]+")
"""Characters that would have to be quoted in a command line, or that act on a terminal."""


@dataclass(frozen=True)
class Run:
    """Command to run and record, and where to."""

    command: list[str]
    capture: Path
    options: dict[str, int]
    """How many steps, and switches (0 or 1), by the collectors' names for them."""
    tool: str | None
    is_whole: bool
    keeps_command: bool
    say: Callable[[str], None]
    """Takes a sentence for the user."""
    environment: Mapping[str, str] | None = None
    """Environment of the command instead of our own; the collectors' part is added to either."""
    folder: Path | None = None
    """Working directory of the command; ours when left out."""
    output: IO[bytes] | None = None
    """File for its output and its errors, both; it has no input then, for nobody sees its prompts. Else ours."""
    uses_nvtx: bool = True
    meanwhile: Callable[[], None] | None = None
    """Called about every second while the command runs."""
    ends_with_us: bool = False
    """Whether a signal that came to us as well means that we are to end, however the command ended on it."""


def place(output: Path | None, command: Sequence[str], kind: str = "capture") -> Path:
    """Return the folder of results, made where it is not named; absolute because the command may change directory."""
    if output is None:
        return _made(f"traceview-{kind}-{_stem(command)}-{time.strftime('%Y%m%d-%H%M%S')}")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"{output} exists already; choose another name with -o.")
    return output.absolute()


def _made(name: str, number: int = 1) -> Path:
    """A new folder of this name, with a number behind it where others that began in the same second have it."""
    folder = Path(f"{name}-{number}" if number > 1 else name).absolute()
    try:
        folder.mkdir()
    except FileExistsError:
        return _made(name, number + 1)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}.") from error
    return folder


def _stem(command: Sequence[str]) -> str:
    """A short name for a command: its script's, its module's, or the program's."""
    script = next((word for word in command if word.endswith(".py")), None)
    if script is None and "-m" in command[:-1]:
        return _NOT_PLAIN.sub("_", command[command.index("-m") + 1].rsplit(".", 1)[-1])
    return _NOT_PLAIN.sub("_", Path(script or command[0]).stem)


def launch(run: Run) -> int:
    """Run the command with the collectors in its way; its exit code, or minus the signal that ended it.

    Raises `CommandFailed` where it cannot be run, and `Stopped` as `Run.ends_with_us` says.
    """
    raw = run.capture / "raw"
    words, environment = run.command, _environment(run)
    if run.tool:
        words = nsight.command(secrets.command(words) if run.keeps_command else [], raw, run.is_whole)
        environment = nsight.hide(run.command, environment, raw)
    with _signals_to_command(run.ends_with_us) as (follow, came):
        try:
            asked, errors = (subprocess.DEVNULL, subprocess.STDOUT) if run.output else (None, None)
            command = subprocess.Popen(
                words, env=environment, cwd=run.folder, stdin=asked, stdout=run.output, stderr=errors
            )
        except OSError as error:
            # As a shell says it.
            code = 127 if isinstance(error, FileNotFoundError) else 126
            raise CommandFailed(f"cannot run {words[0]}: {error.strerror}.", code) from error
        follow(command)
        exit_code = _wait(command, run.meanwhile)
    if came and run.ends_with_us:
        raise Stopped(came[0])
    if run.tool is None:
        return exit_code
    own = nsight.status(raw, exit_code)
    if own is None:
        reason = f"{run.tool} {messages.ending(exit_code)} and did not run the command."
        raise CommandFailed(reason, shell_code(exit_code) or 126)
    if exit_code != own:
        run.say(f"{run.tool} {messages.ending(exit_code)}; the command itself {messages.ending(own)}")
    return own


def _wait(command: subprocess.Popen[bytes], meanwhile: Callable[[], None] | None) -> int:
    """Wait for the end of the command; its exit code."""
    while meanwhile is not None:
        try:
            return command.wait(PAUSE_S)
        except subprocess.TimeoutExpired:
            meanwhile()
    return command.wait()


def shell_code(exit_code: int) -> int:
    """The exit code by which a shell, and traceview, passes on how a command ended: 128 + the signal's number."""
    return 128 - exit_code if exit_code < 0 else exit_code


class Stopped(KeyboardInterrupt):
    """traceview itself is told to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Signals that end a process raise `Stopped` where no command runs, so that nothing half done is left."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    with _handled(stop):
        yield


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have a function called for signals that end a process, but for those that are ignored."""
    before = {number: signal.getsignal(number) for number in FORWARDED}
    changed = [number for number in FORWARDED if before[number] != signal.SIG_IGN]
    for number in changed:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])


def _environment(run: Run) -> dict[str, str]:
    """The environment of the command: this one, with the collectors and their options."""
    environment = dict(os.environ if run.environment is None else run.environment)
    if run.environment is None:
        # Within `schedule --apply` or `tune --apply`: their options hold here too, and this run records.
        environment.pop("TRACEVIEW_MODE", None)
    inject = str(content("collectors") / "inject")
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [inject, environment.get("PYTHONPATH")]))
    environment["TRACEVIEW_DIR"] = str(run.capture)
    library, reason = nvtx.library() if run.tool is None and run.uses_nvtx else (None, None)
    if library:
        environment[nvtx.VARIABLE] = library
    elif reason:
        run.say(reason)
    if run.tool:
        environment["TRACEVIEW_TOOL"] = run.tool
    return environment | {f"TRACEVIEW_{name.upper()}": str(value) for name, value in run.options.items()}


@contextmanager
def _signals_to_command(ends_with_us: bool) -> Iterator[tuple[Callable[[subprocess.Popen[bytes]], None], list[int]]]:
    """Outlive the command's signals, and pass on those that only this process got to the command, which the function
    is given when it has started; also those that came meanwhile.

    The list is of those that came. With `ends_with_us` a command that does not end on one is killed.
    """
    came: list[int] = []
    witnesses = [_witness()]
    # One thread acts on them in turn: two that ask after one witness at a time have it alive, and a handler that
    # starts threads is interrupted by the next signal while it does.
    arrivals: queue.SimpleQueue[tuple[float, int, subprocess.Popen[bytes] | None] | None] = queue.SimpleQueue()

    def pass_on(number: int, frame: FrameType | None) -> None:
        came.append(number)
        arrivals.put((time.monotonic(), number, witnesses[-1]))

    def send_if_alone(command: subprocess.Popen[bytes], number: int, witness: subprocess.Popen[bytes] | None) -> None:
        if witness is None or witness.poll() is None:
            command.send_signal(number)
        elif witness is witnesses[-1]:
            witnesses.append(_witness())

    def act(command: subprocess.Popen[bytes]) -> None:
        first = end = math.inf
        while True:
            try:
                arrival = arrivals.get(timeout=max(0.0, end - time.monotonic()) if end < math.inf else None)
            except queue.Empty:
                end = math.inf
                command.kill()
                continue
            if arrival is None:
                return
            at, number, witness = arrival
            if ends_with_us:
                first = min(first, at)
                end = at if at - first > GRACE_S else first + PATIENCE_S
            time.sleep(max(0.0, min(at + GRACE_S, end) - time.monotonic()))
            if command.poll() is None:
                send_if_alone(command, number, witness)

    def follow(command: subprocess.Popen[bytes]) -> None:
        threading.Thread(target=act, args=(command,), daemon=True).start()

    try:
        with _handled(pass_on):
            yield follow, came
    finally:
        arrivals.put(None)
        for witness in filter(None, witnesses):
            with witness:
                witness.kill()


def _witness() -> subprocess.Popen[bytes] | None:
    """A process of our group that ends with us, and on what is sent to all of the group; None where none can start."""
    with suppress(OSError):
        return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return None
