"""Whether the machine was too busy to tell: the share of the cores that other programs took during a run.

What a hypervisor gave to others is taken too.

Invariant: where the system does not count (no /proc/stat), the answer is None and not "quiet".
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

QUIET_PCT = 10.0
"""Above this share of other programs' CPU time, wall times are not trusted."""
LEAST_WINDOW_S = 0.3
"""Shorter times are counted too coarsely: a tick of the system's clock is 10 ms."""
STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Moment:
    """Usage at a moment: wall time, and seconds of processor time of everything and of what is ours."""

    wall_s: float
    busy_s: float | None
    own_s: float


def now() -> Moment:
    """The beginning or the end of a run."""
    return Moment(time.monotonic(), busy_s(), own_s())


def others_pct(begin: Moment, end: Moment, cores: int | None = None) -> float | None:
    """The share of the cores that other programs took in between; children count as ours once they have ended."""
    if begin.busy_s is None or end.busy_s is None or end.wall_s <= begin.wall_s:
        return None
    others = (end.busy_s - begin.busy_s) - (end.own_s - begin.own_s)
    return 100 * max(others, 0.0) / ((end.wall_s - begin.wall_s) * (cores or n_cores()))


def beside(begin: Moment, worker_s: float) -> float | None:
    """The share that other programs took since then, beside a worker that has not ended and took `worker_s`."""
    return None if begin.busy_s is None else others_pct(replace(begin, busy_s=begin.busy_s + worker_s), now())


def within(window: Any) -> float | None:
    """The share that others took while steps were timed, as a process noted it (`processor.moment` of the collectors);
    None where it could not, or for too short a time."""
    try:
        begin, end = (Moment(float(at["wall_s"]), float(at["busy_s"]), float(at["own_s"])) for at in window)
        cores = int(window[1]["cores"])
    except (TypeError, ValueError, KeyError):
        return None
    if end.wall_s - begin.wall_s < LEAST_WINDOW_S or cores < 1:
        return None
    return others_pct(begin, end, cores)


def is_quiet(share_pct: float | None) -> bool:
    """Whether wall times of that run can be believed."""
    return share_pct is None or share_pct < QUIET_PCT


def n_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy_s(stat: Path = STAT) -> float | None:
    """Seconds in which the cores that this process may use were busy, with anything; None where nobody counts."""
    try:
        lines = stat.read_text(encoding="ascii").splitlines()
        mine = os.sched_getaffinity(0)
    except (OSError, AttributeError):
        return None
    ticks = 0
    for line in lines:
        name, *values = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in mine:
            user, nice, system, _, _, interrupts, soft, stolen, *_ = map(int, values)
            ticks += user + nice + system + interrupts + soft + stolen
    return ticks / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
