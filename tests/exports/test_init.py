"""The formats of exports are the modules that say their extension, and files are known by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from traceview import exports


def test_formats_are_the_folder() -> None:
    assert exports.FORMATS == ("chrome", "collapsed", "perfetto", "speedscope")
    assert len({exports.exporter(name).EXTENSION for name in exports.FORMATS}) == len(exports.FORMATS)
    assert all(exports.exporter(name).TITLE for name in exports.FORMATS)


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.json", "chrome"), ("A.JSON.GZ", "chrome"), ("a.speedscope.json", "speedscope"), ("a.pftrace.gz", "perfetto"),
     ("a.txt", "collapsed"), ("a.doc", None)],
)  # fmt: skip
def test_a_file_is_known_by_its_name(name: str, form: str | None) -> None:
    assert exports.of_file(name) == form


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chrome", "speedscope"])
def test_json_is_ascii_and_holds_the_names_as_they_were(file: Any, name: str) -> None:
    assert file(name).isascii()
    assert "\u202e" in json.dumps(json.loads(file(name)), ensure_ascii=False)


def test_every_character_beyond_ascii_is_the_same_in_ascii_json() -> None:
    text = "".join(map(chr, [*range(0x80, 0x3000), 0x1F600, 0x10FFFF]))
    assert json.loads(exports.ascii_json(f'"{text}"')) == text
