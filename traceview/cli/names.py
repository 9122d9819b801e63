"""Completions of names on the command line: called by the shell, when Tab is pressed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module


def completed(action: argparse.Action, names: Callable[[], Sequence[str]] | str) -> None:
    """Have an argument complete to these names, or those of a module, which is loaded only when somebody asks."""
    listed = names if callable(names) else lambda: import_module(f"traceview.{names}").names()
    action.completer = lambda **_: list(listed())  # type: ignore[attr-defined]


def queries() -> list[str]:
    """Return the completions of a query: the tables, and the words that explain them."""
    from traceview.store import graph
    from traceview.tables import TABLES

    tables = [*graph.names(), *(f"raw.{table.name}" for table in TABLES)]
    return [".tables", ".schema", *(f".schema {name}" for name in tables), *(f"FROM {name}" for name in tables)]
