"""Tracks of an export: nothing overlaps on a stream, calls nest on a thread, and a choice is kept."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from asked import connected
from cases import first
from given import write
from jobs import Job
from timelines import EVENTS, event, opened, written

from traceview.analysis import timeline
from traceview.analysis.timeline import Lanes
from traceview.errors import UsageError
from traceview.ingest.derive.nesting import Ints, Spans

TRACKS = "SELECT name, thread, lane FROM export_named ORDER BY thread, lane, at_ns, dur_ns DESC"


@pytest.mark.slow
def test_what_overlaps_stands_on_a_further_track(tmp_path: Path) -> None:
    rows = opened(tmp_path, EVENTS).execute(TRACKS).fetchall()
    lanes = {name: lane for name, thread, lane in rows if thread in ("stream 1", "thread 7")}
    further = {name for name, lane in lanes.items() if lane}
    assert lanes["implicit_convolve_sgemm"] == 0 and len(further) == 2
    assert "crosses" in further and {lanes[name] for name in further} == {1}


@pytest.mark.long
def test_a_staircase_takes_two_further_tracks(tmp_path: Path) -> None:
    kernels = [event("kernel", f"k{n}", 5 * n, 10, 1, device=0, stream=1, correlation=n) for n in range(2000)]
    connection = opened(tmp_path, kernels)
    rows = connection.execute(TRACKS).fetchall()
    assert sum(thread == "stream 1" for _, thread, _ in rows) == 2000
    assert {lane for _, thread, lane in rows if thread == "stream 1"} == {0, 1, 2}
    overlaps = """SELECT count(*) FROM (SELECT at_ns < lag(at_ns + dur_ns) OVER (PARTITION BY tid ORDER BY at_ns) AS o
        FROM export_placed WHERE NOT nests) WHERE o"""
    assert connection.execute(overlaps).fetchall() == [(0,)]


@pytest.mark.long
def test_calls_of_a_thread_nest(tmp_path: Path) -> None:
    ops = [event("cpu_op", f"o{n}", n % 97, 1 + n % 13, tid=n % 3) for n in range(300)]
    found = opened(tmp_path, ops).execute("""
        SELECT count(*) FROM export_placed a JOIN export_placed b ON a.tid = b.tid AND a.number < b.number
        WHERE b.at_ns < a.at_ns + a.dur_ns AND b.at_ns > a.at_ns AND b.at_ns + b.dur_ns > a.at_ns + a.dur_ns""")
    assert found.fetchall() == [(0,)]


@pytest.mark.slow
def test_no_time_is_negative_and_none_is_lost(tmp_path: Path) -> None:
    events = [event("cpu_op", "early", -500, 5), event("cpu_op", "late", 100, 5)]
    rows = opened(tmp_path, events).execute("SELECT name, at_ns FROM export_named WHERE kind = 'op'").fetchall()
    assert sorted(rows) == [("early", 0), ("late", 600_000)]


@pytest.mark.slow
def test_a_step_is_what_reaches_into_it(tmp_path: Path) -> None:
    later = [event("user_annotation", "ProfilerStep#4", 1000, 100), event("cpu_op", "aten::relu", 1010, 5)]
    later += [event("kernel", "relu_kernel", 1020, 5, 1, device=0, stream=1, correlation=99)]
    connection = opened(tmp_path, EVENTS + later, step=4)
    names = connection.execute("SELECT name FROM export_named WHERE kind IN ('op', 'kernel')").fetchall()
    assert sorted(names) == [("aten::relu",), ("relu_kernel",)]


@pytest.mark.parametrize(
    ("choice", "message"),
    first(1, [({"step": 9}, "no step 9; it has step 3"), ({"rank": 2}, "no rank 2; it has rank 0")]),
)
def test_what_is_not_there_cannot_be_chosen(tmp_path: Path, choice: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        opened(tmp_path, EVENTS, **choice)


@pytest.mark.long
@pytest.mark.parametrize("form", ["perfetto", "speedscope"])
def test_parts_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """A large track is written in parts of time, small ones together: in the same order, with the same ends."""
    ops = [event("cpu_op", f"o{n}", n % 97, 1 + n % 13, tid=n % 3) for n in range(300)]
    connection = opened(tmp_path, [*EVENTS, *ops])
    whole = written(connection, form)
    monkeypatch.setattr(timeline, "BATCH_ROWS", 16)
    assert sum(1 for _ in timeline.parts(connection)) > 20
    assert written(connection, form) == whole


def test_ranks_of_a_job_are_on_one_clock_and_tracks_say_by_how_much_they_were_moved(tmp_path: Path) -> None:
    """The clock of rank 1 is 7 ms ahead, more than a step: its part of a collective was drawn that much later."""
    made = Job(ranks=2, clock=lambda at, rank: at + 7000.0 * rank).build()
    for given in made:
        given.add("counters", name="allocated_bytes", value=1.0, start_ns=2_100_000 + 7_000_000 * given.rank)
    write(tmp_path, *made)
    with connected(tmp_path) as connection:
        timeline.choose(connection, step=3)
        events = json.loads(written(connection, "chrome"))["traceEvents"]
        assert [event["ts"] for event in events if event["ph"] == "C"] == [2100, 2100]
        calls = """SELECT list(rank ORDER BY rank) FROM export_named
            WHERE kind = 'kernel' AND starts_with(name, 'nccl') GROUP BY at_ns, dur_ns ORDER BY at_ns"""
        assert connection.execute(calls).fetchall() == [([0, 1],), ([0, 1],)]
        labels = "SELECT DISTINCT process_label FROM export_track WHERE starts_with(process, 'GPU') ORDER BY 1"
        moved = "rank 1 GPU 0 (clock moved by -7,000.0 us)"
        assert connection.execute(labels).fetchall() == [("rank 0 GPU 0",), (moved,)]
        path = "SELECT at_ns, at_ns + dur_ns FROM export_placed WHERE kind = 'critical' ORDER BY at_ns, dur_ns"
        pieces = connection.execute(path).fetchall()
    assert len(pieces) > 3 and all(end == start for (_, end), (start, _) in pairwise(pieces))


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
