"""Which span is inside which, for millions of spans at once.

Invariant: a span's parent is the latest-started span before it on its thread that is open when it starts and lasts
until its middle, so the answer is exact also where rounding lets a child outlive its parent, or neighbours overlap.
Everything is array operations: pointers jump along chains of spans that have ended, so the number of rounds grows with
the logarithm of the number of siblings, and where they get long a tree is searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
LARGEST = 1 << 63
ROUNDS = 64
"""Steps from one span to the next after which a search begins: real traces need few, hostile ones as many as spans."""
SLICE = 1 << 18


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
        return self.open_until(np.maximum(self.start + 1, self.start + (self.end - self.start + 1) // 2))

    def open_until(self, until: Ints) -> Ints:
        """Index of the latest-started span before each one that ends then or later, -1 for none.

        `until` is behind the span's start, and not behind its end where it has a duration.
        """
        found = np.arange(-1, len(self) - 1)
        found[1:][self.thread[1:] != self.thread[:-1]] = -1
        for rows in self.slices():
            open_ = rows.start + np.flatnonzero(found[rows] >= 0)
            for _ in range(ROUNDS):
                # Everything between a span and its (preliminary) parent ends before the span does: skip it at once.
                open_ = open_[self.end[found[open_]] < until[open_]]
                found[open_] = found[found[open_]]
                open_ = open_[found[open_] >= 0]
                if not len(open_):
                    break
            else:
                found[open_] = self._last_open(found[open_], until[open_], self.thread[open_])
        return found

    @cached_property
    def depth(self) -> Ints:
        """Number of spans around each one."""
        depth = (self.parent >= 0).astype(np.int64)
        above = self.parent.copy()
        for rows in self.slices():
            open_ = rows.start + np.flatnonzero(above[rows] >= 0)
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
        for _ in range(ROUNDS):
            open_ = open_[self.end[found[open_]] < time[open_]]
            found[open_] = self.parent[found[open_]]
            open_ = open_[found[open_] >= 0]
            if not len(open_):
                return found
        found[open_] = self._last_open(found[open_], time[open_], thread[open_])
        return found

    def _last_open(self, last: Ints, until: Ints, thread: Ints) -> Ints:
        """Index of the last span, up to the index `last`, that ends at `until` or later on that thread, -1 for none.

        A search in a tree of the latest ends: as many rounds however deep spans nest or many follow each other.
        """
        latest = [self.end]
        while len(latest[-1]) > 1:
            even = np.append(latest[-1], latest[-1][-1:]) if len(latest[-1]) % 2 else latest[-1]
            latest.append(np.maximum(even[::2], even[1::2]))
        # Upwards: the blocks that lie before a place, the nearest and smallest first, until one holds such an end.
        found, height, before = np.full(len(last), -1), np.zeros(len(last), np.int64), last + 1
        for level, ends in enumerate(latest):
            at = np.flatnonzero((found < 0) & (before % 2 == 1))
            at = at[ends[before[at] - 1] >= until[at]]
            found[at], height[at] = before[at] - 1, level
            before //= 2
        # Downwards: the later half of a block, if it holds such an end.
        for level in range(len(latest) - 2, -1, -1):
            at = np.flatnonzero((found >= 0) & (height > level))
            later = np.minimum(2 * found[at] + 1, len(latest[level]) - 1)
            found[at] = np.where(latest[level][later] >= until[at], later, 2 * found[at])
        found[(found >= 0) & (self.thread[found] != thread)] = -1
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
