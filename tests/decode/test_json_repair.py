"""Quotes that nobody escaped become part of their text; what stays unclear is refused."""

from __future__ import annotations

import json

import pytest

from traceview.decode.json_repair import mended


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "x "y" z"}', {"a": 'x "y" z'}),
        ('{"a": "f("x", "y")", "b": 1}', {"a": 'f("x", "y")', "b": 1}),
        ('{"a": ["x "y"", "z"], "b": {}}', {"a": ['x "y"', "z"], "b": {}}),
        ('{"a": "C:\\dir \\"kept\\" \\u00e9"}', {"a": 'C:\\dir "kept" é'}),
        ('{"a"b": 1}', {'a"b': 1}),
        ('{"a": "x"}, {"b": 2}', {"a": "x"}),
    ],
)
def test_mended(text: str, expected: object) -> None:
    found = mended(text.encode())
    assert found is not None
    assert json.loads(found[0]) == expected
    assert text.encode()[: found[1]].count(b"{") == text.encode()[: found[1]].count(b"}")


@pytest.mark.parametrize("text", ["", "{", '{"a": "x', '{"a": [}', '{"a": "x "y" z', "]", '{"a": "x"'])
def test_what_has_no_end_is_refused(text: str) -> None:
    assert mended(text.encode()) is None


def test_valid_objects_stay_as_they_are() -> None:
    text = b'{"a": "x, \\"y\\": 1", "b": [1, "two", {"c": "}"}, ["d"]], "e": {"f": null}}'
    assert mended(text) == (text, len(text))
