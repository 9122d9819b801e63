"""Writes a capture for other tools: one module per format, which says all there is to know of it.

Invariant: what is exported is what was recorded, under the profiler's own categories; what traceview derives stands
beside it and is marked as its own. Everything is written in batches, so that memory does not grow with a file.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Protocol, cast

import duckdb

FORMATS = ("chrome", "perfetto", "speedscope", "collapsed")
"""The modules of this folder that write a format; imported when they are used."""


class Exporter(Protocol):
    """What the module of a format has."""

    EXTENSION: str
    """Of files that hold it."""
    TITLE: str
    """What it is and which tool opens it."""

    def pieces(self, connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
        """The file, piece by piece, of what `slices.choose` left in the connection."""


def exporter(name: str) -> Exporter:
    """The module of a format."""
    return cast(Exporter, importlib.import_module(f"traceview.exports.{name}"))
