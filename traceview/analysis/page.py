"""Everything that a page shows of a run, as plain data: the overview, advice, tables with charts, and a timeline.

Invariant: every number comes from the queries of reports or of `queries/page`, so that page and reports agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from traceview import sql
from traceview.analysis import advice, critical, findings, reports, stacks, timeline
from traceview.analysis.model import Page, Report, Section, Timeline, Track
from traceview.ingest.derive.spans import fetch
from traceview.lazy import duckdb
from traceview.paths import content, read_toml

MOST_ROWS = 15
"""Rows of the overview's tables that do not say how many they show."""
MOST_RANKS = 8
"""Ranks whose timelines stand on one page; of more it is one rank's."""


def gather(
    connection: duckdb.DuckDBPyConnection, title: str, most: int, step: int | None = None,
    steps: int | str | None = None, first: Sequence[Report] = (),
) -> Page:  # fmt: skip
    """Run everything. `most`: slices of the timeline at most; `step`: None for the median one; `steps`: how many are
    shown around it, `all`, or None for it alone, with others to choose where they are small; `first`: reports that
    stand before all others.

    Raises `UsageError` for a step that the run has not.
    """
    # Before all that takes long.
    critical.check(connection, "steps", "step", step, None)
    # The results of an experiment answer its own question: rules and timelines are of recordings.
    own = reports.of_experiment(connection)
    # A section that the report draws stands there only.
    told = {section.title for report in own for section in report.sections if section.chart}
    charts = tuple(shown for shown in _sections(connection) if shown.rows and shown.title not in told)
    found = () if own else findings.run(connection).findings
    overview = [_with_rows(report) for report in own] or [
        reports.shown(reports.run(connection, "overview", best=lambda _: findings.best_of(found)), MOST_ROWS)
    ]
    return Page(
        title=title,
        reports=tuple(map(_without_hints, (*first, *overview))),
        findings=found,
        explained=() if own else advice.explained(connection),
        charts=charts,
        timeline=None if own else _timeline(connection, step, steps, most),
    )


def _with_rows(report: Report) -> Report:
    """The report of an experiment without sections that found nothing; where all did, the first says so."""
    return replace(report, sections=tuple(it for it in report.sections if it.rows) or report.sections[:1])


def _without_hints(report: Report) -> Report:
    """Notes on left-out rows name the report that has them; the command that shows a finding is for a terminal."""
    sections = []
    for it in report.sections:
        look = replace(it.look, lines=tuple(part for part in it.look.lines if "{command}" not in part))
        note = it.note and it.note.replace("--limit 0 shows all", "`traceview report` shows all")
        sections.append(replace(it, note=note, look=look))
    return replace(report, sections=tuple(sections))


def _queries() -> Iterable[sql.Query]:
    sections = read_toml(content("queries") / "page" / "page.toml")
    return (sql.load(content("queries") / f"{name}.sql") for name in (*sections["experiments"], *sections["charts"]))


def _sections(connection: duckdb.DuckDBPyConnection) -> Iterable[Section]:
    stacks.work_out(connection)
    for query in _queries():
        yield reports.section(connection, query)


def _timeline(
    connection: duckdb.DuckDBPyConnection, step: int | None, steps: int | str | None, most: int
) -> Timeline | None:
    shown, span, note = _steps(connection, step, steps)
    ranks = [rank for (rank,) in connection.execute("SELECT DISTINCT rank FROM captures ORDER BY 1").fetchall()]
    rank = ranks[0] if len(ranks) > MOST_RANKS else None
    if rank is not None:
        note += f", of rank {rank} ({len(ranks)} ranks are too many for one timeline)"
    n_slices = timeline.choose(connection, rank, shown, span)
    if not n_slices:
        return None
    values = {"most": most}
    connection.execute(f"CREATE TEMP TABLE export_detail AS {timeline.query('details').body}")
    body = timeline.query("slices_shown").written({"most": str(most)})
    columns = fetch(connection, body)
    if n_slices > values["most"]:
        shortest = int(columns["dur_ns"].min())
        note += f"; the {most:,} longest of {n_slices:,} slices, none shorter than {shortest:,} ns"
    tracks = _tracks(connection, columns.pop("tid"))
    columns["start_ns"] -= columns["start_ns"].min()
    texts = [text for (text,) in connection.execute("SELECT text FROM export_text ORDER BY iid").fetchall()]
    details = connection.execute("SELECT DISTINCT iid, text FROM export_detail ORDER BY iid").fetchall()
    told = tuple(text for _, text in details)
    placed = {name: _place(name, values) for name, values in columns.items()}
    return Timeline(tracks, tuple(texts), told, placed, note, shown if steps is None else None)


def _place(name: str, values: Any) -> Any:
    """Texts are numbered from 1 in the queries, from 0 in a list."""
    return values if name in ("start_ns", "dur_ns", "step") else np.where(values > 0, values - 1, -1)


def _tracks(connection: duckdb.DuckDBPyConnection, tids: Any) -> tuple[Track, ...]:
    labels = connection.execute("SELECT tid, process_label, thread_label FROM export_track").fetchall()
    known = {tid: (group, label) for tid, group, label in labels}
    numbers, counts = np.unique(tids, return_counts=True)
    return tuple(Track(*known[tid], n) for tid, n in zip(numbers.tolist(), counts.tolist(), strict=True))


def _steps(
    connection: duckdb.DuckDBPyConnection, step: int | None, steps: int | str | None
) -> tuple[int | None, timeline.Span, str]:
    """The step to show, the first and last that are there, and a sentence that says which."""
    middle = critical.middle_step().run(connection)
    if step is None and (steps == "all" or not middle):
        return None, (None, None), "The whole recording"
    own = int(middle[0][0]) if step is None else step
    name = f"step {own}, the one closest to the median in length and busy time" if step is None else f"step {own}"
    if steps == "all":
        return own, (None, None), f"The whole recording; the critical path shown is that of {name}"
    ((first, last),) = timeline.query("around").run(connection, {"step": own, "steps": steps})
    told = name[0].upper() + name[1:]
    if steps is None:
        return own, (first, last), told + (f"; steps {first} to {last} can be chosen" if first < last else "")
    if first == last:
        return own, (first, last), told
    return own, (first, last), f"Steps {first} to {last}; the critical path shown is that of {name}"
