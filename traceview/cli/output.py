"""Where the answers of every verb go: to stdout as data, or to a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.errors import UsageError

if TYPE_CHECKING:
    from traceview.analysis.reports import Recipe

DEFAULT_LIMIT = 30
"""Rows of a section that people are shown unless they ask for more."""


def sql_text(recipe: Recipe, params: Mapping[str, str]) -> str:
    """The queries of a report as one SQL text that runs as it is, with what their parameters are and the views used."""
    from traceview.store import views

    parts = []
    for query in recipe.sections:
        lines = [f"-- queries/{recipe.name}/{query.name}.sql: {query.title}", f"-- {query.doc}"]
        for name, param in query.params.items():
            value = params.get(name, param.default)
            lines.append(f"-- ${name} = {'NULL' if value is None else value} ({param.type}: {param.doc})")
        used = views.resting_on(query.body)
        if used:
            lines.append(f"-- rests on queries/views/: {', '.join(used)}")
        parts.append("\n".join([*lines, f"{query.written(params)};", ""]))
    return "\n".join(parts)


def emit(pieces: Iterable[str], output: str | None) -> None:
    """Write text to a file, or to stdout in UTF-8 whatever the locale."""
    if output is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        for piece in pieces:
            sys.stdout.write(piece)
        return
    with writing(output), Path(output).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


@contextmanager
def writing(output: str) -> Iterator[None]:
    """Turns a file that cannot be written into a sentence."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}.") from error
