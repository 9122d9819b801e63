"""Completions of names on the command line: called by the shell, when Tab is pressed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence


def completed(action: argparse.Action, names: Callable[[], Sequence[str]]) -> None:
    """Have an argument complete to these names. They are asked for only when somebody does."""
    action.completer = lambda **_: list(names())  # type: ignore[attr-defined]


def reports() -> list[str]:
    """The reports."""
    from traceview.analysis import reports

    return reports.names()


def rules() -> list[str]:
    """The advice rules."""
    from traceview.analysis import advice

    return advice.names()


def networks() -> list[str]:
    """The built-in networks."""
    from traceview.experiments.algorithms import networks

    return networks.names()


def queries() -> list[str]:
    """Return the completions of a query: the tables, and the words that explain them."""
    from traceview.store import graph
    from traceview.tables import TABLES

    tables = [*graph.names(), *(f"raw.{table.name}" for table in TABLES)]
    return [".tables", ".schema", *(f".schema {name}" for name in tables), *(f"FROM {name}" for name in tables)]
