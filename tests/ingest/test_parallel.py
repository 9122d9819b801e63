"""Reading several parts at once gives what reading them one after the other gives, whatever is wrong in one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from traceview import store
from traceview.decode import json_events
from traceview.ingest import fast_path, parallel, trace_events
from traceview.ingest.options import Options
from traceview.readers import kineto
from traceview.store import views

CALL = '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": %d, "dur": 5}'
SPOILED = {
    "nothing": CALL,
    "no JSON": '{"ph": "X", "cat": "cpu_op", "name": "a" 7 "b": }',
    "quotes": '{"ph": "X", "cat": "cpu_op", "name": "foo "bar" baz", "pid": 7, "tid": 7, "ts": %d, "dur": 1}',
    "an event inside": '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": %d, "dur": 1, '
    '"args": {"list": [{"ph": "X", "cat": "cpu_op", "name": "in"}, {"ph": "X", "cat": "cpu_op", "name": "in"}]}}',
    "negative": '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": %d, "dur": -1}',
    "no time": '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": "soon", "dur": 1}',
    "long time": '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 7, "ts": 1700000000123456.789, "dur": 1}',
    "text as thread": '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": "stream 3", "ts": %d, "dur": 1}',
    "of no kind": '{"ph": "X", "cat": "overhead", "name": "a", "pid": 7, "tid": 7, "ts": %d, "dur": 1}',
    "memory without totals": '{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, '
    '"tid": 7, "ts": %d, "args": {"Addr": 1}}',
    "old spelling": '{"ph": "X", "cat": "Operator", "name": "a", "pid": 7, "tid": 7, "ts": %d, "dur": 1, '
    '"args": {"external id": 5}}',
    "NUL in bytes that are not text": '{"cat": "cpu_op", "name": "a\udced", "ph": "X", "pid": 7, "tid": 7, "ts": %d, '
    '"dur": 1, "args": {"x":\0 0}}',
    "raw newline": '{"ph": "X", "cat": "cpu_op", "name": "a\nb", "pid": 7, "tid": 7, "ts": %d, "dur": 1}',
}
TABLES = ("ops", "api_calls", "kernels", "links", "events", "ranges", "counters")


def trace(spoiled: str) -> bytes:
    """400 events of several kinds, of which every 90th is another."""
    events = []
    for n in range(400):
        shape: dict[str, Any] = {"pid": 7, "tid": 7, "ts": 1000 + n + 0.125}
        kinds = [
            {"ph": "X", "cat": "cpu_op", "name": f"op {n}", **shape, "dur": 0.5, "args": {"External id": n}},
            {"ph": "X", "cat": "kernel", "name": "k", **shape, "dur": 2, "args": {"stream": 7, "grid": [n, 1, 1]}},
            {"ph": "s", "id": n, **shape, "cat": "ac2g", "name": "ac2g"},
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "s": "t",
                "name": "[memory]",
                **shape,
                "args": {"Total Allocated": n},
            },
            {"ph": "X", "cat": "user_annotation", "name": f"gloo:all_reduce {n}", **shape, "dur": 2},
        ]
        text = json.dumps(kinds[n % len(kinds)])
        events.append(spoiled.replace("%d", str(1000 + n)) if n % 90 == 45 else text)
    return ('{"schemaVersion": 1, "traceEvents": [' + ",\n".join(events) + '], "traceName": "x"}').encode(
        "utf-8", "surrogateescape"
    )


def read(path: Path, target: Path) -> dict[str, Any]:
    connection = views.connect(store.convert([path], target, Options(threads=3)))
    found: dict[str, Any] = {
        table: connection.execute(f"SELECT * FROM raw.{table} ORDER BY ALL").fetchall() for table in TABLES
    }
    found["captures"] = connection.execute("SELECT * FROM raw.captures").fetchall()
    return found


def since_1970(text: bytes) -> bytes:
    """Return the trace as profilers of 2024 wrote it: microseconds since 1970 with three decimals."""
    return re.sub(rb'"ts": (\d+)\.125', lambda found: b'"ts": 1712195495%06d.125' % int(found[1]), text)


KEPT = {
    "deferred": (trace_events.FEW, 0, 0),
    "read at once, rows kept in memory": (0, 0, 1 << 20),
    "all deferred": (trace_events.FEW, trace_events.SHORT, 0),
}
CLOCKS = {"deferred": bytes, "read at once, rows kept in memory": since_1970, "all deferred": bytes}
"""The clock that each way is tried with; with the other one by `make test-all`."""
WAYS = [
    pytest.param(*sizes, clock, id=f"{way}-{clock.__name__}", marks=() if CLOCKS[way] is clock else pytest.mark.long)
    for way, sizes in KEPT.items()
    for clock in (bytes, since_1970)
]


@pytest.mark.long
@pytest.mark.parametrize(("few", "short", "small", "clock"), WAYS)
@pytest.mark.parametrize("what", SPOILED)
def test_any_surprise_is_read_as_if_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    few: int,
    short: int,
    small: int,
    clock: Callable[[bytes], bytes],
) -> None:
    path = tmp_path / "trace.json"
    monkeypatch.setattr(trace_events, "FEW", few)
    monkeypatch.setattr(trace_events, "SHORT", short)
    monkeypatch.setattr(trace_events, "SMALL_BYTES", small)
    path.write_bytes(clock(trace(SPOILED[what])))
    monkeypatch.setattr(json_events, "CHUNK_BYTES", 4000)
    monkeypatch.setattr(json_events, "MAX_CHUNK_BYTES", 4000)
    monkeypatch.setattr(parallel, "MAX_CAREFUL", 1)
    quick = read(path, tmp_path / "quick")
    monkeypatch.setattr(trace_events, "_quickly", _refuse)
    assert quick == read(path, tmp_path / "careful")


def _refuse(*_: object) -> None:
    raise parallel.Unexpected


@pytest.mark.parametrize("clock", [bytes, since_1970])
def test_what_is_as_expected_is_read_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(clock(trace(CALL.replace("%d", "%d.125"))))
    monkeypatch.setattr(json_events, "CHUNK_BYTES", 4000)
    monkeypatch.setattr(json_events, "MAX_CHUNK_BYTES", 4000)
    monkeypatch.setattr(trace_events, "SHORT", 0)
    carefully = []
    original = trace_events._carefully
    monkeypatch.setattr(trace_events, "_carefully", lambda *args: (carefully.append(len(args[3])), original(*args)))
    store.convert([path], tmp_path / "out")
    assert carefully == []


def test_kinds_that_take_turns_are_all_learnt() -> None:
    """Every other event is one end of a flow, as where each launch is followed by its own."""
    events = b"".join(
        b'{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 1, "dur": 5},'
        b'{"ph": "s", "id": 5, "pid": 7, "tid": 7, "ts": 1, "cat": "ac2g", "name": "ac2g"},'
        for _ in range(2048)
    )
    part = json_events.EventSplitter([b'{"traceEvents": [' + events + b"{}]}"]).part()
    assert part is not None
    by_route, rest = fast_path.routed(part, kineto.ROUTES)
    assert {route.tables: len(rows) for route, rows in by_route} == {("api_calls",): 2048, ("links",): 2048}
    assert len(rest) == 1, "the empty object at the end"


@pytest.mark.parametrize(("name", "tables"), [("loss:backward", 1), ("nccl:all_reduce", 2), ("gloo:all_reduce", 2)])
def test_the_second_table_of_a_route_is_asked_only_where_something_is_for_it(name: str, tables: int) -> None:
    event = b'{"ph": "X", "cat": "user_annotation", "name": "%s", "pid": 7, "tid": 7, "ts": 1, "dur": 5},'
    part = json_events.EventSplitter([b'{"traceEvents": [' + event % b"step" * 9 + event % name.encode()]).part()
    assert part is not None
    ((route, rows),), _ = fast_path.routed(part, kineto.ROUTES)
    assert len(route.tables) == 2
    assert len(fast_path.without_second(part, rows, route).tables) == tables


@pytest.mark.slow
def test_the_folder_of_spilled_rows_may_be_called_anything(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(trace(CALL))
    strange = tmp_path / "a*[b]?'c"
    strange.mkdir()
    assert read(path, strange / "out") == read(path, tmp_path / "out")


def test_an_error_of_ours_is_not_taken_for_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(trace(CALL))

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(trace_events, "_quickly", fail)
    with pytest.raises(ZeroDivisionError):
        store.convert([path], tmp_path / "out")
