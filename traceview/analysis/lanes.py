"""Which slices do not fit on their track, and on which further one each stands.

Invariant: slices come in batches, by track, start, longest first; kept from one batch to the next are only those that
are still open and when each further track is free. So memory is that of a batch and of what is open at one time.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints, Spans

ROUNDS = 8
"""Times that a track is looked at again without what did not fit; what still does not goes too."""
FITS = ROUNDS + 1
"""The round in which a span that fits was taken away."""


class Lanes:
    """Lays out one batch after the other."""

    def __init__(self) -> None:
        none = np.empty(0, np.int64)
        self._open, self._gone = Spans(none, none, none, none), none
        self._thread = -1
        self._free: list[tuple[int, int]] = []
        """When each further track of the thread is free, and its number."""

    def add(self, spans: Spans, nests: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """The numbers of the spans of a batch that need a further track, and which one, from 1.

        On a track where calls nest, that is one which lies only partly inside another; elsewhere one that overlaps.
        """
        if not len(spans):
            return spans.id, spans.id
        before = len(self._open)
        both = Spans(
            np.concatenate([self._open.id, spans.id]),
            np.concatenate([self._open.thread, spans.thread]),
            np.concatenate([self._open.start, spans.start]),
            np.concatenate([self._open.end, spans.end]),
        )
        gone = np.concatenate([self._gone, np.full(len(spans), FITS)])
        _take_away(both, np.concatenate([np.ones(before, np.bool_), nests]), gone, before)
        self._keep(both, gone)
        rows = np.flatnonzero(gone[before:] < FITS)
        return spans.id[rows], self._packed(spans, rows)

    def _keep(self, spans: Spans, gone: Ints) -> None:
        """What a later span may lie inside: what has not ended where the last one begins, or began with it."""
        rows = np.flatnonzero((spans.thread == spans.thread[-1]) & (spans.end > spans.start[-1]))
        self._open, self._gone = _some(spans, rows), gone[rows]

    def _packed(self, spans: Spans, rows: Ints) -> Ints:
        """Each takes the further track that is free first, so that none overlap there.

        A loop over what does not fit, which is little in real traces; a million of them take a second.
        """
        lanes = np.empty(len(rows), np.int64)
        for at, row in enumerate(rows.tolist()):
            if spans.thread[row] != self._thread:
                self._thread, self._free = int(spans.thread[row]), []
            start, end = int(spans.start[row]), int(spans.end[row])
            if self._free and self._free[0][0] <= start:
                lanes[at] = self._free[0][1]
                heapq.heapreplace(self._free, (end, int(lanes[at])))
            else:
                lanes[at] = len(self._free) + 1
                heapq.heappush(self._free, (end, int(lanes[at])))
        return lanes


def _take_away(spans: Spans, nests: NDArray[np.bool_], gone: Ints, before: int) -> None:
    """Note in `gone` the round in which each span is found not to fit; those of earlier batches have theirs.

    What overlaps a span that itself does not fit may fit without it: so the track is looked at again.
    """
    is_new = np.arange(len(spans)) >= before
    for turn in range(ROUNDS):
        left = np.flatnonzero(gone >= turn)
        some = _some(spans, left)
        wrong = is_new[left] & (some.parent >= 0) & (~nests[left] | (some.end > some.end[some.parent]))
        gone[left[wrong]] = turn
        if not wrong.any() and not (gone[:before][gone[:before] < FITS] >= turn).any():
            return
    left = np.flatnonzero(gone >= ROUNDS)
    inside = is_new[left] & (_some(spans, left).parent >= 0)
    gone[left[inside]] = ROUNDS


def _some(spans: Spans, rows: Ints) -> Spans:
    return Spans(spans.id[rows], spans.thread[rows], spans.start[rows], spans.end[rows])
