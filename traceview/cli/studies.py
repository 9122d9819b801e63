"""What the studies share: how lists and counts are read, where results go, and what is said of a busy machine."""

from __future__ import annotations

import argparse
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traceview.cli.output import say
from traceview.errors import UsageError
from traceview.recording.launch import shell_code, stoppable

if TYPE_CHECKING:
    from traceview.experiments.results import Journal

MOST = 65536
"""Of a count."""
MOST_DIGITS = 10


def finished(
    measure: Callable[[], str | None], journal: Journal, table: str, answer: Callable[[Journal], None] | None = None
) -> int:
    """Measure into a folder that is a whole capture however this ends; the exit code, 0 where no signal ended it.

    `measure` says what the budget left out, `answer` adds what rests on all rows.
    """
    folder = here(journal.folder)
    try:
        with stoppable():
            left = measure()
        if left:
            say(f"the budget is spent: {left}; go on with -o {folder} --resume.")
        return 0
    except KeyboardInterrupt as stopped:
        if journal.rows(table):
            say(f"stopped; what was measured is in {folder}, go on with -o {folder} --resume.")
        else:
            say("stopped before anything was measured.")
        return shell_code(-getattr(stopped, "number", signal.SIGINT))
    finally:
        if journal.rows(table):
            if answer:
                answer(journal)
            journal.finish()
        else:
            # It was new or empty, and nothing was measured.
            shutil.rmtree(folder, ignore_errors=True)


def here(folder: Path) -> Path:
    """As people name it who are in this folder."""
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def place(output: Path | None, resume: bool, kind: str) -> Path:
    """The folder to write: a new one, or with --resume the one that is there, of the same kind of study."""
    from traceview.experiments import in_use
    from traceview.experiments.results import described

    if resume and not output:
        raise UsageError("--resume needs the folder to go on with: -o FOLDER.")
    folder = output or Path(f"traceview-{kind.replace(' ', '-')}-{time.strftime('%Y%m%d-%H%M%S')}")
    in_use.refuse(folder)
    if resume:
        found = described(folder).get("kind")
        if found != kind:
            raise UsageError(f"{folder} was made by traceview {found}, not by traceview {kind}.")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already; choose another name with -o, or go on with --resume.")
    return folder


def busy(shares: Sequence[float], what: str) -> str | None:
    """That the machine was too busy for wall times, where it was; `what` was measured with these shares of others."""
    found = [share for share in shares if share >= busy_pct()]
    if not found:
        return None
    return (
        f"the machine was too busy to tell in {len(found)} of {len(shares)} {what}: other programs took up to "
        f"{max(found):.0f} % of the cores. Wall times there say as much about them; run it again when it is quiet."
    )


def disturbed(share: float | None) -> str:
    """The end of a line of progress: that others took the cores, where they did."""
    return f"; busy: other programs took {share:.0f} % of the cores" if share and share >= busy_pct() else ""


def left(seconds: float | None) -> str:
    """The end of a line of progress: how long the rest takes."""
    return (
        f"; about {seconds / 60:.0f} min left"
        if seconds and seconds >= 90
        else (f"; about {seconds:.0f} s left" if seconds else "")
    )


def shown(folder: Path, report: str, sections: Sequence[str], form: str = "table") -> str:
    """Sections of the report of a study, as it has them, by how their names end."""
    from contextlib import closing
    from dataclasses import replace

    from traceview import render, store
    from traceview.analysis import reports
    from traceview.analysis.model import Report

    recipe = reports.load(report)
    recipe = replace(recipe, sections=tuple(part for part in recipe.sections if part.name.endswith(tuple(sections))))
    with closing(store.open_capture(folder, asked=reports.asked([recipe]))) as connection:
        parts = tuple(reports.section(connection, part) for part in recipe.sections)
    return str(render.renderer(form).render(Report(report, "", "", parts, ())))


def busy_pct() -> float:
    """Of the cores: what others may take before a time says as much about them."""
    from traceview.experiments import quiet

    return quiet.QUIET_PCT


def words(text: str) -> list[str]:
    """The parts of a list."""
    return [word for word in (part.strip() for part in text.split(",")) if word]


def numbers(what: str, most: int = MOST) -> Callable[[str], list[int]]:
    """Reads a list of counts."""

    def read(text: str) -> list[int]:
        if not words(text) or not all(_is_count(word, most) for word in words(text)):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of {what}; write for example 1,4,16")
        return list(dict.fromkeys(map(int, words(text))))

    return read


def names(known: Iterable[str], what: str) -> Callable[[str], list[str]]:
    """Reads a list of some of these names, which it returns in their own order."""

    def read(text: str) -> list[str]:
        if not words(text) or set(words(text)) - set(known):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of {what}; choose from {', '.join(known)}")
        return [name for name in known if name in words(text)]

    return read


def count(text: str, most: int = MOST) -> int:
    """Reads a number from 1 on."""
    if not _is_count(text, most):
        raise argparse.ArgumentTypeError(f"{text!r} is not a count; use 1 or more")
    return int(text)


def threads(given: int | None) -> int:
    """The threads to measure with: those given, or one for each core. Raises `UsageError` for more than cores."""
    from traceview.experiments import quiet

    n = quiet.n_cores()
    if given and given > n:
        cores = f"{n} core{'s' * (n > 1)}"
        raise UsageError(f"{given:,} threads cannot be measured here: this process may use {cores}.")
    return given or n


def _is_count(text: str, most: int) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < MOST_DIGITS and 0 < int(text) <= most


def whole(text: str) -> int:
    """Reads a number from 0 on."""
    return 0 if text == "0" else count(text)
