"""Spans in two events find each other; nothing in a file of trace events is lost without an account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected
from cases import first

from traceview import store
from traceview.decode import json_events
from traceview.store import views


def read(folder: Path, events: list[dict[str, Any]], end: str = "]") -> Any:
    path = folder / "trace.json"
    path.write_text("[" + ",\n".join(json.dumps(event) for event in events) + end)
    store.convert([path], folder / "out")
    return connected(folder / "out")


def event(ph: str, ts: float, name: str | None = "a", **rest: Any) -> dict[str, Any]:
    named = {"name": name} if name else {}
    return {"ph": ph, "ts": ts, "pid": 1, "tid": 2, **named, **rest}


def spans(connection: Any) -> list[tuple[Any, ...]]:
    found = connection.execute("SELECT name, start_ns, dur_ns FROM ranges ORDER BY start_ns, dur_ns DESC").fetchall()
    return [tuple(row) for row in found]


def test_begin_and_end_nest(tmp_path: Path) -> None:
    events = [event("B", 1, "out"), event("B", 2, "in"), event("E", 3, "in"), event("E", 5, "out")]
    assert spans(read(tmp_path, events)) == [("out", 0, 4000), ("in", 1000, 1000)]


def test_the_same_name_inside_itself(tmp_path: Path) -> None:
    events = [event("B", 1), event("B", 2), event("E", 3), event("E", 9)]
    assert spans(read(tmp_path, events)) == [("a", 0, 8000), ("a", 1000, 1000)]


def test_ends_without_names_pair_by_nesting(tmp_path: Path) -> None:
    events = [event("B", 1, "out"), event("B", 2, "in"), event("E", 3, None), event("E", 5, None)]
    assert spans(read(tmp_path, events)) == [("out", 0, 4000), ("in", 1000, 1000)]


def test_pairs_written_when_they_are_over(tmp_path: Path) -> None:
    """Two spans that begin in the same microsecond, the inner one written first."""
    events = [event("B", 5, "in"), event("E", 6, "in"), event("B", 5, "out"), event("E", 8, "out")]
    assert spans(read(tmp_path, events)) == [("out", 0, 3000), ("in", 0, 1000)]


def test_asynchronous_pairs_belong_together_by_id(tmp_path: Path) -> None:
    events = [
        event(ph, ts, id=number, cat="task") for ph, ts, number in [("b", 1, 7), ("b", 2, 8), ("e", 4, 7), ("e", 9, 8)]
    ]
    assert spans(read(tmp_path, events)) == [("a", 0, 3000), ("a", 1000, 7000)]


def test_an_end_too_many_and_a_begin_too_many(tmp_path: Path) -> None:
    events = [event("E", 1), event("B", 2), event("E", 4), event("B", 6)]
    connection = read(tmp_path, events)
    assert spans(connection) == [("a", 1000, 2000)]
    assert connection.execute("SELECT phase, start_ns FROM events ORDER BY 2").fetchall() == [("E", 0), ("B", 5000)]
    assert connection.execute("SELECT n FROM quality WHERE kind LIKE '%\"begin\"%'").fetchall() == [(2,)]
    assert connection.execute("SELECT n_events, n_kept FROM captures").fetchall() == [(4, 4)]


def test_times_that_a_double_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('[{"ph":"X","ts":1700000000123456.789,"dur":1e-3,"name":"a","pid":1,"tid":1},'
                    '{"ph":"X","ts":1700000000123457.001,"dur":2.5,"name":"b","pid":1,"tid":1}]')  # fmt: skip
    store.convert([path], tmp_path / "out")
    assert spans(connected(tmp_path / "out")) == [("a", 0, 1), ("b", 212, 2500)]


@pytest.mark.long
@pytest.mark.parametrize("end", ["]", "", ",", ',\n{"ph":"X","ts":9,"na'])
def test_a_file_without_its_end(tmp_path: Path, end: str) -> None:
    connection = read(tmp_path, [event("X", 1, dur=2), event("C", 3, "memory", args={"used": 5, "free": 7})], end)
    assert spans(connection) == [("a", 0, 2000)]
    assert connection.execute("SELECT name, value FROM counters ORDER BY 1").fetchall() == [
        ("memory free", 7.0),
        ("memory used", 5.0),
    ]
    cut = connection.execute("SELECT count(*) FROM quality WHERE kind LIKE '%cut off%'").fetchall()[0][0]
    assert cut == (end != "]")


LONG = {
    "name": '"name": "' + "x" * 9000 + '"',
    "name of braces": '"name": "' + r"\\\"}, {" * 900 + '"',
    "list": '"args": {"x": [' + "1, " * 3000 + "1]}",
    "objects": '"args": {"x": [' + '{"a": 1}, ' * 900 + "{}]}",
    "events": '"args": {"x": [' + '{"ph": "X", "cat": "kernel"}, ' * 300 + "{}]}",
    "deep": '"args": ' + "[" * 9000 + "]" * 9000,
    "never closed": '"args": ' + "[" * 9000,
    "number": '"dur": ' + "9" * 9000,
    "text without end": '"name": "' + "x" * 9000,
    "quotes": '"name": "' + 'x "q" ' * 2000 + '"',
}


ARRAY = "[%s]"
OBJECT = '{"schemaVersion": 1, "traceEvents": [%s], "baseTimeNanoseconds": 5}'


@pytest.mark.parametrize(
    ("layout", "place"),
    [
        (ARRAY, 39),
        (OBJECT, 20),
        *(pytest.param(ARRAY, place, marks=pytest.mark.long) for place in (0, 20)),
        *(pytest.param(OBJECT, place, marks=pytest.mark.long) for place in (0, 39)),
    ],
)
@pytest.mark.parametrize("what", first(2, LONG))
def test_an_event_that_is_too_long_costs_only_itself(
    what: str, layout: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("MAX_EVENT_BYTES", 3000), ("CHUNK_BYTES", 4000), ("MAX_CHUNK_BYTES", 4000)):
        monkeypatch.setattr(json_events, name, size)
    monkeypatch.setattr("traceview.decode.files.READ_BYTES", 1000)
    events = [json.dumps(event("X", n, f"k{n}", dur=1, cat="kernel")) for n in range(40)]
    events[place] = '{"ph": "X", "cat": "kernel", "ts": 1, "dur": 1, ' + LONG[what] + "}"
    path = tmp_path / "trace.json"
    path.write_text(layout % ", ".join(events))
    store.convert([path], tmp_path / "out")
    connection = views.connect(tmp_path / "out")
    assert connection.execute("SELECT count(*) FROM raw.kernels").fetchall() == [(39,)]
    counts = "n_events, n_kept, n_dropped, list_sum(list_transform(problems, lambda p: p.n)) AS n"
    (n_events, n_kept, n_dropped, n), = connection.execute(f"SELECT {counts} FROM raw.captures").fetchall()  # fmt: skip
    assert (n_events, n_kept, n_dropped) == (40, 39, 1)
    # Where the last event does not end, nor is it seen where the array does.
    assert n == 1 + (place == 39 and what in ("text without end", "never closed", "quotes"))
