"""Runs a report: a folder of `queries/` with a `report.toml` (title, doc, sections) and one `.sql` file per section.

The one law: the folder is the report. A section without rows says so in a sentence, and every report ends with what its
numbers rest on (`queries/footer.sql`).
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import duckdb

from traceview import sql
from traceview.analysis.model import Column, Report, Section
from traceview.errors import UsageError
from traceview.paths import content
from traceview.tables import BY_NAME, TABLES

NO_ROWS = "No rows."

VOCABULARY = {
    "rank": "process of the job",
    "end_ns": "end, nanoseconds since the capture's origin",
    "category": "what it does; `traceview list categories`",
    "algorithm": "how a convolution was computed: implicit_gemm, winograd, fft ...",
    "direction": "pass of the training step: fprop, dgrad or wgrad",
    "role": "part in its convolution: main, transform or helper",
    "library": "library that implements it",
    "call_id": "the convolution call it is part of",
}
"""Columns that views add to what is recorded, where a view's header does not explain them itself."""


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

    Raises `UsageError` for a name that is no report.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"there is no report {name!r}; {hint}The reports are: {', '.join(known)}.")
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
    return Report(name, recipe.title, recipe.doc, sections, footer(connection))


def asked(recipes: Iterable[Recipe]) -> str:
    """The text of every query that these reports run."""
    bodies = [query.body for recipe in recipes for query in recipe.sections]
    return "\n".join([*bodies, (content("queries") / "footer.sql").read_text(encoding="utf-8")])


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
    return Section(query.name, query.title, query.doc, columns, tuple(rows), note, query.body, query.extra.get("bar"))


def _cut(section: Section, limit: int) -> Section:
    total = len(section.rows)
    if total <= limit:
        return section
    note = f"{limit:,} of {total:,} rows; {total - limit:,} left out (--limit 0 shows all)."
    return replace(section, rows=section.rows[:limit], note=note)


def schema(connection: duckdb.DuckDBPyConnection, table: str | None = None) -> Report:
    """What a table or view is, and its columns with type and meaning; every public view when none is named.

    Raises `UsageError` for a name that is none.
    """
    found = connection.execute(
        "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = current_database() AND schema_name IN ('main', 'raw') "
        "ORDER BY schema_name, table_name, column_index"
    ).fetchall()
    by_table: dict[str, list[tuple[str, str]]] = {}
    for schema_name, table_name, column, type_ in found:
        name = table_name if schema_name == "main" else f"raw.{table_name}"
        by_table.setdefault(name, []).append((column, type_))
    if table is not None and table not in by_table:
        near = difflib.get_close_matches(table, by_table, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else "see `.tables`."
        raise UsageError(f"there is no table {table!r}; {hint}")
    wanted = [table] if table else [name for name in by_table if not name.startswith("raw.")]
    return Report("schema", "", "", tuple(_schema_of(name, by_table[name]) for name in wanted), ())


def tables() -> Report:
    """Every view and recorded table, with what one row of it is."""
    views = {path.stem: sql.load(path).doc for path in sorted((content("queries") / "views").glob("*.sql"))}
    recorded = {f"raw.{table.name}": f"As recorded: {table.doc}." for table in TABLES}
    columns = (Column("table", "VARCHAR", "name to use in SQL"), Column("doc", "VARCHAR", "what one row is"))
    rows = tuple({**views, **recorded}.items())
    doc = "Views add what we think (category, algorithm, layer, step); raw.* is what the trace says, and nothing else."
    return Report("tables", "", "", (Section("tables", "Tables", doc, columns, rows, None, ""),), ())


def flattened(report: Report) -> Section:
    """What `schema` or `tables` made, as one table: its rows are led by the name of the table they describe."""
    first = report.sections[0]
    if report.name == "tables":
        return first
    rows = tuple((section.name, *row) for section in report.sections for row in section.rows)
    return replace(first, columns=(Column("table", "VARCHAR", ""), *first.columns), rows=rows)


def _schema_of(name: str, columns: Sequence[tuple[str, str]]) -> Section:
    recorded = BY_NAME.get(name.removeprefix("raw."))
    path = content("queries") / "views" / f"{name}.sql"
    view = sql.load(path) if path.exists() else None
    doc = view.doc if view else f"As recorded: {recorded.doc}." if recorded else ""
    meanings = {**_shared_meanings(), **VOCABULARY}
    meanings.update({column.name: column.doc for column in recorded.columns} if recorded else {})
    meanings.update(view.columns if view else {})
    rows = tuple((column, type_, meanings.get(column, "")) for column, type_ in columns)
    shape = tuple(Column(title, "VARCHAR", "") for title in ("column", "type", "doc"))
    return Section(name, name, doc, shape, rows, None, "")


@cache
def _shared_meanings() -> dict[str, str]:
    """Meanings of columns that every table and view which explains them explains alike."""
    texts: dict[str, set[str]] = {}
    for table in TABLES:
        for column in table.columns:
            texts.setdefault(column.name, set()).add(column.doc)
    for path in (content("queries") / "views").glob("*.sql"):
        for name, doc in sql.load(path).columns.items():
            texts.setdefault(name, set()).add(doc)
    return {name: next(iter(docs)) for name, docs in texts.items() if len(docs) == 1}
