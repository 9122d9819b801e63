"""Any other Chrome trace: asked last, and nothing in it is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asked import connected

from traceview import store
from traceview.errors import InputError
from traceview.readers import READERS

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "browser"}},
    {"ph": "X", "name": "paint", "cat": "gfx", "pid": 7, "tid": 1, "ts": 10, "dur": 4, "args": {"frame": 3}},
    {"ph": "X", "name": "idle", "pid": 7, "tid": 1, "ts": 15, "dur": 1},
    {"ph": "i", "name": "key", "pid": 7, "tid": 1, "ts": 12, "s": "t"},
    {"ph": "s", "name": "flow", "id": 1, "pid": 7, "tid": 1, "ts": 12},
    {"ph": "f", "name": "flow", "id": 1, "pid": 7, "tid": 2, "ts": 13},
    {"ph": "C", "name": "heap", "pid": 7, "ts": 14, "args": {"used": 1.5}},
]


def test_it_is_asked_last() -> None:
    assert READERS[-1].NAME == "chrome"


@pytest.mark.parametrize("as_list", [True, False])
def test_nothing_is_lost(tmp_path: Path, as_list: bool) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(EVENTS if as_list else {"displayTimeUnit": "ms", "traceEvents": EVENTS}))
    store.convert([path], tmp_path / "out")
    connection = connected(tmp_path / "out")
    found = connection.execute("SELECT name, domain, start_ns, dur_ns, tid FROM ranges ORDER BY start_ns").fetchall()
    assert found == [("paint", "gfx", 0, 4000, 1), ("idle", None, 5000, 1000, 1)]
    rest = connection.execute("SELECT phase, name, args FROM events ORDER BY phase, name").fetchall()
    assert [(phase, name) for phase, name, _ in rest] == [
        ("M", "process_name"),
        ("X", "paint"),
        ("f", "flow"),
        ("i", "key"),
        ("s", "flow"),
    ]
    assert json.loads(rest[1][2]) == {"frame": 3}
    assert connection.execute("SELECT name, value FROM counters").fetchall() == [("heap used", 1.5)]
    assert connection.execute("SELECT n_events, n_kept FROM captures").fetchall() == [(7, 7)]


def test_events_of_no_use_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_text('[{"ph":"X","ts":"soon","name":"a"}]')
    with pytest.raises(InputError, match="without a readable time"):
        store.convert([path], tmp_path / "out")


def test_a_series_may_be_called_anything(tmp_path: Path) -> None:
    names = ['u", "ped', "a/b~c", "$x", "0", "", "a.b", "*", "\\"]
    path = tmp_path / "any.json"
    counter = {**EVENTS[-1], "args": {name: number for number, name in enumerate(names)}}
    path.write_text(json.dumps([*EVENTS[:-1], counter]))
    found = connected(store.convert([path], tmp_path / "out")).execute(
        "SELECT name, value FROM counters ORDER BY value"
    )
    assert found.fetchall() == [("heap" if name == "0" else f"heap {name}", n) for n, name in enumerate(names)]
