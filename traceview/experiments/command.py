"""One fresh run of a command in which nothing is profiled: how long its steps take, and which numbers come out.

Invariant: the command runs as in `collect`, with the same collectors; only its output goes to a file, as it runs often.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from traceview.errors import TraceviewError, UsageError
from traceview.experiments import inside, quiet
from traceview.paths import temporary_folder
from traceview.recording import messages
from traceview.recording.launch import Run, Stopped, launch

LEAST_WAIT_S = 60.0
TOO_LONG = "it was ended after "
INTERRUPTED = (-signal.SIGINT, 128 + signal.SIGINT)


@dataclass(frozen=True)
class Limits:
    """Which steps are timed, and whether the command is ended after them."""

    discard: int = 2
    steps: int = 6
    ends: bool = True
    seed: int | None = 1
    most_s: float | None = None
    """A run that takes longer is ended, and whatever a run leaves behind; None: neither."""


@dataclass(frozen=True)
class Timed:
    """Result of a run; without `step_ns` it gave no times, for a `reason`."""

    step_ns: int | None
    """Mean wall time of the timed steps: their whole time over their number, so that steps which wait count too."""
    step_cpu_ns: int | None
    """Mean processor time; None where workers, which load data, took some that is not counted."""
    steps: int
    loss: float | None
    checksum: str | None
    norms: tuple[float, ...]
    others_pct: float | None
    exit_code: int
    reason: str | None
    applied: Mapping[str, str]
    started_unix_ns: int
    total_ns: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Collector's facts of the process: framework, version, device, threads ..."""
    rank_step_ns: tuple[int, ...] = ()
    """The step of each process that gave times; `step_ns` is the slowest one's."""
    step_median_ns: int | None = None
    step_longest_ns: int | None = None
    n_too_few: int | None = None
    """Number of steps of a run that ended by itself before any could be timed."""

    @property
    def is_quiet(self) -> bool:
        """Whether its wall times can be believed."""
        return quiet.is_quiet(self.others_pct)


class Failed(TraceviewError):
    """The command itself failed, without any option; the exit code is its own."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def longest_s(budget_s: float, first_run_s: float = 0.0) -> float:
    """After which a run is ended that would else be waited for without end: the budget, and time to start in."""
    return max(budget_s, LEAST_WAIT_S, 10 * first_run_s)


def run(
    command: Sequence[str], environment: Mapping[str, str], limits: Limits, log: Path, folder: Path | None = None
) -> Timed:
    """Run the command once, in `folder`, with its output in the file `log`.

    Raises `CommandFailed` where it cannot be run at all.
    """
    options = {"wait": limits.discard, "warmup": 0, "steps": limits.steps, "stop_after": int(limits.ends)}
    added = {"TRACEVIEW_MODE": "times", "PYTHONUNBUFFERED": "1"}
    if limits.seed is not None:
        added["TRACEVIEW_SEED"] = str(limits.seed)
    with temporary_folder("traceview-run-") as place:
        (place / "raw").mkdir()
        with bounded(log) as output:
            job = Run(
                [*command], place, options, None, False, False, lambda text: None,
                {**environment, **added}, folder, output, uses_nvtx=False, ends_with_us=True,
            )  # fmt: skip
            begin, started, clock = quiet.now(), time.time_ns(), time.monotonic_ns()
            code, too_long = launched(job, limits.most_s)
            spent = time.monotonic_ns() - clock
            others = quiet.others_pct(begin, quiet.now())
        ranks = [_read(path) for path in sorted((place / "raw").glob("rank-*.times.json"))]
        facts = _read(place / "raw" / "rank-0000.meta.json")
        notes = [path.read_text(errors="replace") for path in sorted((place / "raw").glob(".process-*"))]
    ranks = [rank for rank in ranks if rank.get("steps")]
    n_too_few = None if ranks or code else _steps_waited(notes)
    reason = too_long or _why(code, bool(ranks), n_too_few, notes, log)
    walls, cpus = ([_times(rank, clock) for rank in ranks if not reason] for clock in ("wall_ns", "cpu_ns"))
    slowest = max(walls, key=_mean, default=None)
    first = ranks[0] if ranks else {}
    # While steps are timed, not while the program is loaded; processes of one job see the same machine.
    shares = [share for rank in ranks if (share := quiet.within(rank.get("window"))) is not None]
    return Timed(
        step_ns=_mean(slowest) if slowest else None,
        step_cpu_ns=None if any(rank.get("workers") for rank in ranks) else max(map(_mean, cpus), default=None),
        steps=len(first.get("steps", ())),
        loss=_number(first.get("loss")),
        checksum=first.get("checksum"),
        norms=tuple(map(float, first.get("norms") or ())),
        others_pct=max(shares, default=others),
        exit_code=code,
        reason=reason,
        applied={str(name): str(text) for name, text in dict(first.get("applied") or {}).items()},
        started_unix_ns=started,
        total_ns=spent,
        facts=facts,
        rank_step_ns=tuple(map(_mean, walls)),
        step_median_ns=int(statistics.median(slowest)) if slowest else None,
        step_longest_ns=max(slowest) if slowest else None,
        n_too_few=n_too_few,
    )


def apply(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the unchanged command with what this environment says to apply; its exit code."""
    with temporary_folder("traceview-apply-") as place:
        (place / "raw").mkdir()
        own = {**environment, "TRACEVIEW_MODE": "apply"}
        return launch(Run([*command], place, {}, None, False, False, lambda text: None, own, uses_nvtx=False))


def _times(rank: Mapping[str, Any], clock: str) -> list[int]:
    """Times of the steps of a process; a program that runs ahead of its device waits for it in the last."""
    return [int(step[clock]) for step in rank["steps"]]


def _mean(times: Sequence[int]) -> int:
    return sum(times) // len(times)


def _why(code: int, has_times: bool, n_too_few: int | None, notes: Sequence[str], log: Path) -> str | None:
    """Why a run does not count; None where it does."""
    if code:
        said = " / ".join(tail(log))
        return f"the command {messages.ending(code)}" + (f": {said}" if said else "")
    if has_times:
        return None
    if any(note.startswith("failed") for note in notes):
        return next(note.partition("\n")[2].strip() for note in notes if note.startswith("failed"))
    if n_too_few is not None:
        return f"it ended after {n_too_few} steps, too few to time any; see --limit-steps"
    return "no step was seen to end in it; `traceview collect` on the same command says more"


def _steps_waited(notes: Sequence[str]) -> int | None:
    """Return the steps that passed in a process that ended before any was to be timed; None where there is none."""
    counted = [note.split()[1] for note in notes if note.startswith("waiting")]
    return int(counted[0]) if counted and counted[0].isdigit() else None


def launched(job: Run, most_s: float | None) -> tuple[int, str | None]:
    """Launch a run that is ended after so long: its exit code, and why it was ended.

    Raises `Stopped` where the command ended on Ctrl-C, which may reach it alone; `launch` sees what reaches us.
    """
    with watched(job.capture, most_s) as has_ended_it:
        code = launch(job)
    if has_ended_it.is_set():
        return code, f"{TOO_LONG}{most_s or 0:.0f} s, without an end of its own"
    if code in INTERRUPTED:
        raise Stopped(signal.SIGINT)
    return code, None


def _read(path: Path) -> dict[str, Any]:
    """Read the file that a process left; nothing where it was ended before it could."""
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _number(value: object) -> float | None:
    return value if isinstance(value, float) and math.isfinite(value) else None


MOST_COPIED_BYTES = 2_000_000_000
NEVER_COPIED = (".git", ".hg", ".svn", ".venv", "__pycache__")


def copy(folder: Path, target: Path, results: Path) -> None:
    """Copy a working folder without version control, environments and the results."""
    shutil.copytree(folder, target, symlinks=True, ignore=lambda at, names: _left_out(at, names, results))


def _left_out(at: str, names: Sequence[str], results: Path) -> set[str]:
    return {name for name in names if name in NEVER_COPIED or Path(at, name).resolve() == results.resolve()}


def size(folder: Path, results: Path) -> int:
    """Bytes that `copy` would copy."""
    total = 0
    for at, folders, names in os.walk(folder):
        folders[:] = {*folders} - _left_out(at, folders, results)
        total += sum(Path(at, name).lstat().st_size for name in names)
    return total


def check_size(folder: Path, results: Path) -> None:
    """Raise `UsageError` where copies would take too long and fill the disk."""
    n_bytes = size(folder, results)
    if n_bytes > MOST_COPIED_BYTES:
        raise UsageError(
            f"--copy would copy {n_bytes / 1e9:.1f} GB for each run; run it in a folder that holds the script alone."
        )


PROCESSES = Path("/proc")
GRACE_S = 5.0
"""How long a process may take to end when it is asked to."""
POLL_S = 0.05


@contextmanager
def watched(folder: Path, most_s: float | None) -> Iterator[threading.Event]:
    """End all processes of a run that takes longer than this, and say that by the event; in the end end those that it
    left behind.

    With `most_s` None nothing is watched, and nothing is ended but where we are told to end.
    """
    has_ended_it = threading.Event()
    if most_s is None:
        try:
            yield has_ended_it
        except KeyboardInterrupt:
            end(folder)
            raise
        return

    def end_it() -> None:
        has_ended_it.set()
        end(folder)

    timer = threading.Timer(most_s, end_it)
    timer.daemon = True
    timer.start()
    try:
        yield has_ended_it
    finally:
        timer.cancel()
        end(folder)


def end(folder: Path) -> int:
    """End the processes of a run: asked to, then killed. How many there were."""
    found = _left(folder)
    n_found = len(found)
    for number in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + GRACE_S
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        while found and time.monotonic() < until:
            time.sleep(POLL_S)
            found = _left(folder)
    return n_found


def _left(folder: Path) -> list[int]:
    """The processes of a run, looked for twice: one that is just being started has no environment yet."""
    found = processes_of(folder)
    if not found:
        time.sleep(POLL_S)
        found = processes_of(folder)
    return found


def processes_of(folder: Path) -> list[int]:
    """The processes that run with this folder for the collectors; those that have ended have no environment."""
    told = b"TRACEVIEW_DIR=" + os.fsencode(folder)
    found = []
    for path in PROCESSES.glob("[0-9]*/environ"):
        with suppress(OSError):
            if told in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return sorted(found)


LAST_LINES = 3
"""Lines of the output of a run that failed, as its reason."""
TAIL_BYTES = 16384
MOST_BYTES = 1_000_000
"""Maximum size of the kept end of a run's output; there are many runs."""
CHUNK_BYTES = 1 << 18
MOST_WHILE_IT_RUNS = 16_000_000
"""Above which the beginning is dropped while the command still runs."""
NUMBERED = re.compile(r"run-(\d{1,9})\.txt", re.ASCII)
FIRST_FAILURE = re.compile(r"Root Cause \(first.{0,200}?rank\s*: (\d+).{0,200}?exitcode\s*: (-?\d+)", re.DOTALL)
"""Line at torchrun's end that names the process that failed first."""


@contextmanager
def bounded(log: Path) -> Iterator[IO[bytes]]:
    """A pipe for the output of one run, the end of which is kept in the file `log`; an earlier one's is replaced."""
    file = _opened(log, "w+b")
    reading, writing = os.pipe()
    copying = threading.Thread(target=_keep_end, args=(reading, file), daemon=True)
    copying.start()
    try:
        with os.fdopen(writing, "wb", buffering=0) as output:
            yield output
    finally:
        # A process that outlives the run may still hold the pipe.
        copying.join(GRACE_S)


def next_log(folder: Path) -> Path:
    """Return the name of the next run's output, behind those that are there."""
    numbers = [int(match[1]) for path in folder.glob("run-*.txt") if (match := NUMBERED.fullmatch(path.name))]
    return folder / f"run-{max(numbers, default=0) + 1:03}.txt"


def _opened(log: Path, mode: str) -> IO[bytes]:
    """Open a file of the folder `output` of results; neither it nor its folder may be a link."""
    return inside.opened(log.parent.parent, f"{log.parent.name}/{log.name}", mode)


def _keep_end(reading: int, file: IO[bytes]) -> None:
    """Copy what comes into the file, and drop its beginning whenever there is too much; in the end say how much."""
    gone = 0
    # The disk may be full, then and when the file is closed; the command goes on.
    with suppress(OSError), os.fdopen(reading, "rb", buffering=0) as output, file:
        while some := output.read(CHUNK_BYTES):
            with suppress(OSError):
                file.write(some)
                file.flush()
                if file.tell() > MOST_WHILE_IT_RUNS:
                    gone += _shorten(file, TAIL_BYTES)
        gone += _shorten(file, MOST_BYTES)
        if gone:
            _rewrite(file, b"[the first %d bytes are left out]\n" % gone + _end(file, MOST_BYTES))


def _shorten(file: IO[bytes], most: int) -> int:
    """Keep the end alone of what is longer; the number of bytes that are gone."""
    end = _end(file, most)
    gone = file.tell() - len(end)
    if gone:
        _rewrite(file, end)
    return gone


def _rewrite(file: IO[bytes], content: bytes) -> None:
    file.seek(0)
    file.write(content)
    file.truncate()


def _end(file: IO[bytes], most: int) -> bytes:
    """The last bytes of an open file."""
    file.seek(max(0, file.seek(0, 2) - most))
    return file.read(most)


def tail(log: Path) -> list[str]:
    """The last lines of the output; where torchrun started it, which rank failed first, and its last line."""
    try:
        with _opened(log, "rb") as file:
            text = _end(file, TAIL_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    lines = text.splitlines()
    first = FIRST_FAILURE.search(text)
    if first:
        own = [line for line in lines if line.startswith(f"[rank{first[1]}]:") and line[9:].strip()]
        return [f"rank {first[1]} ended first, with exit code {first[2]}", *(line.strip()[:200] for line in own[-1:])]
    return [line.strip()[:200] for line in lines if line.strip()][-LAST_LINES:]
