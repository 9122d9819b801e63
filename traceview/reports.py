"""Runs a report: a folder of `queries/` with a `report.toml` (title, doc, sections) and one `.sql` file per section.

The one law: the folder is the report. A section without rows says so in a sentence, and every report ends with what its
numbers rest on (`queries/footer.sql`).
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from traceview import sql
from traceview.errors import UsageError
from traceview.model import Column, Report, Section
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


def load(name: str) -> Recipe:
    """Read a report's folder. Raises `UsageError` for a name that is no report."""
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"there is no report {name!r}; {hint}The reports are: {', '.join(known)}.")
    folder = content("queries") / name
    facts = tomllib.loads((folder / "report.toml").read_text(encoding="utf-8"))
    queries = tuple(sql.load(folder / f"{section}.sql") for section in facts["sections"])
    return Recipe(name, facts["title"], facts.get("doc", ""), queries)


def run(connection: duckdb.DuckDBPyConnection, name: str, params: Mapping[str, str] | None = None) -> Report:
    """Run every section. `params` are texts for the sections' parameters; those a section does not have are ignored.

    Raises `UsageError` for an unknown report and for a value that does not fit its parameter's type.
    """
    recipe = load(name)
    sections = tuple(_section(connection, query, params or {}) for query in recipe.sections)
    return Report(name, recipe.title, recipe.doc, sections, footer(connection))


def footer(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """The lines under every report: what could not be attributed, what was wrong in the input."""
    path = content("queries") / "footer.sql"
    if not path.exists():
        return ()
    return tuple(str(text) for (text,) in sql.load(path).run(connection))


def cut(report: Report, limit: int | None) -> Report:
    """At most `limit` rows per section, each shortened one with a note of how many there are; 0 or None is all."""
    if not limit:
        return report
    return replace(report, sections=tuple(_cut(section, limit) for section in report.sections))


def views_of(query: sql.Query) -> list[str]:
    """The views of `queries/views` that a query rests on, directly or through another view, each after what it uses."""
    bodies = {path.stem: path.read_text(encoding="utf-8") for path in (content("queries") / "views").glob("*.sql")}
    order: list[str] = []

    def visit(body: str, pending: tuple[str, ...]) -> None:
        text = re.sub(r"--[^\n]*", "", body)
        used = re.findall(r"\b(?:FROM|JOIN)\s+([a-z_]+)\b(?!\s*\.)", text, re.IGNORECASE)
        for view in dict.fromkeys(used):
            if view in bodies and view not in order and view not in pending:
                visit(bodies[view], (*pending, view))
                order.append(view)

    visit(query.body, ())
    return order


def _section(connection: duckdb.DuckDBPyConnection, query: sql.Query, params: Mapping[str, str]) -> Section:
    values = {
        name: _typed(connection, name, params[name], param) for name, param in query.params.items() if name in params
    }
    rows = query.run(connection, values)
    columns = tuple(
        Column(entry[0], str(entry[1]), query.columns.get(entry[0], "")) for entry in connection.description or ()
    )
    note = None if rows else (query.cannot or NO_ROWS)
    return Section(query.name, query.title, query.doc, columns, tuple(rows), note, query.body)


def _typed(connection: duckdb.DuckDBPyConnection, name: str, text: str, param: sql.Param) -> Any:
    """The text of a parameter as a value of its type, which is written in the query's own header."""
    try:
        return connection.execute(f"SELECT CAST($1 AS {param.type})", [text]).fetchall()[0][0]
    except duckdb.Error as error:
        raise UsageError(f"{name} = {text!r} is no {param.type}: {param.doc}.") from error


def _cut(section: Section, limit: int) -> Section:
    total = len(section.rows)
    if total <= limit:
        return section
    note = f"{limit:,} of {total:,} rows; {total - limit:,} left out (--limit 0 shows all)."
    return replace(section, rows=section.rows[:limit], note=note)


def table_of(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], doc: str = "") -> Section:
    """A section of text columns that no query made."""
    return Section("", title, doc, tuple(Column(name, "VARCHAR", "") for name in columns), tuple(rows), None, "")
