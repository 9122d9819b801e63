"""The formats of exports are the modules that say their extension, and files are known by it."""

from __future__ import annotations

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
