"""Events come out whole from any layout of JSON, and damage costs no more than the damaged event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from traceview.decode.json_events import EventSplitter

EVENTS: list[dict[str, Any]] = [
    {"ph": "X", "name": "plain", "ts": 1, "args": {}},
    {"ph": "X", "name": 'a "quoted" } , { name', "ts": 2, "args": {"list": [{"a": 1}, {"b": [2, {"c": 3}]}]}},
    {"ph": "X", "name": "back\\slash\\", "ts": 3, "args": {"text": "]}"}},
    {"ph": "X", "name": "ünïcode \u2603", "ts": 4},
    {"ph": "M", "name": "last", "args": {"x": [[], {}]}},
]


def read(data: bytes, block: int = 7) -> tuple[list[dict[str, Any]], EventSplitter, list[str]]:
    """Every event, settled the way a reader does it with Python's own parser as the strict one."""
    blocks: Iterator[bytes] = (data[i : i + block] for i in range(0, len(data), block))
    splitter = EventSplitter(blocks)
    found: list[dict[str, Any]] = []
    bad: list[str] = []
    for table in splitter:
        rows: dict[int, Any] = {}
        lines = table["line"].cast("binary").to_pylist()
        for row, line in zip(table["row"].to_pylist(), lines, strict=True):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            rows[row] = value if isinstance(value, dict) and "ph" in value else None
        settled = splitter.settle([row for row, value in rows.items() if value is None])
        dropped = set(settled.drop["row"].to_pylist())
        found += [value for row, value in rows.items() if row not in dropped]
        found += [json.loads(event) for event in settled.events]
        bad += settled.bad + settled.too_long
    return found, splitter, bad


def by_name(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(events, key=lambda event: str(event["name"]))


LAYOUTS = {
    "minified": lambda: json.dumps({"a": 1, "traceEvents": EVENTS, "z": [{"y": 1}, {"y": 2}]}, separators=(",", ":")),
    "indented": lambda: json.dumps({"a": 1, "traceEvents": EVENTS, "z": [{"y": 1}, {"y": 2}]}, indent=4),
    "array": lambda: json.dumps(EVENTS),
    "one per line": lambda: "[\n" + ",\n".join(json.dumps(event) for event in EVENTS) + "\n]\n",
    "ascii": lambda: json.dumps({"traceEvents": EVENTS}, ensure_ascii=True),
    "not ascii": lambda: json.dumps({"traceEvents": EVENTS}, ensure_ascii=False),
    "byte order mark": lambda: "\ufeff" + json.dumps(EVENTS),
    "wide": lambda: json.dumps({"traceEvents": EVENTS}, indent=90),
    "a comma behind every event": lambda: "[\n" + ",\n".join([*map(json.dumps, EVENTS), "]"]) + "\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("block", [1, 13, 10_000])
def test_every_layout(layout: str, block: int) -> None:
    found, splitter, bad = read(LAYOUTS[layout]().encode(), block)
    assert by_name(found) == by_name(EVENTS)
    assert not bad and splitter.ended


def test_metadata_before_and_after() -> None:
    data = b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a"}], "tail": {"rank": 3}, "list": [{}, {}]}'
    found, splitter, _ = read(data)
    assert [event["name"] for event in found] == ["a"]
    assert splitter.metadata == {"schemaVersion": 1, "tail": {"rank": 3}, "list": [{}, {}]}
    for block in (1, 7, 1000):
        found, splitter, bad = read(data.replace(b'"a"}]', b'"a"}, ]'), block)
        assert [event["name"] for event in found] == ["a"] and not bad and splitter.ended
        assert splitter.metadata == {"schemaVersion": 1, "tail": {"rank": 3}, "list": [{}, {}]}


@pytest.mark.slow
def test_every_cut_keeps_every_complete_event() -> None:
    data = json.dumps({"traceEvents": EVENTS}).encode()
    ends = []
    position = data.index(b"[") + 1
    for event in EVENTS:
        position = data.index(json.dumps(event).encode(), position) + len(json.dumps(event).encode())
        ends.append(position)
    for cut in range(data.index(b"[") + 1, len(data)):
        found, splitter, _ = read(data[:cut])
        complete = [event for event, end in zip(EVENTS, ends, strict=True) if end <= cut]
        assert by_name(found) == by_name(complete), cut
        assert splitter.ended == (data[:cut].rstrip().endswith(b"]") and cut > ends[-1])


def test_a_broken_event_costs_only_itself() -> None:
    data = b'[{"ph": "X", "name": "a"}, {"ph": "X", "name": "b" 7 "c": }, {"ph": "X", "name": "d"}]'
    found, _, bad = read(data)
    assert [event["name"] for event in found] == ["a", "d"]
    assert len(bad) == 1 and bad[0].startswith('{"ph": "X", "name": "b" 7')


def test_many_broken_events_cost_no_more_parts() -> None:
    """At the end of a file nothing can follow that would mend one: it was waited for, once for each of them."""
    pieces = [b'{"ph": "X", "name": "%d"%s}' % (place, b' "no comma": 1' * (place % 3 == 0)) for place in range(900)]
    splitter = EventSplitter(iter([b'{"traceEvents": [' + b", ".join(pieces) + b"]}"]), last_apart=True)
    n_parts, n_kept, bad = 0, 0, 0
    while (part := splitter.part()) is not None:
        n_parts += 1
        doubtful = [row for row in range(len(part)) if b"no comma" in part.text[part.starts[row] : part.ends[row]]]
        settled = splitter.settle(doubtful)
        n_kept += len(part) - len(settled.drop) + len(settled.events)
        bad += len(settled.bad)
    assert (n_parts, n_kept, bad) == (2, 600, 300)


def test_control_characters_and_bad_text_are_repaired() -> None:
    found, _, bad = read(b'[{"ph": "X", "name": "a\x01\nb"}, {"ph": "X", "name": "c\xff"}]')
    assert [event["name"] for event in found] == ["a\x01\nb", "c\ufffd"] and not bad


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    data = b'[{"ph": "X", "name": "a", "args": ' + b"[" * 200_000 + b'}, {"ph": "X", "name": "b"}]'
    found, _, bad = read(data, 1 << 20)
    assert found == [{"ph": "X", "name": "b"}], "what cannot be read costs itself alone"
    assert [text[:20] for text in bad] == ['{"ph": "X", "name": ']


def test_no_events_at_all() -> None:
    for data in (b"", b"{}", b"[]", b'{"traceEvents": []}', b"\x00\x01", b"hello"):
        found, _, _ = read(data)
        assert found == []
    assert read(b'{"traceEvents": [], "rank": 2}')[1].metadata == {"rank": 2}
    assert read(b'{"traceEvents": []}')[1].ended


def test_unescaped_quotes_are_escaped() -> None:
    # https://github.com/pytorch/pytorch/issues/146900
    names = ['foo "bar" baz', 'call("x", "y")', '"', 'ends with "quote"', "C:\\Users \\q", 'a "}" b']
    raw = ['{"ph": "X", "name": "' + name + '",\n "ts": 1, "args": {"list": ["p "q" r", 2]}}' for name in names]
    found, splitter, bad = read(("[" + ", ".join([*raw, '{"ph": "X", "name": "whole"}']) + "]").encode(), 1 << 20)
    assert sorted(event["name"] for event in found) == sorted(["whole", *names])
    assert all(event["args"] == {"list": ['p "q" r', 2]} for event in found if "args" in event)
    assert not bad and splitter.ended


def test_half_a_surrogate_pair_is_repaired() -> None:
    for text in (b"\\ud800", b"\xed\xa0\x80"):
        found, _, bad = read(b'[{"ph": "X", "name": "a' + text + b'", "n": NaN}]')
        assert len(found) == 1 and not bad
        assert set(found[0]["name"][1:]) == {"\ufffd"}
