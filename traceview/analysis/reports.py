"""Runs a report: a folder of `queries/` with a `report.toml` (title, doc, sections) and one `.sql` file per section.

Invariant: the folder is the report. A section without rows says so in a sentence, and every report ends with what its
numbers rest on (`queries/footer.sql`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import duckdb

from traceview import sql
from traceview.analysis.model import Column, Report, Section
from traceview.errors import UsageError, meant, unknown
from traceview.paths import content

NO_ROWS = "No rows."


@dataclass(frozen=True)
class Recipe:
    """A report that has not been run: its sections in order."""

    name: str
    title: str
    doc: str
    sections: tuple[sql.Query, ...]

    def params(self) -> dict[str, sql.Param]:
        """Every parameter of any section, by name."""
        return {name: param for query in self.sections for name, param in query.params.items()}


def names() -> list[str]:
    """Every report there is, the overview first."""
    found = [path.parent.name for path in content("queries").glob("*/report.toml")]
    return sorted(found, key=lambda name: (name != "overview", name))


def load(name: str, options: Iterable[str] = ()) -> Recipe:
    """Read a report's folder; `options` name sections that it shows on request only, where it has them.

    Raises `UsageError` for a name that is not a report.
    """
    known = names()
    if name not in known:
        raise unknown("report", name, known, "`traceview list reports` names them all.")
    folder = content("queries") / name
    facts = tomllib.loads((folder / "report.toml").read_text(encoding="utf-8"))
    on_request = [section for option in options for section in facts.get("options", {}).get(option, ())]
    queries = tuple(sql.load(folder / f"{section}.sql") for section in [*facts["sections"], *on_request])
    return Recipe(name, facts["title"], facts.get("doc", ""), queries)


def run(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    params: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
) -> Report:
    """Run every section. `params` are texts for the sections' parameters; those a section does not have are ignored.

    Raises `UsageError` for an unknown report and for a value that does not fit its parameter's type.
    """
    recipe = load(name, options)
    sections = tuple(section(connection, query, params) for query in recipe.sections)
    return _of_recording(connection, Report(name, recipe.title, recipe.doc, sections, footer(connection)))


def _of_recording(connection: duckdb.DuckDBPyConnection, report: Report) -> Report:
    """The report; where there are no steps its texts speak of the recording."""
    path = content("queries") / "whole_recording.toml"
    if not path.exists() or connection.execute("FROM scope WHERE has_steps LIMIT 1").fetchall():
        return report
    phrases = tomllib.loads(path.read_text(encoding="utf-8"))["phrases"]

    def said(text: str) -> str:
        for pattern, words in phrases:
            text = re.sub(pattern, words, text)
        return text.strip()

    sections = tuple(
        replace(part, doc=said(part.doc), columns=tuple(replace(col, doc=said(col.doc)) for col in part.columns))
        for part in report.sections
    )
    return replace(report, doc=said(report.doc), sections=sections)


def texts(params: Mapping[str, object], recipes: Iterable[Recipe]) -> dict[str, str]:
    """Values of parameters as texts. Raises `UsageError` for a name that no section has."""
    known = {name for recipe in recipes for name in recipe.params()}
    for name in params:
        if name not in known:
            there = f"parameters are: {', '.join(sorted(known))}" if known else "there are no parameters here"
            raise UsageError(f"unknown parameter {name!r}; {meant(name, known)}{there}.")
    return {name: str(value) for name, value in params.items()}


def summary(connection: duckdb.DuckDBPyConnection, name: str) -> Report:
    """What a capture holds, in a few lines (`queries/summary.sql`)."""
    lines = section(connection, sql.load(content("queries") / "summary.sql"))
    return Report("summary", name, "", (replace(lines, title="", doc=""),), ())


def asked(recipes: Iterable[Recipe]) -> str:
    """The text of every query that these reports run."""
    bodies = [query.body for recipe in recipes for query in recipe.sections]
    return "\n".join([*bodies, sql.text("footer")])


def footer(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """The lines under every report: what could not be attributed, what was wrong in the input."""
    path = content("queries") / "footer.sql"
    if not path.exists():
        return ()
    return tuple(str(text) for (text,) in sql.load(path).run(connection))


def unmatched(connection: duckdb.DuckDBPyConnection) -> Section:
    """The names that no rule claims (`queries/unmatched.sql`), by time."""
    return section(connection, sql.load(content("queries") / "unmatched.sql"))


def cut(report: Report, limit: int | None) -> Report:
    """At most `limit` rows per section, each shortened one with a note of how many there are; 0 or None is all."""
    if not limit:
        return report
    return replace(report, sections=tuple(_cut(section, limit) for section in report.sections))


def section(
    connection: duckdb.DuckDBPyConnection, query: sql.Query, params: Mapping[str, str] | None = None
) -> Section:
    """Run one query as a section; without rows its note says why."""
    rows = query.run(connection, query.typed(connection, params or {}))
    columns = tuple(
        Column(entry[0], str(entry[1]), query.columns.get(entry[0], "")) for entry in connection.description or ()
    )
    note = None if rows else (query.cannot or NO_ROWS)
    drawn = query.extra.get("bar"), query.extra.get("chart")
    return Section(query.name, query.title, query.doc, columns, tuple(rows), note, query.body, *drawn)


def _cut(section: Section, limit: int) -> Section:
    total = len(section.rows)
    if total <= limit:
        return section
    note = f"{limit:,} of {total:,} rows; {total - limit:,} left out (--limit 0 shows all)."
    return replace(section, rows=section.rows[:limit], note=note)
