"""Runs a report: a folder of `queries/` with a `report.toml` (title, doc, sections) and one `.sql` file per section.

Invariant: the folder is the report. A section without rows says so in a sentence, and every report ends with what its
numbers rest on (`queries/footer.sql`). Of results of an experiment (tune, study, schedule), which are no recording, a
question that only a recording can answer is answered with what the folder is, and with what shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

import tomli

from traceview import sql
from traceview.analysis.model import TRACE, Column, Look, Report, Section
from traceview.errors import InputError, UsageError, meant, unknown
from traceview.lazy import duckdb
from traceview.paths import content
from traceview.store import materialized, views

NO_ROWS = "No rows."
MOST_REMEMBERED = 1_000
"""Rows of a report up to which it is remembered: a second overview takes 0.3 instead of 0.7 s (28 November 2026)."""
_SHORT = re.compile(r"[\w./-]{1,24}")
"""A trace's name that stands in a command as it is."""


@dataclass(frozen=True)
class Recipe:
    """A report that has not been run: its sections in order."""

    name: str
    title: str
    doc: str
    sections: tuple[sql.Query, ...]
    is_brief: bool = False
    advice_after: str | None = None
    """The section behind which the best finding of advice stands, if anywhere."""
    is_prepared: bool = False
    """Whether its sections read what `critical` works out first."""

    def params(self) -> dict[str, sql.Param]:
        """Every parameter of any section, by name."""
        queries = (*self.sections, _critical().query("window")) if self.is_prepared else self.sections
        return {name: param for query in queries for name, param in query.params.items()}


def _critical() -> Any:
    """Import the module for the critical path; few reports need it, and it imports numpy."""
    from traceview.analysis import critical

    return critical


def names() -> list[str]:
    """Every report there is, the overview first."""
    found = [path.parent.name for path in content("queries").glob("*/report.toml")]
    return sorted(found, key=lambda name: (name != "overview", name))


def load(name: str, options: Iterable[str] = (), has_steps: bool = True) -> Recipe:
    """Read a report's folder; `options` name sections that it shows on request only, where it has them.

    `has_steps`: its texts speak of steps; otherwise of the whole recording.

    Raises `UsageError` for a name that is not a report.
    """
    known = names()
    if name not in known:
        raise unknown("report", name, known, "`traceview list reports` names them all.")
    folder = content("queries") / name
    facts = sql.one_line(tomli.loads(sql.either((folder / "report.toml").read_text(encoding="utf-8"), has_steps)))
    on_request = [section for option in options for section in facts.get("options", {}).get(option, ())]
    queries = tuple(sql.load(folder / f"{section}.sql", has_steps) for section in [*facts["sections"], *on_request])
    return Recipe(
        name,
        facts["title"],
        facts.get("doc", ""),
        queries,
        facts.get("brief", False),
        facts.get("advice_after"),
        facts.get("critical_path", False),
    )


def run(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    params: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
    source: str = TRACE,
    best: Callable[[duckdb.DuckDBPyConnection], Section] | None = None,
    begun: Callable[[Report], None] | None = None,
    is_remembered: bool = False,
) -> Report:
    """Run every section. `params` are texts for the sections' parameters; those a section does not have are ignored.

    `source` is what the user calls the trace, for commands to run next; `best` makes the section of the best finding,
    which reports leave out without it and which takes longest; what stands before it goes to `begun` first.
    `is_remembered`: a later command that asks the same, with `best`, can have it from `remembered`. Raises `UsageError`
    for an unknown report and for a value that does not fit its parameter's type.
    """
    recipe = load(name, options, _has_steps(connection))
    if recipe.is_prepared:
        _critical().prepare(connection, params or {})
    report = Report(name, recipe.title, recipe.doc, (), (), recipe.is_brief)
    lines = experiment(connection, name)

    def answered(queries: Sequence[sql.Query]) -> list[Section]:
        if recipe.is_prepared:  # Temporary tables are of this connection alone.
            return [section(connection, query, params) for query in queries]
        views.make_all(connection, (query.body for query in queries))
        return views.ask_each(connection, lambda own, query: section(own, query, params), queries)

    names = [query.name for query in recipe.sections]
    n_first = names.index(recipe.advice_after) + 1 if best and recipe.advice_after and not lines else 0
    sections = answered(recipe.sections[:n_first])
    if best and n_first:
        if begun:
            begun(for_trace(replace(report, sections=tuple(sections)), source))
        sections.append(best(connection))
    sections += answered(recipe.sections[n_first:])
    report = _explained(replace(report, sections=tuple(sections), footer=footer(connection)), lines)
    own = views.memory_of(connection) if is_remembered and not params and not options else None
    if own and sum(len(section.rows) for section in sections) <= MOST_REMEMBERED:
        materialized.remember(own, asdict(report), name)
    return for_trace(report, source)


def experiment(connection: duckdb.DuckDBPyConnection, name: str = "") -> tuple[str, ...]:
    """One sentence where the capture holds results of an experiment and no recording; not for their own report."""
    return tuple(text for text, report in _experiments(connection) if report != name)


def of_experiment(connection: duckdb.DuckDBPyConnection) -> list[Report]:
    """The reports that show the results of an experiment; none for a recording."""
    return [run(connection, name) for name in dict.fromkeys(report for _, report in _experiments(connection))]


def _experiments(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    return _rows_once(connection, "experiment")


def _rows_once(connection: duckdb.DuckDBPyConnection, name: str) -> list[tuple[Any, ...]]:
    """The rows of `queries/NAME.sql`, which several answers about a capture hold."""
    notes = views.notes(connection)
    if name not in notes:
        notes[name] = sql.load(content("queries") / f"{name}.sql").run(connection)
    rows: list[tuple[Any, ...]] = notes[name]
    return rows


def _explained(report: Report, lines: tuple[str, ...]) -> Report:
    """A report that found nothing to say of an experiment, with what that is; of a brief one only the rest is kept."""
    if not lines:
        return report
    if report.is_brief:
        first, *others = report.sections
        rest = tuple(section for section in others if section.rows)
        return replace(report, doc="", sections=(replace(first, note=" ".join(lines)), *rest))
    if any(section.rows for section in report.sections):
        return report
    return replace(report, footer=(*lines, *report.footer))


def remembered(folder: Path, name: str, source: str) -> Report | None:
    """The report of a capture as an earlier command made it, without a connection; None where there is none."""
    try:
        plain = materialized.recall(materialized.place(folder), name)
        sections = tuple(map(_section_again, plain["sections"]))
        return for_trace(Report(**{**plain, "sections": sections, "footer": tuple(plain["footer"])}), source)
    except (TypeError, KeyError, AttributeError, OSError, InputError):
        return None


def _section_again(plain: Mapping[str, Any]) -> Section:
    columns, rows = (Column(**column) for column in plain["columns"]), map(tuple, plain["rows"])
    return Section(
        **{**plain, "columns": tuple(columns), "rows": tuple(rows), "look": look(plain["look"]), "unseen": ()}
    )


def _has_steps(connection: duckdb.DuckDBPyConnection) -> bool:
    return bool(sql.load(content("queries") / "speaks_of_steps.sql").run(connection))


def for_trace(report: Report, source: str) -> Report:
    """The report with its commands for this trace, where its name is short and plain."""
    if not _SHORT.fullmatch(source) or source.startswith("-"):
        return report

    def named(text: Any) -> Any:
        return text.replace(f" {TRACE} ", f" {source} ") if isinstance(text, str) else text

    sections = []
    for part in report.sections:
        at = [index for index, column in enumerate(part.columns) if column.name == "command"]
        rows = (tuple(named(value) if n in at else value for n, value in enumerate(row)) for row in part.rows)
        sections.append(replace(part, note=named(part.note), rows=tuple(rows) if at else part.rows))
    return replace(report, sections=tuple(sections), footer=tuple(map(named, report.footer)))


def texts(params: Mapping[str, object], recipes: Iterable[Recipe]) -> dict[str, str]:
    """Values of parameters as texts. Raises `UsageError` for a name that no section has."""
    known = {name for recipe in recipes for name in recipe.params()}
    for name in params:
        if name not in known:
            there = f"parameters are: {', '.join(sorted(known))}" if known else "there are no parameters here"
            raise UsageError(f"unknown parameter {name!r}; {meant(name, known)}{there}.")
    return {name: str(value) for name, value in params.items()}


def summary(connection: duckdb.DuckDBPyConnection, name: str) -> Report:
    """Sum up a capture in a few lines (`queries/summary.sql`)."""
    lines = section(connection, sql.load(content("queries") / "summary.sql"))
    return Report("summary", name, "", (replace(lines, title="", doc=""),), ())


def footer(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """The lines under every report: what could not be attributed, what was wrong in the input."""
    return tuple(str(text) for (text,) in _rows_once(connection, "footer"))


def unmatched(connection: duckdb.DuckDBPyConnection) -> Section:
    """The names that no rule claims (`queries/unmatched.sql`), by time."""
    return section(connection, sql.load(content("queries") / "unmatched.sql"))


def cut(report: Report, limit: int | None, by: Callable[[Section, int], Section]) -> Report:
    """At most `limit` rows of each section, cut by the rule of the report; 0 or None is all."""
    return replace(report, sections=tuple(by(it, limit) for it in report.sections)) if limit else report


def shown(report: Report, most: int) -> Report:
    """As many rows as each section shows people where they do not ask for a number: its own, or `most`."""
    return replace(report, sections=tuple(_shown(section, most) for section in report.sections))


def _shown(section: Section, most: int) -> Section:
    if section.look.worst and len({row[0] for row in section.rows}) == len(section.rows) > MOST:
        return summed_up(section, section.look.worst)
    limit = section.look.top or most
    # A row for the rest takes as much room as the one row that it would stand for.
    n_rows = sum(row[0] not in section.look.always for row in section.rows)
    return section if section.look.rest and n_rows == limit + 1 else cut_section(section, limit, with_rest=True)


def first_screen(
    report: Report, cut: Callable[[Section, int], Section], rows: int, has_all: bool, has_footer: bool
) -> Report:
    """The report's lines, and at most `rows` rows of the tables of a first screen, or of all; names the others.

    With 0 rows one of its first table, and no other.
    """
    on_it, left_out, has_table = [], [], False
    for section in report.sections:
        look = section.look
        if look.lines or (look.line and section.rows):
            on_it.append(replace(section, look=replace(look, lines=look.lines or (look.line,), brief="")))
        elif not section.title or (
            (look.first or has_all or (has_footer and not section.rows)) and (rows or not has_table)
        ):
            has_table |= bool(section.title)
            short = _narrow(cut(section, min(rows, look.first or rows) or 1))
            on_it.append(replace(short, note=section.note, unseen=()))
        elif section.rows and len(section.rows) >= look.least_rows:
            left_out.append(section.name)
    hint = (f"--all shows more: {', '.join(left_out)}.",) if left_out else ()
    title = f"{report.title}: {report.doc[:1].lower()}{report.doc[1:]}" if report.is_brief else report.title
    footer = (*(report.footer if has_footer else ()), *hint)
    return replace(report, title=title, doc="", sections=tuple(on_it), footer=footer)


def _narrow(section: Section) -> Section:
    """The section without texts, and without columns that a first screen lacks or that hold nothing."""
    at = [index for index, column in enumerate(section.columns) if column.name not in section.look.without]
    at = [index for index in at if not section.rows or any(row[index] is not None for row in section.rows)]
    columns = tuple(section.columns[index] for index in at)
    rows = tuple(tuple(row[index] for index in at) for row in section.rows)
    return replace(section, columns=columns, rows=rows, look=replace(section.look, brief=""))


def with_full_names(report: Report) -> Report:
    """The report with names as recorded, however long."""
    sections = (replace(section, look=replace(section.look, kernels=())) for section in report.sections)
    return replace(report, sections=tuple(sections))


def section(
    connection: duckdb.DuckDBPyConnection, query: sql.Query, params: Mapping[str, str] | None = None
) -> Section:
    """Run one query as a section; without rows its note says why."""
    rows = query.run(connection, query.typed(connection, params or {}))
    columns = tuple(
        Column(entry[0], str(entry[1]), query.columns.get(entry[0], "")) for entry in connection.description or ()
    )
    note = None if rows else (query.cannot or NO_ROWS)
    shown = query.extra.get("bar"), query.extra.get("chart"), look(query.extra)
    return Section(query.name, query.title, query.doc, columns, tuple(rows), note, query.body, *shown)


def look(header: Mapping[str, Any]) -> Look:
    """How the rows of a query are shown to people, from the header."""
    given = {entry.name: header[entry.name] for entry in fields(Look) if entry.name in header}
    shape: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Look(**shape)


def cut_section(section: Section, limit: int, with_rest: bool = True) -> Section:
    """At most `limit` rows, with a note of how many there are, or (`with_rest`) a row of the sums that can be had."""
    total, always = len(section.rows), section.look.always if with_rest else ()
    rows = [row for row in section.rows if row[0] not in always]
    if len(rows) <= limit:
        return section
    shown, unseen = tuple(rows[:limit]), tuple(rows[limit:])
    own = tuple(row for row in section.rows if row[0] in always)
    if with_rest and section.look.rest:
        note = f"--limit 0 shows all {total:,} rows."
        return replace(section, rows=(*shown, _rest(section, unseen), *own), note=note, unseen=unseen)
    left_out = len(unseen)
    note = f"{total - left_out:,} of {total:,} rows; {left_out:,} left out (--limit 0 shows all)."
    return replace(section, rows=(*shown, *own), note=note, unseen=unseen)


def _rest(section: Section, rows: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """One row for all these: how many they are, and the sums of what can be added up."""
    label = f"({len(rows):,} other{'' if len(rows) == 1 else 's'})"
    known = [[row[at] for row in rows if row[at] is not None] for at in range(len(section.columns))]
    sums = [
        sum(values) if values and column.name in section.look.rest else None
        for column, values in zip(section.columns, known, strict=True)
    ]
    return (label, *sums[1:])


MOST = 16
"""Ranks up to which each has its row."""
WORST = 5
"""Ranks that are named of more."""
KINDS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")
_OF = (("minimum", min), ("median", median), ("maximum", max))


def summed_up(section: Section, worst: str) -> Section:
    """The section with three rows about all its ranks, each column by itself, and the ranks with most of one column."""
    at = [column.name for column in section.columns].index(worst)
    known = [row for row in section.rows if row[at] is not None]
    last = sorted(known, key=lambda row: (-row[at], row[0]))[:WORST]
    rows = [_row(section, name, of) for name, of in _OF]
    what = section.look.headings.get(worst, worst.rpartition("_")[0] or worst)
    note = (
        f"{len(section.rows):,} ranks: minimum, median and maximum of each column, then the {len(last)} ranks "
        f"with most {what}. --limit 0 shows all."
    )
    return replace(section, rows=(*rows, *last), note=note, unseen=section.rows)


def _row(section: Section, name: str, of: Any) -> tuple[Any, ...]:
    row: list[Any] = [name]
    for place, column in enumerate(section.columns[1:], 1):
        values = [row[place] for row in section.rows if row[place] is not None]
        is_number = any(kind in column.type for kind in KINDS) and "[" not in column.type
        found = of(values) if is_number and values else None
        row.append(round(found) if found is not None and "INT" in column.type else found)
    return tuple(row)
