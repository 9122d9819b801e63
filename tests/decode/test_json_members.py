"""Keys beside the events are read one by one: one that is too long costs the others nothing."""

from __future__ import annotations

import json

import pytest

from traceview.decode import json_members
from traceview.decode.json_members import Members


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("KEY_BYTES", 100), ("VALUE_BYTES", 1000), ("TOTAL_BYTES", 3000)):
        monkeypatch.setattr(json_members, name, size)


def before(text: str, block: int = 64) -> tuple[Members, bytes | None]:
    data = text.encode()
    blocks = iter([data[at : at + block] for at in range(0, len(data), block)])
    members = Members()
    events = members.before_events(blocks)
    return members, None if events is None else events + b"".join(blocks)


@pytest.mark.parametrize("value", ["x" * 5000, [{"a": 1}, {"b": 2}] * 500, [[1, "]"]] * 900])
def test_a_value_that_is_too_long(value: object) -> None:
    head = json.dumps({"a": 1, "long": value, "b": {"c": "d"}})[:-1]
    members, events = before(head + ', "traceEvents": [{"ph": "X"}]}')
    assert (members.found, members.unread) == ({"a": 1, "b": {"c": "d"}}, ["long"])
    assert events == b'{"ph": "X"}]}'
    members = Members()
    members.behind_events(b"," + head[1:].encode() + b"}", iter([]))
    assert (members.found, members.unread) == ({"a": 1, "b": {"c": "d"}}, ["long"])


@pytest.mark.parametrize("value", ['"no end' + "x" * 5000, "9" * 5000 + "x", "[[["])
def test_a_value_that_is_no_json(value: str) -> None:
    members, events = before('{"a": 1, "bad": ' + value + ', "traceEvents": [{"ph": "X"}, {"ph": "i"}]}')
    assert members.found == {"a": 1} and members.unread == ["bad"]
    assert events == b'{"ph": "X"}, {"ph": "i"}]}'


def test_many_values_keep_to_the_bound() -> None:
    members, _ = before(json.dumps({str(number): "x" * 900 for number in range(9)}))
    assert list(members.found) == ["0", "1", "2"] and len(members.unread) == 6


def test_where_the_events_are() -> None:
    assert before('\ufeff [{"ph"')[1] == b'{"ph"'
    assert before('{"run": {"traceEvents": [{"ph"')[1] == b'{"ph"'
    assert before('junk {"traceEvents" : [7')[1] == b"7"
    assert before('{"a": 1}')[1] is None
    members = Members()
    members.behind_events(b', "traceEvents": [{"ph": "X"}], "b": 2}', iter([]))
    assert (members.found, members.unread) == ({"b": 2}, ["traceEvents"])
