"""The formats of exports are the modules that describe one, and the command line knows the same."""

from __future__ import annotations

from pathlib import Path

from traceview import exports
from traceview.cli import export


def test_formats_are_the_folder(root: Path) -> None:
    modules = {path.stem for path in (root / "traceview/exports").glob("*.py") if "\nEXTENSION" in path.read_text()}
    assert set(exports.FORMATS) == set(export.FORMATS) == modules


def test_the_command_line_knows_every_extension() -> None:
    assert {form: suffix for suffix, form in export.SUFFIXES.items()} == {
        name: exports.exporter(name).EXTENSION for name in exports.FORMATS
    }
    assert all(exports.exporter(name).TITLE for name in exports.FORMATS)
