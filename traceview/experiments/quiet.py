"""Whether the machine was too busy to tell: the share of the cores that other programs took during a run.

Invariant: where the system does not count (no /proc/stat), the answer is None and not "quiet".
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

QUIET_PCT = 10.0
"""Above this share of other programs' CPU time, wall times are not trusted."""
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


def others_pct(begin: Moment, end: Moment) -> float | None:
    """The share of the cores that other programs took in between; children count as ours once they have ended."""
    if begin.busy_s is None or end.busy_s is None or end.wall_s <= begin.wall_s:
        return None
    others = (end.busy_s - begin.busy_s) - (end.own_s - begin.own_s)
    return 100 * max(others, 0.0) / ((end.wall_s - begin.wall_s) * n_cores())


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
            user, nice, system, _, _, interrupts, soft, *_ = map(int, values)
            ticks += user + nice + system + interrupts + soft
    return ticks / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """Seconds of processor time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
