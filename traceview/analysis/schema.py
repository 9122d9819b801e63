"""Tables and views that can be queried: columns, their types and meanings.

A meaning comes from the header of a view or from the definition of a recorded table, never from a list beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from traceview import sql
from traceview.analysis.model import Column, Report, Section
from traceview.errors import UsageError, meant
from traceview.lazy import duckdb
from traceview.paths import content, read_toml
from traceview.store.queries import columns
from traceview.tables import BY_NAME, TABLES

VOCABULARY = read_toml(content("queries") / "vocabulary.toml")
"""Columns that views add to what is recorded, where a view's header does not explain them itself."""

FIRST = (
    "activities", "kernels", "ops", "conv_calls", "memcpys", "collectives", "steps", "idle_gaps", "op_costs", "ranges",
)  # fmt: skip
"""Tables that most questions need."""


def schema(connection: duckdb.DuckDBPyConnection, table: str | None = None) -> Report:
    """Describe a table or view, and its columns with type and meaning; every public view when none is named.

    Raises `UsageError` for an unknown name.
    """
    by_table = columns(connection)
    if table is not None and table not in by_table:
        raise UsageError(f"there is no table {table!r}; {meant(table, by_table)}see `.tables`.")
    chosen = [table] if table else [name for name in by_table if not name.startswith("raw.")]
    return Report("schema", "", "", tuple(_schema_of(name, by_table[name]) for name in chosen), ())


def tables(has_all: bool = True) -> Report:
    """Every view and recorded table, with what one row of it is; or those that most questions need."""
    views = {path.stem: sql.load(path).doc for path in sorted((content("queries") / "views").glob("*.sql"))}
    recorded = {f"raw.{table.name}": f"As recorded: {table.doc}." for table in TABLES}
    shape = (Column("table", "VARCHAR", "name to use in SQL"), Column("doc", "VARCHAR", "what one row is"))
    rows = tuple({**views, **recorded}.items())
    doc = "Views add derived columns (category, algorithm, layer, step); raw.* holds only what the trace recorded."
    if not has_all:
        doc = f"One row of each is what doc says. `.tables all` lists {len(rows)}, `.schema NAME` the columns of one."
        rows = tuple((name, views[name].partition(". ")[0].rstrip(".") + ".") for name in FIRST)
    return Report("tables", "", "", (Section("tables", "Tables", doc, shape, rows, None, ""),), ())


def flattened(report: Report) -> Section:
    """Return the report of `schema` or `tables` as one table: rows are led by the name of the table they describe."""
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
