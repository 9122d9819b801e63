"""Staging database for readers' column batches, which become one Parquet file per table.

Invariant: every table but an optional one is always written, also empty, with exactly the columns of `tables.py`. SQL
here is assembled from that module alone, never from a trace.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from traceview import sql
from traceview.decode.json_repair import strict_json
from traceview.ingest import secrets
from traceview.lazy import duckdb
from traceview.paths import literal
from traceview.tables import BY_NAME, ID, TABLES, Column, Table

MACROS = ("range_kind", "range_name")
"""Functions for queries of readers, each in `queries/ingest/events`."""
AT_HAND = "_at_hand"
"""Behind the name of a table that became a view, because some of its rows are spilled to disk."""
MAX_EXAMPLES = 10
MAX_NAMES = 1000
"""Names of processes that are looked at for secrets; of more, no name is stored."""
FEW_ROWS = 16
NEGATIVE = "negative durations, taken as 0"
NEGATIVE_SIZE = "negative sizes of copies, taken as not recorded"
LONG = "durations of more than 7 days"
BEYOND = "times or durations beyond what 64 bits hold"
BAD_CLOCK = "the clock of the trace is before 1970 or after 2096 and is not used"
WEEK_NS = 7 * 24 * 3600 * 10**9
LATEST_NS = 4 * 10**18
"""Later (the year 2096 where times count from 1970), sums and differences of times would leave 64 bits."""
LONGEST_NS = 10**18
EPOCH = 10**17
"""Nanoseconds since 1970 are above this; a clock that counts from the machine's start is not."""


@dataclass
class Problem:
    """One kind of trouble in a file: how often, and a few examples."""

    kind: str
    n: int = 0
    examples: list[str] = field(default_factory=list)


class Account:
    """Counts of events, and of what was wrong with some."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.problems: dict[str, Problem] = {}
        self.spilled: dict[str, list[Path]] = {}
        """Parquet files by table, whose rows join it when everything has been read (`Sink.join_spilled`)."""
        self.deferred: dict[int, bytes] = {}
        """Deferred events by number: they are read together when the others have been."""

    def problem(self, kind: str, n: int = 1, examples: Iterable[str | None] = ()) -> None:
        """Count something that was wrong in the input; the first few examples are kept, cut to a readable length."""
        entry = self.problems.setdefault(kind, Problem(kind))
        entry.n += n
        room = MAX_EXAMPLES - len(entry.examples)
        entry.examples += [_held(example[:200]) for example in examples if example is not None][:room]

    def count(self, column: str, n: int) -> None:
        """Add to one of the counts in this file's row of `captures`: n_events, n_kept, n_repaired, n_dropped."""
        self.facts[column] = self.facts.get(column, 0) + n

    def account(self, n_read: int, n_kept: int, lost: str) -> None:
        """Count what was read and what became rows; the rest is `lost`."""
        self.count("n_events", n_read)
        self.count("n_kept", n_kept)
        if n_kept < n_read:
            self.count("n_dropped", n_read - n_kept)
            self.problem(lost, n_read - n_kept)

    def add(self, other: Account) -> None:
        """Take over what was counted elsewhere."""
        for column, n in other.facts.items():
            self.count(column, n)
        for problem in other.problems.values():
            self.problem(problem.kind, problem.n, problem.examples)
        for table, files in other.spilled.items():
            self.spilled.setdefault(table, []).extend(files)
        self.deferred.update(other.deferred)


class Sink(Account):
    """Takes what one reader finds in the files of one rank.

    Times are nanoseconds from any zero the reader likes; `zero_unix_ns` says where that zero lies, if the trace knows.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path | None = None) -> None:
        """On the `connection` is what `made` makes. `folder`: where rows that are not looked at again until all are
        there may be spilled; None for nowhere."""
        super().__init__()
        self.connection = connection
        self.rank = 0
        self.folder = folder
        self.zero_unix_ns: int | None = None
        self.recorded_rank: int | None = None
        self.warnings: list[str] = []
        self.next_id = 1
        self._settled_to = 0
        self._joined: dict[str, list[str]] = {}
        """Files by table whose spilled rows have joined it."""
        self._n_written = 0
        connection.execute("; ".join(sql.text(f"ingest/events/{macro}") for macro in MACROS))

    def write(self, table: str, batch: pa.Table | pa.RecordBatch) -> None:
        """Add rows. Columns are matched by name; columns left out are NULL; a missing `id` is assigned."""
        if batch.num_rows == 0:
            return
        if isinstance(batch, pa.RecordBatch):
            batch = pa.Table.from_batches([batch])
        if BY_NAME[table].has_id and "id" not in batch.column_names:
            ids = pa.array(range(self.next_id, self.next_id + batch.num_rows), pa.int64())
            batch = batch.append_column("id", ids)
            self.next_id += batch.num_rows
        self.connection.register("sink_batch", batch)
        self.connection.execute(f"INSERT INTO stage.{BY_NAME[table].name} BY NAME SELECT * FROM sink_batch")
        self.connection.unregister("sink_batch")

    def write_rows(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        """Write a few Python rows (facts about devices and ranks, small logs); beyond 64 bits is NULL."""
        rows = [{name: _held(value) for name, value in row.items()} for row in rows]
        if len(rows) > FEW_ROWS:
            self.write(table, pa.Table.from_pylist(rows))
            return
        # Through parameters: an Arrow table out of Python values would import pandas, a quarter of a second.
        for row in rows:
            if BY_NAME[table].has_id and "id" not in row:
                row["id"] = self.next_id
                self.next_id += 1
        columns = [column.name for column in BY_NAME[table].read_columns()]
        for names, alike in groupby(rows, lambda row: [name for name in columns if name in row]):
            values = [[row[name] for name in names] for row in alike]
            into = ", ".join(f'"{name}"' for name in names)
            marks = ", ".join(
                "(" + ", ".join(f"${place * len(names) + number + 1}" for number in range(len(names))) + ")"
                for place in range(len(values))
            )
            given = [value for row in values for value in row]
            self.connection.execute(f"INSERT INTO stage.{BY_NAME[table].name} ({into}) VALUES {marks}", given)

    def fact(self, **facts: Any) -> None:
        """Set columns of this file's row in `captures`."""
        self.facts.update({name: _held(value) for name, value in facts.items() if value is not None})

    def expect_kernels(self, reason: str) -> None:
        """Say why there is no kernel, where there is none."""
        if not self.connection.execute("SELECT 1 FROM stage.kernels LIMIT 1").fetchall():
            self.problem(reason)
            self.warnings.append(reason)

    def settle_times(self) -> None:
        """Say which times that came since the last call cannot be true, and take out those that nothing can hold."""
        if self.zero_unix_ns is not None and not 0 <= self.zero_unix_ns <= LATEST_NS:
            self.problem(BAD_CLOCK, examples=[str(self.zero_unix_ns)])
            self.zero_unix_ns = None
        extremes = self.connection.execute(_extremes(), {"settled_to": self._settled_to}).fetchall()
        wrong = {
            name
            for name, first, last, shortest, longest in extremes
            if first is not None and (first < -LATEST_NS or last > LATEST_NS or shortest < 0 or longest > WEEK_NS)
        }
        if names := self.connection.execute(sql.text("ingest/events/negative_sizes")).fetchall():
            self.problem(NEGATIVE_SIZE, len(names), [name for (name,) in names[:MAX_EXAMPLES]])
        if wrong:
            self._settle_tables([table for table in TABLES if table.name in wrong])
        self._settled_to = self.next_id

    def _settle_tables(self, tables: list[Table]) -> None:
        by_reader = set(self.problems)
        for table in tables:
            mine = f"FROM stage.{table.name} WHERE id >= {self._settled_to}"
            which = f"(abs(start_ns // 2) > {LATEST_NS // 2} OR abs({_dur(table)} // 2) > {LONGEST_NS // 2})"
            n, examples = self._counted(f"SELECT 1 AS n, {_name(table)} AS name, id {mine} AND {which}")
            if n:
                self.problem(BEYOND, n, examples)
                self.connection.execute(f"DELETE {mine} AND {which}")
                self.count("n_kept", -n)
                self.count("n_dropped", n)
        rows = " UNION ALL ".join(
            f"SELECT '{table.name}' AS of, id, start_ns, {_dur(table)} AS dur, {_name(table)} AS name"
            f" FROM stage.{table.name} WHERE id >= {self._settled_to}"
            for table in tables
        )
        for kind, which in ((NEGATIVE, "dur < 0"), (LONG, f"dur > {WEEK_NS}")):
            # An event that became rows of two tables is counted once: as often as in the table that has it most.
            first = "first(name ORDER BY id) AS name, min(id) AS id"
            each = (
                f"SELECT start_ns, dur, count(*) AS n, {first} FROM ({rows}) WHERE {which} GROUP BY of, start_ns, dur"
            )
            once = f"SELECT max(n) AS n, {first} FROM ({each}) GROUP BY start_ns, dur"
            n, examples = self._counted(once)
            if n and kind not in by_reader:
                self.problem(kind, n, examples)
                if kind == NEGATIVE:
                    self.count("n_repaired", n)
        for table in tables:
            if any(column.name == "dur_ns" for column in table.columns):
                mine = f"id >= {self._settled_to}"
                self.connection.execute(f"UPDATE stage.{table.name} SET dur_ns = 0 WHERE {mine} AND dur_ns < 0")

    def _counted(self, query: str) -> tuple[int, list[str | None]]:
        """The sum of `n` in a query with n, name and id, and the first few names."""
        row = self.connection.execute(
            f"SELECT coalesce(sum(n), 0)::BIGINT, coalesce(list(name ORDER BY id)[:{MAX_EXAMPLES}], []) FROM ({query})"
        ).fetchall()[0]
        return row[0], row[1]

    def end_source(self) -> None:
        """Close the row of `captures` of the file that was just read; what looks like a secret in it is blanked."""
        self._blank_process_names()
        facts = dict(self.facts)
        for name in ("metadata", "options"):
            if isinstance(facts.get(name), dict):
                facts[name] = strict_json(secrets.document(facts[name])).decode()
        if "command" in facts:
            facts["command"] = secrets.text(facts["command"])
        for problem in self.problems.values():
            problem.examples = [secrets.text(example) for example in problem.examples]
        facts["problems"] = [vars(problem) for problem in self.problems.values()] or None
        facts["warnings"] = [secrets.text(warning) for warning in self.warnings] or None
        self.write_rows("captures", [facts])
        self.facts, self.problems, self.warnings = {}, {}, []

    def _blank_process_names(self) -> None:
        """Writers of Chrome traces put the command line there."""
        blank = sql.text("ingest/events/process_name")
        found = self.connection.execute(sql.text("ingest/events/process_names"), {"most": MAX_NAMES}).fetchall()
        if len(found) == MAX_NAMES:
            self.connection.execute(blank, {"was": None, "args": None})
            return
        for (args,) in found:
            if args and (blanked := secrets.text(args)) != args:
                self.connection.execute(blank, {"was": args, "args": blanked})

    def spill(self, table: str, query: str) -> None:
        """Write the rows of a query to disk until everything has been read. There has to be a folder for it."""
        self.spilled.setdefault(table, []).append(self._written(query))

    def _written(self, query: str) -> Path:
        assert self.folder
        self.folder.mkdir(exist_ok=True)
        self._n_written += 1
        file = self.folder / f"spilled-{self._n_written}.parquet"
        self.connection.execute(f"COPY ({query}) TO $path (FORMAT parquet)", {"path": str(file)})
        return file

    def join_spilled(self) -> None:
        """Put the spilled rows into their tables, which take no more rows from then on."""
        for table in list(self.spilled):
            self._join_spilled(table, self.spilled.pop(table))

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """For a while, tables also have their spilled rows, and take no others."""
        spilled = dict(self.spilled)
        self.join_spilled()
        yield
        for table in spilled:
            self.connection.execute(f"DROP VIEW stage.{table}")
            self.connection.execute(f"ALTER TABLE stage.{table}{AT_HAND} RENAME TO {table}")
            del self._joined[table]
        self.spilled = spilled

    def replace(self, table: str, query: str) -> None:
        """Let the rows of a query stand in a table instead of those that were read, spilled if any of those are."""
        if table in self.spilled:
            with self.whole():
                file = self._written(query)
            self.connection.execute(f"TRUNCATE stage.{table}")
            for old in self.spilled[table]:
                old.unlink()
            self.spilled[table] = [file]
        else:
            self.connection.execute(f"CREATE OR REPLACE TABLE stage.{table} AS {query}")

    def _join_spilled(self, table: str, files: list[Path]) -> None:
        kinds = {column.name: column.sql_type for column in BY_NAME[table].read_columns()}
        self._joined[table] = [literal(file) for file in files]
        self._point_to_joined(self.connection, table)
        view, spilled = f"stage.{table}", f"read_parquet(getvariable('spilled_{table}'))"
        casts = [
            f'CAST("{name}" AS {kinds[name]}) AS "{name}"'
            for name, *_ in self.connection.execute(f"DESCRIBE FROM {spilled}").fetchall()
        ]
        self.connection.execute(f"ALTER TABLE {view} RENAME TO {table}{AT_HAND}")
        self.connection.execute(
            f"CREATE VIEW {view} AS FROM {view}{AT_HAND} UNION ALL BY NAME SELECT {', '.join(casts)} FROM {spilled}"
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """One more connection to the same tables, for another thread."""
        cursor = self.connection.cursor()
        for table in self._joined:
            self._point_to_joined(cursor, table)
        return cursor

    def _point_to_joined(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        # A variable, because a view cannot be prepared; SQL is never put together from a path.
        connection.execute(f"SET VARIABLE spilled_{table} = $1", [self._joined[table]])

    def empty(self, table: Table) -> None:
        """Drop the rows of a table that has been written."""
        if table.derived_columns():
            self.connection.execute(f"TRUNCATE derived.{table.name}")
        self.connection.execute(f"TRUNCATE stage.{table.name}{AT_HAND if table.name in self._joined else ''}")

    def earliest_ns(self) -> int | None:
        """The first start of anything, on the reader's clock; None for an empty trace."""
        starts = " UNION ALL ".join(
            f"SELECT min(start_ns) AS start_ns FROM stage.{table.name}"
            for table in TABLES
            if any(column.name == "start_ns" for column in table.columns)
        )
        found = self.connection.execute(f"SELECT min(start_ns) FROM ({starts})").fetchall()
        return None if found[0][0] is None else int(found[0][0])


@cache
def _extremes() -> str:
    """A query for the first and last start, and the shortest and longest duration, of each table with times."""
    return " UNION ALL ".join(
        f"SELECT '{table.name}', min(start_ns), max(start_ns), min({_dur(table)}), max({_dur(table)})"
        f" FROM stage.{table.name} WHERE id >= $settled_to"
        for table in TABLES
        if table.has_id and any(column.name == "start_ns" for column in table.columns)
    )


def _dur(table: Table) -> str:
    has_dur = any(column.name == "dur_ns" for column in table.columns)
    return "coalesce(dur_ns, 0)" if has_dur else "0"


def _name(table: Table) -> str:
    return "name" if any(column.name == "name" for column in table.columns) else "NULL"


def at_hand(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """The table whose rows can be changed, and which takes more, once spilled ones have joined it."""
    query = "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'stage' AND table_name = $1"
    is_joined = bool(connection.execute(query, [table + AT_HAND]).fetchall())
    return f"stage.{table}{AT_HAND if is_joined else ''}"


def _held(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return None if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 else value


def made(names: Collection[str] | None = None) -> str:
    """Return SQL that makes all staging tables empty, or those of these names: one text runs sooner than one by one."""
    parts = [text for name, text in _makers().items() if names is None or name in names]
    schemas = ["CREATE SCHEMA IF NOT EXISTS stage", "CREATE SCHEMA IF NOT EXISTS derived"] if names is None else []
    return "; ".join(["BEGIN", *schemas, *parts, "COMMIT"])


@cache
def _makers() -> dict[str, str]:
    found = {}
    for table in TABLES:
        found[f"stage.{table.name}"] = _create("stage", table.name, table.read_columns())
        if table.derived_columns():
            columns = (Column("id", ID, ""), *table.derived_columns())
            found[f"derived.{table.name}"] = _create("derived", table.name, columns)
    return found


def _create(schema: str, name: str, columns: Iterable[Column]) -> str:
    body = ", ".join(f'"{column.name}" {column.sql_type}' for column in columns)
    return f"CREATE OR REPLACE TABLE {schema}.{name} ({body})"
