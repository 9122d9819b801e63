"""Nesting by array operations agrees with the definition, worked out one span at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from traceview.ingest.derive import nesting
from traceview.ingest.derive.nesting import Spans


def spans(rows: list[tuple[int, int, int]]) -> Spans:
    """From (thread, start, end), in the order the module wants."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i][0], rows[i][1], -rows[i][2], i))
    columns = np.array([[i, *rows[i]] for i in order], np.int64).reshape(-1, 4).T
    return Spans(columns[0], columns[1], columns[2], columns[3])


def naive_parent(found: Spans, child: int) -> int:
    start, end = found.start[child], found.end[child]
    for other in range(child - 1, -1, -1):
        shared = found.end[other] - start
        if found.thread[other] == found.thread[child] and shared > 0 and shared >= end - found.end[other]:
            return other
    return -1


def naive_innermost(found: Spans, thread: int, time: int) -> int:
    for other in range(len(found) - 1, -1, -1):
        if found.thread[other] == thread and found.start[other] <= time <= found.end[other]:
            return other
    return -1


def random_spans(seed: int, properly_nested: bool) -> Spans:
    rng = random.Random(seed)
    rows: list[tuple[int, int, int]] = []

    def grow(thread: int, start: int, end: int, depth: int) -> None:
        at = start
        while at < end and len(rows) < 300:
            stop = rng.randint(at, end)
            slip = 0 if properly_nested else rng.choice([0, 0, 0, 1, 5])
            rows.append((thread, at, stop + slip))
            if depth < 6:
                grow(thread, at, stop, depth + 1)
            at = stop + rng.randint(0, 3)

    for thread in range(3):
        grow(thread, 0, 200, 0)
    rng.shuffle(rows)
    return spans(rows)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("properly_nested", [True, False])
@pytest.mark.parametrize("rounds", [0, 1, nesting.ROUNDS])
def test_agrees_with_the_definition(
    monkeypatch: pytest.MonkeyPatch, seed: int, properly_nested: bool, rounds: int
) -> None:
    monkeypatch.setattr(nesting, "ROUNDS", rounds)
    found = random_spans(seed, properly_nested)
    assert found.parent.tolist() == [naive_parent(found, i) for i in range(len(found))]
    thread = np.array([t for t in range(4) for _ in range(210)])
    time = np.array([t for _ in range(4) for t in range(210)])
    expected = [naive_innermost(found, a, b) for a, b in zip(thread.tolist(), time.tolist(), strict=True)]
    assert found.innermost(thread, time).tolist() == expected


@pytest.mark.parametrize("origin", [-(1 << 61), 0, 1 << 61])
def test_times_however_far_apart_are_looked_up(origin: int) -> None:
    found = spans([(1, 0, 100), (1, 10, 60), (5, origin, origin + 50)])
    thread, time = np.array([1, 1, 5, 5, 2]), np.array([50, 70, origin + 50, origin + 51, 50])
    expected = [naive_innermost(found, a, b) for a, b in zip(thread.tolist(), time.tolist(), strict=True)]
    assert found.innermost(thread, time).tolist() == expected


def test_depth_self_time_and_inheritance() -> None:
    #        0: [0, 100]   1: [10, 60]   2: [20, 30]   3: [70, 80]   4 on another thread
    found = spans([(0, 0, 100), (0, 10, 60), (0, 20, 30), (0, 70, 80), (1, 10, 60)])
    assert found.parent.tolist() == [-1, 0, 1, 0, -1]
    assert found.depth.tolist() == [0, 1, 2, 1, 0]
    assert found.self_time().tolist() == [40, 40, 10, 10, 50]
    assert found.inherit(np.array([7, -1, -1, 9, -1])).tolist() == [7, 7, 7, 9, -1]


def test_siblings_that_touch_are_no_children() -> None:
    assert spans([(0, 0, 10), (0, 10, 20), (0, 20, 20)]).parent.tolist() == [-1, -1, -1]


def test_a_span_that_is_mostly_behind_another_one_follows_it() -> None:
    """Rounding makes neighbours overlap, and lets a child outlive its parent by as little."""
    #                1: behind 0       2: in 1           3: in 1, and longer
    found = spans([(0, 0, 10_001), (0, 10_000, 30_000), (0, 12_000, 15_000), (0, 29_000, 30_001)])
    assert found.parent.tolist() == [-1, -1, 1, 1]
    assert found.self_time().tolist() == [10_001, 15_999, 3000, 1001]
    assert spans([(0, 0, 2), (0, 1, 3), (0, 2, 4)]).parent.tolist() == [-1, 0, 1]


def test_a_million_siblings_take_few_rounds() -> None:
    count = 1_000_000
    start = np.arange(count) * 10
    found = Spans(np.arange(count), np.zeros(count, np.int64), start, start + 10)
    assert (found.parent == -1).all()


def test_spans_nested_as_deep_as_there_are_spans_take_few_rounds() -> None:
    count = 300_000
    place = np.arange(count)
    found = Spans(place + 1, np.zeros(count, np.int64), place, 2 * count - place)
    assert (found.parent == place - 1).all() and (found.depth == place).all()
    own = np.full(count, -1)
    own[[0, 200_000]] = (7, 9)
    assert (found.inherit(own) == np.where(place < 200_000, 7, 9)).all()
    late = 2 * count - np.array([count // 2, 0, -1])
    assert found.innermost(np.zeros(3, np.int64), late).tolist() == [count // 2, 0, -1]


def test_many_spans_behind_deep_ones_take_few_rounds() -> None:
    """Deep nests that have ended, and as many spans and moments behind them: one by one they would be all of them."""
    deep, count = 100_000, 100_000
    place, behind = np.arange(deep), 2 * deep + 10 * np.arange(count)
    start, end = np.concatenate([place, behind]), np.concatenate([2 * deep - place, behind + 10])
    found = Spans(np.arange(deep + count), np.zeros(deep + count, np.int64), start, end)
    assert (found.parent == np.where(start < deep, start - 1, -1)).all()
    inside, later = behind + 5, np.full(count, 2 * deep + 10 * count + 1)
    thread = np.zeros(2 * count, np.int64)
    expected = np.concatenate([deep + np.arange(count), np.full(count, -1)])
    assert (found.innermost(thread, np.concatenate([inside, later])) == expected).all()


def test_depth_and_inheritance_agree_with_a_walk_up() -> None:
    chance = random.Random(3)
    found = spans(
        [(chance.randrange(2), start, start + chance.randrange(60)) for start in chance.choices(range(200), k=300)]
    )
    own = np.array([chance.choice((-1, -1, -1, place)) for place in range(len(found))])
    inherited = found.inherit(own)
    for place in range(len(found)):
        above = [place]
        while found.parent[above[-1]] >= 0:
            above.append(int(found.parent[above[-1]]))
        assert found.depth[place] == len(above) - 1
        assert inherited[place] == next((own[at] for at in above if own[at] >= 0), -1)


def test_nothing_at_all() -> None:
    found = spans([])
    assert found.parent.tolist() == [] and found.innermost(np.array([0]), np.array([5])).tolist() == [-1]
