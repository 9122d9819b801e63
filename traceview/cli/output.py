"""Writes the answers of every verb: to stdout as data, or to a file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from traceview.errors import InputError, writing
from traceview.render.characters import clean

if TYPE_CHECKING:
    from traceview.analysis.model import Report, Section
    from traceview.analysis.reports import Recipe

DEFAULT_LIMIT = 30
"""Rows per section in tables and Markdown, unless --limit says otherwise."""


def sql_text(recipe: Recipe, params: Mapping[str, str]) -> str:
    """The queries of a report as one SQL text that runs as it is, with what their parameters are and the views used."""
    from traceview.store import graph

    parts = []
    for query in recipe.sections:
        lines = [f"-- queries/{recipe.name}/{query.name}.sql: {query.title}", f"-- {query.doc}"]
        for name, param in query.params.items():
            value = params.get(name, param.default)
            lines.append(f"-- ${name} = {'NULL' if value is None else value} ({param.type}: {param.doc})")
        used = graph.resting_on(graph.sources(query.body))
        if recipe.is_prepared:
            lines.append("-- reads critical_*: tables that the report works out first (docs/critical.md)")
        if used:
            lines.append(f"-- uses queries/views/: {', '.join(used)}")
        parts.append("\n".join([*lines, f"{query.written(params)};", ""]))
    return "\n".join(parts)


SCREEN = 40
"""Lines of the first screen of a report."""
_FORMS = (
    (8, True, True),
    (5, True, True),
    (8, False, True),
    (5, False, True),
    *((n, False, False) for n in (8, 6, 5, 4, 3, 2, 1, 0)),
)
"""Rows of its tables (0: one, of the first alone), whether it has all of them, and the footer: the first that fits."""


def first_screen(report: Report, cut: Callable[[Section, int], Section]) -> Report:
    """As much of a report as fits its first screen."""
    from traceview.analysis import reports
    from traceview.render import table

    for form in _FORMS:
        found = reports.first_screen(report, cut, *form)
        # A table takes a line for each row, and four more with its title: what is longer need not be drawn.
        least = sum(len(it.rows) + (4 if it.title else 2) for it in found.sections if it.rows and not it.look.lines)
        if least < SCREEN and table.render(found).count("\n") < SCREEN:
            break
    return found


def emit(pieces: Iterable[str], output: str | None) -> None:
    """Write text to a file, or to stdout. A reader that leaves (`| head`) is not an error: the rest is not written."""
    if output is None:
        with to_stdout():
            for piece in pieces:
                sys.stdout.write(piece)
                sys.stdout.flush()
        return
    with whole(Path(output)) as file:
        for piece in pieces:
            file.write(piece.encode())


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name when it is whole: until then one that is there stays as it is, and keeps its mode.

    A pipe, a device, or where a link leads, is written to and not replaced; so is a file of its own where the folder
    takes no other, or which is mounted there.
    """
    with writing(str(path)):
        is_there = path.exists()
        if path.is_symlink() or (is_there and not (path.is_file() and os.access(path.parent, os.W_OK))):
            with path.open("wb") as file:
                yield file
            return
        draft = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
        with draft.open("xb") as file:
            try:
                if is_there:
                    with path.open("r+b") as before:  # Raises where nobody may write.
                        os.fchmod(file.fileno(), os.fstat(before.fileno()).st_mode)
                yield file
                file.close()
                try:
                    draft.replace(path)
                except OSError as error:
                    if error.errno != errno.EBUSY:
                        raise
                    path.write_bytes(draft.read_bytes())
            finally:
                draft.unlink(missing_ok=True)


@contextmanager
def to_stdout() -> Iterator[None]:
    """Ends what is written to stdout where nobody reads on, and turns what else hinders it into a sentence."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        silence()
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"cannot write to stdout: {error.strerror}.") from error


def silence() -> None:
    """Discard what is still written to stdout: its reader is gone, and flushing would fail at the exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str, has_lines: bool = False) -> None:
    """A message on stderr, made harmless: on one line unless it has several. Where nobody can read it, the exit code
    has to do."""
    shown = "\n".join(map(clean, text.splitlines())) if has_lines else clean(text)
    with suppress(OSError, ValueError):
        print(f"traceview: {shown}", file=sys.stderr, flush=True)
