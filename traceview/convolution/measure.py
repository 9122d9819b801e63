"""How convolutions are measured: in turns, by wall and processor time, with the memory that a profiler saw.

It runs in the Python of the user, where traceview may be absent.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import torch

Item = TypeVar("Item")


class Spent(NamedTuple):
    """Times of a run in nanoseconds; those of the processor are of all threads."""

    wall_ns: int
    cpu_ns: int


def turns(items: Sequence[Item], n: int) -> Iterator[Item]:
    """Yield every item n times, every second turn in the opposite order: a drift of the machine meets all alike."""
    for turn in range(n):
        yield from items if turn % 2 == 0 else reversed(items)


def timed(work: Callable[[], Any], device: str = "cpu") -> tuple[Spent, Any]:
    """Run something until the device has finished; return its times and its result."""
    begin, begin_cpu = time.perf_counter_ns(), time.process_time_ns()
    result = work()
    if device != "cpu":
        torch.cuda.synchronize()
    return Spent(time.perf_counter_ns() - begin, time.process_time_ns() - begin_cpu), result


def load_ns(spent: Spent, device: str = "cpu", threads: int = 1) -> int:
    """Return the time that tells slow from fast whatever else runs: of the processor where one thread works."""
    return spent.cpu_ns if device == "cpu" and threads == 1 else spent.wall_ns


def profiled(work: Callable[[], Any], device: str = "cpu") -> tuple[Any, Any]:
    """Run something under PyTorch's profiler; return its result and the profile."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    if device != "cpu":
        kinds.append(torch.profiler.ProfilerActivity.CUDA)
    # What the collector of cycles frees in between is not the run's.
    gc.disable()
    try:
        with torch.profiler.profile(activities=kinds, profile_memory=True) as profile:
            result = work()
    finally:
        gc.enable()
    return result, profile


def most_allocated(profile: Any) -> int:
    """Return the most bytes that PyTorch held at any time of a profile beyond what it had before.

    Raises `AttributeError` where a PyTorch does not tell.
    """
    events = profile.profiler.kineto_results.events()
    held = most = 0
    for _, change in sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]"):
        held += change
        most = max(most, held)
    return most


def names(profile: Any) -> list[str]:
    """Return the operators and kernels of a profile, each once, in order."""
    return list(dict.fromkeys(event.name for event in profile.events()))


@contextmanager
def printed() -> Iterator[list[str]]:
    """Collect the lines that libraries print on stdout; they are there when the context has ended."""
    lines: list[str] = []
    with tempfile.TemporaryFile() as file:
        _flush()
        before = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            _flush()
            os.dup2(before, 1)
            os.close(before)
            file.seek(0)
            lines += file.read().decode(errors="replace").splitlines()


def _flush() -> None:
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
