"""What does not fit on a track: found batch by batch as it is all at once, with only what is open kept."""

from __future__ import annotations

import numpy as np
import pytest

from traceview.analysis.lanes import Lanes
from traceview.ingest.derive.nesting import Ints, Spans


def _spans(rows: list[tuple[int, int, int]]) -> Spans:
    """(thread, start, end), numbered in their order."""
    thread, start, end = np.array(sorted(rows, key=lambda row: (row[0], row[1], -row[2])), np.int64).T
    return Spans(np.arange(1, len(thread) + 1), thread, start, end)


def _laid_out(spans: Spans, nests: Ints, batch: int) -> dict[int, int]:
    lanes, found = Lanes(), {}
    for at in range(0, len(spans), batch):
        rows = slice(at, at + batch)
        some = Spans(spans.id[rows], spans.thread[rows], spans.start[rows], spans.end[rows])
        numbers, places = lanes.add(some, nests[rows])
        found.update(zip(numbers.tolist(), places.tolist(), strict=True))
    return found


def test_what_crosses_its_caller_stands_on_a_further_track() -> None:
    spans = _spans([(0, 0, 100), (0, 10, 120), (0, 20, 30), (0, 125, 130)])
    # 10 to 120 crosses; what lies in both, and what follows, fits without it.
    assert _laid_out(spans, np.ones(4, np.bool_), 4) == {2: 1}


def test_where_nothing_nests_what_overlaps_stands_on_further_tracks() -> None:
    spans = _spans([(0, 0, 100), (0, 10, 90), (0, 20, 30), (0, 95, 130)])
    assert _laid_out(spans, np.zeros(4, np.bool_), 4) == {2: 1, 3: 2, 4: 2}


@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("seed", range(6))
def test_batches_make_no_difference(batch: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    starts = random.integers(0, 400, 300)
    # Some last so long that many batches begin inside of them.
    ends = starts + random.choice([0, 1, 3, 9, 25, 300], 300)
    threads = random.integers(0, 3, 300)
    spans = _spans(list(zip(threads.tolist(), starts.tolist(), ends.tolist(), strict=True)))
    nests = spans.thread != 1
    whole = _laid_out(spans, nests, 300)
    assert _laid_out(spans, nests, batch) == whole
    assert 0 < len(whole) < 300
    _no_overlap(spans, nests, whole)


def _no_overlap(spans: Spans, nests: Ints, lanes: dict[int, int]) -> None:
    for one in range(len(spans)):
        for two in range(one + 1, len(spans)):
            same = lanes.get(one + 1, 0) == lanes.get(two + 1, 0) and spans.thread[one] == spans.thread[two]
            if same and spans.start[two] < spans.end[one]:
                is_first = lanes.get(one + 1, 0) == 0
                assert nests[one] and is_first and spans.end[two] <= spans.end[one], (one, two)
