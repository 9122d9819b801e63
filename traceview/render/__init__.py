"""Turns reports, or the result of a query, into text: one module per format, which says all there is to know of it.

Invariant: a renderer returns text and prints nothing, and no text of a trace reaches the reader as anything but itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, cast

from traceview.analysis.model import Report

FORMATS = ("table", "json", "csv", "markdown")
"""The modules of this folder that write a format; imported when they are used, for some take time to load."""


class Renderer(Protocol):
    """What the module of a format has."""

    EXTENSION: str
    """Of files that hold it."""
    FOR_PEOPLE: bool
    """Whether it scales values and shows some rows only; the others hold every row, exactly."""

    def render(self, report: Report) -> str:
        """One report."""

    def render_all(self, reports: Sequence[Report], is_for_file: bool = False) -> str:
        """One text out of several reports."""


def renderer(name: str) -> Renderer:
    """The module of a format."""
    return cast(Renderer, importlib.import_module(f"traceview.render.{name}"))


def footers_once(reports: Sequence[Report]) -> list[Report]:
    """The reports without those footers that the last one says too."""
    last = reports[-1]
    return [*(replace(report, footer=()) if report.footer == last.footer else report for report in reports[:-1]), last]
