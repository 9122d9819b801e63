"""A value is passed over to its true end whatever stands in it; of a damaged one, to the next object."""

from __future__ import annotations

import json

import pytest

from traceview.decode import json_scan
from traceview.decode.json_scan import Members, passed

NEXT = b', {"ph": "X"}]'
WHOLE = {
    "object": json.dumps({"a": "}, {", "b": [{"c": 1}, {"c": [2]}], "d": {"e": []}}, indent=1),
    "quotes and backslashes": json.dumps({"a": 'x"}, {"y', "b": "\\" * 7 + '"', "c": "\\"}),
    "list": "[[1, 2], [3]]",
    "text": '"a, ]}"',
    "number": "9" * 50,
    "deep": "[" * 5000 + "]" * 5000,
}


@pytest.mark.slow
@pytest.mark.parametrize("slice_bytes", [1, 3, 1 << 20])
@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_value(name: str, slice_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_scan, "SLICE", slice_bytes)
    value = WHOLE[name].encode()
    found = passed(b" " + value + NEXT, 1, [])
    assert (found.end, found.is_whole) == (1 + len(value), True)
    blocks = iter([value[4:], NEXT[:3], NEXT[3:]])
    found = passed(value[:4], 0, blocks)
    assert found.end is None and found.is_whole
    assert found.rest + b"".join(blocks) == NEXT


@pytest.mark.parametrize("damaged", [
    '{"a": "no end}', '{"a": [[[[ 1}', '{"a": {"b": 1}', '{"a": "x "q" y", "b": 1}', '{"a": 1] }',
])  # fmt: skip
def test_a_damaged_value_ends_at_the_next_object(damaged: str) -> None:
    text = damaged.encode() + NEXT
    found = passed(text, 0, [])
    assert found.end is not None and not found.is_whole
    assert text[found.end :] == NEXT[2:]


def test_a_value_without_end() -> None:
    assert passed(b'{"a": "b', 0, [b"c" * 100]) == json_scan.Passed(None, b"", False)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("KEY_BYTES", 100), ("VALUE_BYTES", 1000), ("TOTAL_BYTES", 3000)):
        monkeypatch.setattr(json_scan, name, size)


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
