"""Compares runs: a few facts per run, which any capture or a saved comparison gives, and queries over those facts.

Invariant: runs never meet in one database. `queries/compare/facts/` measures each capture on its own connection; what
`queries/compare/*.sql` sees is those small tables, one row per run and fact, so that formats and frameworks mix freely.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import duckdb

from traceview import sql
from traceview.analysis import reports
from traceview.analysis.model import Report, Section
from traceview.analysis.values import plain
from traceview.errors import InputError, UsageError
from traceview.paths import content
from traceview.store import confine

MOST_RUNS = 26
"""Runs are called A to Z."""
TYPES = frozenset(("VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"))
"""What a column of a fact can be: exact in JSON."""


@dataclass(frozen=True)
class Fact:
    """One table of facts about one run."""

    columns: tuple[tuple[str, str], ...]
    """Name and DuckDB type."""
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Run:
    """All that a comparison knows about a run."""

    name: str
    facts: dict[str, Fact]
    footer: tuple[str, ...]

    @property
    def has_steps(self) -> bool:
        """Whether its numbers are per step."""
        return bool(self.value("has_steps"))

    def value(self, column: str) -> Any:
        """One column of the one row of the table `run`."""
        fact = self.facts["run"]
        return fact.rows[0][[name for name, _ in fact.columns].index(column)]


@dataclass(frozen=True)
class Plan:
    """The queries of a comparison, in the order in which they run."""

    title: str
    doc: str
    window: tuple[sql.Query, ...]
    facts: tuple[sql.Query, ...]
    views: tuple[sql.Query, ...]
    sections: tuple[sql.Query, ...]


@cache
def plan() -> Plan:
    """Read `queries/compare/`."""
    folder = content("queries") / "compare"
    about = tomllib.loads((folder / "compare.toml").read_text(encoding="utf-8"))
    parts = {
        part: tuple(sql.load(folder / where / f"{name}.sql") for name in about[part])
        for part, where in (("window", "window"), ("facts", "facts"), ("views", "views"), ("sections", "."))
    }
    return Plan(about["title"], about["doc"], **parts)


def asked() -> str:
    """The text of every query that runs on a capture."""
    bodies = [query.body for query in (*plan().window, *plan().facts)]
    footer = (content("queries") / "footer.sql").read_text(encoding="utf-8")
    return "\n".join([*bodies, footer, "FROM scope"])


def has_steps(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the capture has steps that count."""
    return bool(connection.execute("SELECT coalesce(bool_or(has_steps), false) FROM scope").fetchall()[0][0])


def measure(
    connection: duckdb.DuckDBPyConnection, name: str, steps: tuple[int | None, int | None] | None, whole: bool
) -> Run:
    """The facts of one capture: of its steps that count, of the steps from one number to another, or of all of it.

    Raises `UsageError` when none of the steps asked for is there.
    """
    first, last = steps or (None, None)
    values = {"whole": whole, "first_step": first, "last_step": last}
    for query in plan().window:
        mine = {key: value for key, value in values.items() if key in query.params}
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {query.name} AS {query.body}", mine or None)
    if steps and not whole and not connection.execute("SELECT count(*) FROM chosen_steps").fetchall()[0][0]:
        raise UsageError(f"{name} has none of the steps asked for; `traceview report INPUT steps` lists them.")
    facts = {}
    for query in plan().facts:
        rows = query.run(connection)
        shape = tuple((entry[0], str(entry[1])) for entry in connection.description or ())
        facts[query.name] = Fact(shape, tuple(tuple(plain(value) for value in row) for row in rows))
    return Run(name, facts, reports.footer(connection))


def compare(runs: Sequence[Run], accepted: Iterable[str] = ()) -> Report:
    """Every run against the first. `accepted`: conditions that may differ.

    Raises `UsageError` for too many runs, `InputError` for facts of another version of traceview.
    """
    if len(runs) > MOST_RUNS:
        raise UsageError(f"at most {MOST_RUNS} runs can be compared at once.")
    with confine.connect() as connection:
        for query in plan().facts:
            _gather(connection, query, runs)
        for query in plan().views:
            values = {"accepted": list(accepted)} if "accepted" in query.params else None
            connection.execute(f"CREATE TABLE {query.name} AS {query.body}", values)
        sections = tuple(reports.section(connection, query) for query in plan().sections)
    footer = tuple(f"{chr(65 + number)}: {line}" for number, run in enumerate(runs) for line in run.footer)
    return Report("compare", plan().title, plan().doc, sections, footer)


def cut(report: Report, limit: int | None) -> Report:
    """At most `limit` rows per section and run, with a note of how many were left out; 0 or None is all."""
    if not limit:
        return report
    return replace(report, sections=tuple(_cut(section, limit) for section in report.sections))


def _cut(section: Section, limit: int) -> Section:
    seen: Counter[str] = Counter()
    rows = []
    for row in section.rows:
        seen[row[0]] += 1
        if seen[row[0]] <= limit:
            rows.append(row)
    left_out = len(section.rows) - len(rows)
    if not left_out:
        return section
    note = f"{left_out:,} of {len(section.rows):,} rows left out: {limit:,} per run are shown (--limit 0 shows all)."
    return replace(section, rows=tuple(rows), note=note)


def saved(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The facts of runs as JSON data, for `restored`."""
    return [
        {
            "name": run.name,
            "footer": list(run.footer),
            "facts": {
                name: {"columns": [list(column) for column in fact.columns], "rows": [list(row) for row in fact.rows]}
                for name, fact in run.facts.items()
            },
        }
        for run in runs
    ]


def restored(data: object, source: str) -> Run:
    """The first run of what `saved` made. Raises `InputError` for anything else."""
    try:
        first = data[0]  # type: ignore[index]
        facts = {
            name: Fact(
                tuple((str(column), str(type_)) for column, type_ in fact["columns"]),
                tuple(tuple(row) for row in fact["rows"]),
            )
            for name, fact in first["facts"].items()
        }
        footer = tuple(str(line) for line in first["footer"])
        name = str(first["name"])
    except (TypeError, KeyError, IndexError, ValueError, AttributeError) as error:
        raise InputError(f"{source} is no comparison that `traceview compare --format json` wrote.") from error
    _check(facts, source)
    return Run(name, facts, footer)


def _check(facts: Mapping[str, Fact], source: str) -> None:
    for query in plan().facts:
        fact = facts.get(query.name)
        names = [name for name, _ in fact.columns] if fact else []
        is_whole = fact is not None and all(len(row) == len(names) for row in fact.rows)
        if fact is None or names != list(query.columns) or not is_whole or {type_ for _, type_ in fact.columns} - TYPES:
            raise InputError(f"{source} was written by another version of traceview, or changed: write it again.")
    if len(facts["run"].rows) != 1:
        raise InputError(f"{source} does not hold exactly one run where one is described; write it again.")


def _gather(connection: duckdb.DuckDBPyConnection, query: sql.Query, runs: Sequence[Run]) -> None:
    """One table of a fact for all runs, with the number of the run in front (and its name in the table `run`)."""
    shape = runs[0].facts[query.name].columns
    led = [("run", "BIGINT"), *([("name", "VARCHAR")] if query.name == "run" else []), *shape]
    rows = []
    for number, run in enumerate(runs):
        lead = (number, run.name) if query.name == "run" else (number,)
        rows += [(*lead, *row) for row in run.facts[query.name].rows]
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in led]
    picked = ", ".join(f'unnest(CAST($c{n} AS {type_}[])) AS "{name}"' for n, (name, type_) in enumerate(led))
    values = {f"c{n}": list(column) for n, column in enumerate(columns)}
    try:
        connection.execute(f'CREATE TABLE "{query.name}" AS SELECT {picked}', values)
    except duckdb.ConversionException as error:
        raise InputError(f"a saved comparison holds a value that is none ({str(error).splitlines()[0]}).") from error
