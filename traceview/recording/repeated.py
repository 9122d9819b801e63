"""Captures of a run that is recorded more than once, taken in while it runs: a folder `step-NNNNNN` for each."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from traceview.errors import TraceviewError
from traceview.recording import messages
from traceview.recording.harvest import clear, harvest, recorded_ranks
from traceview.recording.launch import Run

REQUEST = ".request"
"""File in `raw/` that the processes of the run look at after each step: touched, it asks for a recording."""


class Repeated:
    """Takes in the recordings of a run, and removes the oldest beyond `keep`."""

    def __init__(self, run: Run, started_ns: int, keep: int) -> None:
        self.run, self.started_ns, self.keep = run, started_ns, keep
        self.seen: set[Path] = set()
        self.captures: list[Path] = []

    def take_in(self, exit_code: int | None = None) -> None:
        """Convert what is whole by now; at the end of the command, whose exit code is given, all there is."""
        for place in sorted(self.run.capture.glob("step-*")):
            if place in self.seen or not (exit_code is not None or _is_whole(place / "raw")):
                continue
            self.seen.add(place)
            try:
                if harvest(replace(self.run, capture=place), self.started_ns, exit_code):
                    self.captures.append(place)
            except (OSError, TraceviewError) as error:
                self.run.say(messages.unconverted(place / "raw", error))
        while len(self.captures) > self.keep:
            shutil.rmtree(self.captures.pop(0), ignore_errors=True)

    def finish(self, exit_code: int) -> bool:
        """Take in the rest at the end of the command; whether there is a capture. Says why where there is none."""
        self.take_in(exit_code)
        if not self.seen:
            return harvest(self.run, self.started_ns, exit_code)
        clear(self.run.capture / "raw")
        return bool(self.captures)


def _is_whole(raw: Path) -> bool:
    """Whether every process of the job is there, with the steps after its recording timed."""
    ranks = recorded_ranks(raw)
    n_expected = max((rank.get("world_size") or 1 for rank in ranks), default=1)
    return len(ranks) >= n_expected and all(rank.get("watched") for rank in ranks)


@contextmanager
def on_signal(run: Run) -> Iterator[None]:
    """Have SIGUSR1 ask the run for a recording."""
    before = signal.signal(signal.SIGUSR1, lambda number, frame: (run.capture / "raw" / REQUEST).touch())
    run.say(f"kill -USR1 {os.getpid()} records {run.options['steps']} steps")
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)
