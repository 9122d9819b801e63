"""Parts that the studies share: how lists and counts are read, where results go, and the note on a busy machine."""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traceview import render
from traceview.cli.output import emit, say
from traceview.errors import UsageError
from traceview.experiments import quiet
from traceview.paths import from_here
from traceview.recording.launch import shell_code, stoppable

if TYPE_CHECKING:
    from traceview.analysis.model import Report
    from traceview.experiments.results import Journal


def finished(
    measure: Callable[[], str | None],
    journal: Journal,
    table: str,
    answer: Callable[[Journal], None] | None = None,
) -> int:
    """Measure into a folder that is a whole capture however this ends; the exit code, 0 where no signal ended it.

    `measure` says what the budget left out, `answer` adds what rests on all rows.
    """
    from traceview.experiments.results import discard

    resumed = f"the same command and -o {from_here(journal.folder)} --resume"
    try:
        with stoppable():
            left = measure()
        if left:
            say(f"the budget is spent: {left}; go on with {resumed}.")
        return 0
    except KeyboardInterrupt as stopped:
        if journal.rows(table):
            say(f"stopped; what was measured is in {from_here(journal.folder)}, go on with {resumed}.")
        else:
            say("stopped before anything was measured.")
        return shell_code(-getattr(stopped, "number", signal.SIGINT))
    finally:
        if journal.rows(table):
            if answer:
                answer(journal)
            journal.finish()
        elif journal.is_new:
            discard(journal.folder)


def add_result_options(
    parser: argparse.ArgumentParser,
    default: str = "named after the time",
    settings: str = "",
    trusted: str = "--resume",
) -> None:
    """Add the options of whatever fills a folder of results and prints its answer: -o, --resume, --trust, --format.

    `default` names the folder, `settings` what --resume takes from it or needs, `trusted` the options that run what it
    says.
    """
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help=f"capture of what was measured (default: {default})"
    )
    parser.add_argument("--resume", action="store_true", help=f"continue in the FOLDER of -o{settings}")
    parser.add_argument(
        "--trust", action="store_true",
        help=f"with {trusted}: also run results of others, or changed or moved ones; prints first what it runs",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=render.FORMATS, default="table", help="how to print the answer (default: table)"
    )


def place(output: Path | None, resume: bool, kind: str, trusts: bool | None = None) -> Path:
    """The folder to write: a new one, or with --resume the one that is there, of the same kind of study.

    `trusts`: whether results that others made may be continued; None leaves that to who knows what they run.
    """
    from traceview.experiments import results, trust

    if resume and not output:
        raise UsageError("--resume needs the folder to go on with: -o FOLDER.")
    folder = output or Path(f"traceview-{kind.replace(' ', '-')}-{time.strftime('%Y%m%d-%H%M%S')}")
    results.refuse(folder)
    if resume:
        found = results.described(folder).get("kind")
        if found != kind:
            raise UsageError(f"{folder} was made by traceview {found}, not by traceview {kind}.")
        if trusts is not None:
            trust.allow(folder, trusts, say)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already; choose another name with -o, or go on with --resume.")
    return folder


def busy(shares: Sequence[float], what: str) -> str | None:
    """Return a note if the machine was too busy for wall times; `what` was measured with these shares of others."""
    found = [share for share in shares if share >= quiet.QUIET_PCT]
    if not found:
        return None
    return (
        f"the machine was too busy to tell in {len(found)} of {len(shares)} {what}: other programs took up to "
        f"{max(found):.0f} % of the cores. Wall times there say as much about them; run it again when it is quiet."
    )


def disturbed(share: float | None) -> str:
    """The end of a line of progress: that others took the cores, where they did."""
    return f"; busy: other programs took {share:.0f} % of the cores" if share and share >= quiet.QUIET_PCT else ""


def left(seconds: float | None) -> str:
    """The end of a line of progress: how long the rest takes."""
    if not seconds:
        return ""
    return f"; about {seconds / 60:.0f} min left" if seconds >= 90 else f"; about {seconds:.0f} s left"


def answered(folder: Path, name: str) -> Report:
    """The report of a folder of results, named as it is from here."""
    from traceview import store
    from traceview.analysis import reports

    with store.open_capture(folder) as connection:
        return reports.run(connection, name, {}, source=str(from_here(folder)))


def tell(folder: Path, report: str, sections: Sequence[str], form: str, shares: Sequence[float], what: str) -> None:
    """Print sections of the report of a study, say what has all of it, and whether the machine was busy, see `busy`."""
    emit([shown(folder, report, sections, form)], None)
    say(f"`traceview report {folder} {report}` has all of it.")
    if note := busy(shares, what):
        say(note)


def shown(folder: Path, report: str, sections: Sequence[str], form: str = "table") -> str:
    """Sections of the report of a study, as it has them, by how their names end."""
    from traceview import store
    from traceview.analysis import reports
    from traceview.analysis.model import Report

    queries = [query for query in reports.load(report).sections if query.name.endswith(tuple(sections))]
    with store.open_capture(folder) as connection:
        parts = tuple(reports.section(connection, query) for query in queries)
    return str(render.renderer(form).render(Report(report, "", "", parts, ())))


def threads(given: int | None) -> int:
    """The threads to measure with: those given, or one for each core. Raises `UsageError` for more than cores."""
    n = quiet.n_cores()
    if given and given > n:
        cores = f"{n} core{'s' * (n > 1)}"
        raise UsageError(f"{given:,} threads cannot be measured here: this process may use {cores}.")
    return given or n
