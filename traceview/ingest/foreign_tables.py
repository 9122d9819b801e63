"""Fills the staging tables from the tables of another tool's database, by the queries of one folder.

A query's header says `into`, the table it fills; `tables`, the foreign tables it reads, those that exist one after the
other; `[source]`, the columns it wants of them with their types; `process`, the columns that may hold
the process of a row. Its body selects from `source`, which has those columns, `"table"`, and `"row"`, which makes ids:
`$first + "row"`.

Invariant: a query sees every column it asked for, whatever the file holds, and every row is accounted for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from traceview.decode.columns import TYPES, Processes, Tables
from traceview.decode.text_bounds import MAX_BATCH_BYTES, TOO_LONG
from traceview.ingest.sink import Sink
from traceview.sql import Query, load_folder

MAX_FACTS = 10_000
"""Rows of a table that is read as facts about the run."""
KEEP = "temp"
"""A query `into` this makes a temporary table named like the query, for the queries after it. If it `counts`,
its column `is_lost` says which rows no later query can use."""


@dataclass
class Ingest:
    """Runs queries over one source for one process."""

    sink: Sink
    tables: Tables
    folder: Path
    processes: Processes | None = None
    suffix: str = ""
    """Suffix of the names of the foreign tables."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of queries that have them."""
    read: set[str] = field(default_factory=set)
    """Foreign tables that a query has read."""

    def __post_init__(self) -> None:
        self.queries = load_folder(self.folder)
        self._n_read = 0
        """Rows of the source that the query at hand has read."""

    def run(self, name: str) -> None:
        """Run one query."""
        query = self.queries[name]
        sink = self.sink
        source, self._n_read = query.extra.get("source"), 0
        if source is not None:
            schema = _schema(source)
            reader = pa.RecordBatchReader.from_batches(schema, self._batches(query, source, schema))
            sink.connection.register("source", reader)
        bound = {"first": sink.next_id, **self.values}
        values = {key: bound[key] for key in query.params if key in bound}
        is_kept = query.extra["into"] == KEEP
        into = (
            f"CREATE OR REPLACE TEMP TABLE {name} AS" if is_kept else f"INSERT INTO stage.{query.extra['into']} BY NAME"
        )
        added = sink.connection.execute(f"{into} {query.body}", values).fetchall()[0][0]
        if source is not None:
            sink.connection.unregister("source")
        sink.next_id += self._n_read
        self._account(query, added)

    def named(self, table: str) -> str:
        """The foreign table of that name, as the file spells it."""
        return table + self.suffix

    def rows_of(self, table: str, source: Mapping[str, str]) -> list[dict[str, Any]]:
        """All rows of a small foreign table (facts about the run and its devices)."""
        name = self.named(table)
        if name not in self.tables.columns:
            return []
        self.read.add(name)
        found: list[dict[str, Any]] = []
        n_bytes = 0
        for batch in self.tables.rows(name, source):
            n_bytes += batch.nbytes
            if len(found) + len(batch) > MAX_FACTS or n_bytes > MAX_BATCH_BYTES:
                self.sink.problem(f"table {name} is larger than facts about a run are: its rest was not read")
                return found
            found += batch.to_pylist()
        return found

    def unread(self) -> list[str]:
        """Tables of the file that hold rows and that nothing has read."""
        left = {table for table in set(self.tables.columns) - self.read if not table.startswith("sqlite_")}
        return sorted(table for table in left if self._has_rows(table))

    def close(self) -> None:
        """Give back the room of the temporary tables, and say what of the file could not be read."""
        for query in self.queries.values():
            if query.extra.get("into") == KEEP:
                self.sink.connection.execute(f"DROP TABLE IF EXISTS {query.name}")
        for damage in self.tables.damage:
            self.sink.problem(damage)
        longer = {table: n for table, n in self.tables.long_texts.items() if n}
        if longer:
            self.sink.problem(TOO_LONG, sum(longer.values()), longer)

    def _has_rows(self, table: str) -> bool:
        first = self.tables.columns[table][:1]
        return bool(first) and any(len(batch) for batch in self.tables.rows(table, {first[0]: "BIGINT"}))

    def _batches(self, query: Query, source: Mapping[str, str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        processes = replace(self.processes, columns=tuple(query.extra.get("process", ()))) if self.processes else None
        for table in query.extra["tables"]:
            name = self.named(table)
            if name not in self.tables.columns:
                continue
            self.read.add(name)
            is_without = processes is not None and processes.column(self.tables.columns[name]) is None
            if processes and is_without and "process" in query.extra and not processes.is_all_others:
                continue
            for batch in self.tables.rows(name, source, processes):
                count = len(batch)
                numbers = pa.array(np.arange(self._n_read, self._n_read + count))
                named = pa.DictionaryArray.from_arrays(np.zeros(count, np.int8), pa.array([table]))
                self._n_read += count
                yield pa.RecordBatch.from_arrays([*batch.columns, numbers, named], schema=schema)

    def _account(self, query: Query, added: int) -> None:
        """Rows of the file that a query was to turn into rows of ours, and did not, are missing something."""
        is_kept = query.extra["into"] == KEEP
        if not query.extra.get("counts", not is_kept):
            return
        n_read = self._n_read if query.extra.get("source") is not None else added
        if is_kept:
            found = self.sink.connection.execute(f"SELECT count(*) FILTER (is_lost) FROM {query.name}").fetchall()
            n_read, added = found[0][0], 0
        self.sink.account(n_read, added, f"rows of {query.extra['tables'][0]} without a time")


def _schema(source: Mapping[str, str]) -> pa.Schema:
    fields = [pa.field(name, TYPES[kind]) for name, kind in source.items()]
    return pa.schema([*fields, pa.field("row", pa.int64()), pa.field("table", pa.dictionary(pa.int8(), pa.string()))])
