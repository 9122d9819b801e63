"""A value is passed over to its true end whatever stands in it; of a damaged one, to the next object."""

from __future__ import annotations

import json

import pytest

from traceview.decode import json_skip
from traceview.decode.json_skip import passed

NEXT = b', {"ph": "X"}]'
WHOLE = {
    "object": json.dumps({"a": "}, {", "b": [{"c": 1}, {"c": [2]}], "d": {"e": []}}, indent=1),
    "quotes and backslashes": json.dumps({"a": 'x"}, {"y', "b": "\\" * 7 + '"', "c": "\\"}),
    "list": "[[1, 2], [3]]",
    "text": '"a, ]}"',
    "number": "9" * 50,
    "deep": "[" * 5000 + "]" * 5000,
}


@pytest.mark.parametrize("slice_bytes", [1, 3, 1 << 20])
@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_value(name: str, slice_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_skip, "SLICE", slice_bytes)
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
    assert passed(b'{"a": "b', 0, [b"c" * 100]) == json_skip.Passed(None, b"", False)
