"""Which span is inside which, for millions of spans at once.

The one law: a span's parent is the latest-started span before it on its thread that is still open when it starts, so
the answer is exact also where rounding lets a child outlive its parent. Everything is array operations: pointers jump
along chains of spans that have ended, so the number of rounds grows with the logarithm of the number of siblings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
LARGEST = 1 << 63
SLICE = 1 << 20


@dataclass(frozen=True)
class Spans:
    """Spans sorted by thread, start, longest first, id. All arrays have one entry per span; times in nanoseconds."""

    id: Ints
    thread: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.id)

    def slices(self) -> list[slice]:
        """Slices that together are all spans, each of so few that a dozen columns about them take little room."""
        return [slice(start, start + SLICE) for start in range(0, len(self), SLICE)]

    @cached_property
    def parent(self) -> Ints:
        """Index of the span around each one, -1 for none."""
        count = len(self)
        found = np.arange(-1, count - 1)
        if count:
            found[np.flatnonzero(np.diff(self.thread, prepend=self.thread[0] - 1))] = -1
        open_ = np.flatnonzero(found >= 0)
        while len(open_):
            # Everything between a span and its (preliminary) parent had ended when the span began: skip it at once.
            open_ = open_[self.end[found[open_]] <= self.start[open_]]
            found[open_] = found[found[open_]]
            open_ = open_[found[open_] >= 0]
        return found

    @cached_property
    def depth(self) -> Ints:
        """Number of spans around each one."""
        depth = (self.parent >= 0).astype(np.int64)
        above = self.parent.copy()
        open_ = np.flatnonzero(above >= 0)
        while len(open_):
            # Twice as far up in each round: a hostile trace nests as deep as it is long.
            depth[open_] += depth[above[open_]]
            above[open_] = above[above[open_]]
            open_ = open_[above[open_] >= 0]
        return depth

    def innermost(self, thread: Ints, time: Ints) -> Ints:
        """Index of the latest-started span with start <= time <= end on that thread, -1 for none."""
        found = self._last_started(thread, time)
        open_ = np.flatnonzero(found >= 0)
        while len(open_):
            open_ = open_[self.end[found[open_]] < time[open_]]
            found[open_] = self.parent[found[open_]]
            open_ = open_[found[open_] >= 0]
        return found

    def _last_started(self, thread: Ints, time: Ints) -> Ints:
        count = len(self)
        if not count or not len(time):
            return np.full(len(time), -1, np.int64)
        first, last = min(self.start.min(), time.min()), max(self.start.max(), time.max())
        span = int(last) - int(first) + 1
        if span * (int(max(self.thread.max(), thread.max())) + 1) < LARGEST:
            order, sought = self.start - first, time - first
        else:
            # Times too far apart to put a thread's number before them: their ranks are not.
            both = np.unique(np.concatenate([self.start, time]), return_inverse=True)[1].astype(np.int64)
            order, sought, span = both[:count], both[count:], int(both.max()) + 1
        found = np.searchsorted(self.thread * span + order, thread * span + sought, side="right") - 1
        found[(found >= 0) & (self.thread[found] != thread)] = -1
        last_started: Ints = found.astype(np.int64)
        return last_started

    def inherit(self, own: Ints) -> Ints:
        """Give every span whose value is negative that of the nearest span around it that has one."""
        value, above = own.copy(), self.parent.copy()
        open_ = np.flatnonzero((value < 0) & (above >= 0))
        while len(open_):
            value[open_] = value[above[open_]]
            above[open_] = above[above[open_]]
            open_ = open_[(value[open_] < 0) & (above[open_] >= 0)]
        return value

    def self_time(self) -> Ints:
        """Duration minus that of the spans directly inside, in nanoseconds, never negative."""
        duration = self.end - self.start
        inside = self.parent >= 0
        children = np.zeros(len(self), np.int64)
        np.add.at(children, self.parent[inside], duration[inside])
        alone: Ints = np.maximum(duration - children, 0)
        return alone
