"""Damages traces for a given time and reports every way in which traceview breaks its promise.

    python benchmarks/fuzz.py [SECONDS] [--seed N] [--jobs N] [--traces FOLDER ...] [--keep FOLDER]

The promise: any input ends in a capture that opens and whose overview runs, or in a refusal of one sentence; never a
traceback, never more than 10 seconds of processor time (30 where every report runs), never more than 3 GB, never a file
left behind.

Samples, seeds of tests/seeds.py and small public traces (where ../shared/traces exists) of every format are damaged in
turn, in workers that convert many each, now and then through the command line as a user would; now and then a capture
is damaged. It is guided by coverage: a damaged file that reaches lines of traceview which none before it reached is
damaged further. What broke is kept, to become a seed or a test.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import itertools
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from capture_mutations import mutate_capture  # noqa: E402
from mutations import SAMPLES, mutant, originals  # noqa: E402
from promises import capture_trouble, trouble  # noqa: E402
from seeds import seeds  # noqa: E402

from traceview import readers, store  # noqa: E402
from traceview.decode.files import peek  # noqa: E402
from traceview.errors import InputError  # noqa: E402

SHARED = ROOT.parent / "shared" / "traces"
LIMIT_SECONDS = 10
ALL_SECONDS = 30
"""Time limit of a case of which every report is run, some thirty of them."""
LIMIT_BYTES = 3 << 30
STOP_BYTES = 12 << 30
"""Address space of a worker: what asks for more gets a MemoryError instead of the whole machine."""
LARGEST = 300_000
"""Public traces of up to this many bytes are damaged: a larger one takes too long each time."""
COMMAND_LINE_EVERY = 50
REPORTS_EVERY = 5
CAPTURE_EVERY = 10
"""One of this many cases is a capture that is damaged."""
KILL_SECONDS = 60
OFTEN = 32
FURTHER = 0.4
"""Share of mutations that damage a file which has reached something new before."""


class Reached:
    """Lines of traceview that ran, over all of a worker's cases."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()
        self.calls: Counter[CodeType] = Counter()
        self.package = str(ROOT / "traceview")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(self.package):
            return None
        # Of what runs all the time only some runs are watched: line by line everything is slow.
        self.calls[frame.f_code] += 1
        return self._line if self.calls[frame.f_code] < OFTEN or not self.calls[frame.f_code] % OFTEN else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def by_format(files: list[Path]) -> dict[str, list[Path]]:
    """The traces of each reader: every format gets the same number of mutations, however many files it has."""
    found: dict[str, list[Path]] = {}
    for path in files:
        with contextlib.suppress(InputError):
            found.setdefault(readers.detect(peek(path)).NAME, []).append(path)
    return found


def work(arguments: argparse.Namespace, formats: list[list[Path]]) -> None:
    """A worker: says on stdout what it is at, so that a crash or a hang has a name, then what was wrong with it."""
    folder, scratch = arguments.work, arguments.work / "tmp"
    scratch.mkdir()
    tempfile.tempdir = str(scratch)
    resource.setrlimit(resource.RLIMIT_AS, (STOP_BYTES, STOP_BYTES))
    reached = Reached()
    further: dict[int, list[bytes]] = {}
    for number in itertools.count(arguments.first, arguments.jobs):
        if time.time() > arguments.until:
            return
        dice = random.Random(~number)
        files, found_new = formats[number % len(formats)], further.setdefault(number % len(formats), [])
        path = dice.choices(files, [path.stat().st_size ** -0.5 for path in files])[0]
        goes_on = found_new and dice.random() < FURTHER
        data = mutant(dice.choice(found_new) if goes_on else path.read_bytes(), number)
        print(f"at {number} {path.name}", flush=True)
        n_lines, started = len(reached.lines), _processor_seconds()
        every_report = number % REPORTS_EVERY == 0
        if number % COMMAND_LINE_EVERY == 0:
            found = command_trouble(data, folder)
        elif number % CAPTURE_EVERY == CAPTURE_EVERY // 2:
            with reached.watching():
                found = damaged_capture_trouble(path, folder, number)
        else:
            with reached.watching():
                found = trouble(data, folder, every_report)
        seconds = _processor_seconds() - started
        if len(reached.lines) > n_lines:
            found_new.append(data)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        if seconds > (ALL_SECONDS if every_report else LIMIT_SECONDS):
            found = f"{found or ''}\ntook {seconds:.1f} s"
        if peak > LIMIT_BYTES:
            found = f"{found or ''}\ntook {peak >> 20} MB"
        if found:
            _keep(arguments.keep, path, number, data)
        print(f"{'bad' if found else 'ok'} {number} {seconds:.2f} {(found or '')!r}", flush=True)
        if peak > LIMIT_BYTES:
            return


def _keep(folder: Path, path: Path, number: int, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{path.name.split('.')[0]}-{number}").write_bytes(data)


def _processor_seconds() -> float:
    """Return the processor time of this process and the commands it ran: a busy machine makes nothing look slow."""
    return sum(os.times()[:4])


def command_trouble(data: bytes, folder: Path) -> str | None:
    """Find trouble through the command line: convert with the cache beside the file, and report."""
    place = folder / "cli"
    place.mkdir()
    try:
        (place / "trace").write_bytes(data)
        command = [sys.executable, "-m", "traceview", "report", str(place / "trace")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")}
        try:
            done = subprocess.run(command, capture_output=True, timeout=KILL_SECONDS, env=environment, cwd=place)
        except subprocess.TimeoutExpired:
            return f"the command took more than {KILL_SECONDS} s"
        text = done.stderr.decode("utf-8", "replace")
        if done.returncode not in (0, 3) or "Traceback" in text or "unexpected" in text:
            return f"exit code {done.returncode}: {text}"
        left = {path.name for path in place.iterdir()} - {"trace", *(() if done.returncode else ("trace.traceview",))}
        return f"left behind: {sorted(left)}" if left else None
    finally:
        shutil.rmtree(place, ignore_errors=True)


def damaged_capture_trouble(trace: Path, folder: Path, number: int) -> str | None:
    """Damage the capture of a whole trace, once it has been reported, and report it again."""
    capture, cache = folder / "whole", Path(os.environ["XDG_CACHE_HOME"])
    try:
        store.convert([trace], capture)
        found = capture_trouble(capture)
        if found:
            return f"of a whole capture: {found}"
        how = mutate_capture(capture, cache / "traceview" / "materialized", number)
        found = capture_trouble(capture)
        return f"{found}\n{how}" if found else None
    except InputError:
        return None
    finally:
        shutil.rmtree(capture, ignore_errors=True)
        shutil.rmtree(cache, ignore_errors=True)


@dataclass
class Tally:
    """Results so far."""

    run: list[int] = field(default_factory=list)
    slowest: float = 0.0
    bad: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, line: str) -> None:
        """Take one line that a worker has printed."""
        word, number, *rest = line.split(" ", 3)
        if word == "at":
            self.names[int(number)] = " ".join(rest)
        elif word in ("ok", "bad"):
            self.run.append(int(number))
            self.slowest = max(self.slowest, float(rest[0]))
        if word == "bad":
            self.bad[int(number)] = str(ast.literal_eval(rest[1]))


def watch(arguments: argparse.Namespace, tally: Tally) -> None:
    """Run the workers until the time is over; one that crashes or hangs is a finding and is started again."""
    until = time.time() + arguments.seconds
    running: dict[int, tuple[subprocess.Popen[bytes], Path, Path]] = {}
    ahead = dict.fromkeys(range(arguments.jobs), 0)
    try:
        while time.time() < until or running:
            for slot in ahead:
                if slot not in running and time.time() < until:
                    running[slot] = _start(arguments, until, arguments.seed + slot + ahead[slot] * arguments.jobs)
            time.sleep(0.2)
            for slot, (process, folder, log) in list(running.items()):
                hangs = time.time() - log.stat().st_mtime > arguments.patience
                if process.poll() is None and not hangs:
                    continue
                process.kill()
                process.wait()
                ahead[slot] += _close(arguments, tally, process.returncode, hangs, log)
                shutil.rmtree(folder, ignore_errors=True)
                del running[slot]
    finally:
        for process, folder, _ in running.values():
            process.kill()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)


def _start(arguments: argparse.Namespace, until: float, first: int) -> tuple[subprocess.Popen[bytes], Path, Path]:
    folder = Path(tempfile.mkdtemp(prefix="traceview-fuzz-"))
    log, place = folder / "log", folder / "work"
    place.mkdir()
    command = [sys.executable, __file__, "--work", str(place), "--first", str(first), "--until", str(until)]
    command += ["--jobs", str(arguments.jobs), "--keep", str(arguments.keep)]
    command += ["--traces", *map(str, arguments.traces)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    return process, folder, log


def _close(arguments: argparse.Namespace, tally: Tally, code: int, hangs: bool, log: Path) -> int:
    """Count what a worker did; returns how many files that was."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    begun = [int(line.split()[1]) for line in lines if line.startswith("at ")]
    for line in lines:
        with contextlib.suppress(ValueError, IndexError, SyntaxError):
            tally.add(line)
    if code or hangs:
        tail = "\n".join(line for line in lines[-20:] if not line.startswith(("ok ", "at ")))
        if not begun:
            raise SystemExit(f"a worker cannot start:\n{tail}")
        tally.bad[begun[-1]] = f"{tail}\n{'hung' if hangs else f'the process ended with code {code}'}"
        trace = log.parent / "work" / "trace"
        if trace.exists():
            _keep(arguments.keep, Path(tally.names[begun[-1]]), begun[-1], trace.read_bytes())
    return len(begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("--seed", type=int, default=None, help="the first mutation (default: by the clock)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--traces", type=Path, nargs="+", default=[SAMPLES, SHARED])
    parser.add_argument(
        "--patience", type=float, default=KILL_SECONDS, help="seconds after which a silent worker hangs"
    )
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "traceview-findings")
    for name, kind in (("--work", Path), ("--first", int), ("--until", float)):
        parser.add_argument(name, type=kind, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = int(time.time()) * 1000
    with tempfile.TemporaryDirectory(prefix="traceview-seeds-") as place:
        files = [path for folder in arguments.traces if folder.is_dir() for path in originals(folder, LARGEST)]
        files += seeds(Path(place))
        formats = by_format(files)
        if arguments.work:
            work(arguments, list(formats.values()))
            return 0
    tally = Tally()
    watch(arguments, tally)
    of = f"{len(files)} traces of {len(formats)} formats"
    print(f"{len(tally.run)} mutations of {of} from seed {arguments.seed}; slowest {tally.slowest:.1f} s")
    counts = Counter(list(formats)[number % len(formats)] for number in tally.run)
    print(", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
    endings = Counter(text.strip().splitlines()[-1][:200] for text in tally.bad.values())
    for number, text in tally.bad.items():
        ending = text.strip().splitlines()[-1][:200]
        if endings[ending]:
            print(f"\n{endings.pop(ending)} times, first {tally.names.get(number)}, number {number}\n{text.strip()}")
    print(f"What broke is kept in {arguments.keep}." if tally.bad else "Nothing broke.")
    return 1 if tally.bad else 0


if __name__ == "__main__":
    sys.exit(main())
