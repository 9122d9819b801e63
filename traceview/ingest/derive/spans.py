"""Carries columns between the staging database and arrays.

Invariant: a thread is one number for (process, thread) everywhere in `derive`, and -1 in an array is NULL in a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from traceview import sql
from traceview.ingest.derive.nesting import Ints, Spans
from traceview.lazy import duckdb

BATCH_ROWS = 1 << 17
MARKED = 1 << 20
"""Numbers of which each can be marked as seen, which is faster than sorting."""
_NONE = np.empty(0, np.int64)
query = sql.texts("derive")
"""The text of a file in `queries/derive`, with texts in place of parameters."""


def number_threads(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the temporary table `thread` (pid, tid, thread) that every other query here joins."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE thread AS {query('threads')}")


def fetch(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, Ints]:
    """The columns of a query as 64-bit integer arrays, NULL as -1."""
    result = connection.sql(query)
    pieces: dict[str, list[Ints]] = {name: [] for name in result.columns}
    # Batch after batch, so that nothing is there twice as Arrow tables.
    for batch in result.to_arrow_reader(BATCH_ROWS):
        for name, values in zip(pieces, batch.columns, strict=True):
            pieces[name].append(integers(values).copy())
    return {name: np.concatenate([_NONE, *pieces.pop(name)]) for name in list(pieces)}


def integers(values: pa.Array) -> Ints:
    """An Arrow column as 64-bit integers, NULL as -1. (`fill_null` imports pandas, `cast` 0.05 s of other modules.)"""
    cast = values if values.type == pa.int64() else values.cast(pa.int64())
    valid, data = cast.buffers()
    if data is None:
        return np.full(len(cast), -1, np.int64)
    found: Ints = np.frombuffer(data, np.int64, len(cast), cast.offset * 8)
    if cast.null_count:
        bits = np.frombuffer(valid, np.uint8)
        known = np.unpackbits(bits, count=cast.offset + len(cast), bitorder="little")[cast.offset :]
        found = np.where(known, found, -1)
    return found


def numbered(values: Ints, end: int) -> tuple[list[int], Ints]:
    """The different ones of values from 0 up to `end`, and for each value its place among them."""
    if end > max(MARKED, len(values)):
        distinct, places = np.unique(values, return_inverse=True)
        return distinct.tolist(), places
    is_there = np.zeros(end, np.bool_)
    is_there[values] = True
    return np.flatnonzero(is_there).tolist(), (np.cumsum(is_there) - 1)[values]


def load(connection: duckdb.DuckDBPyConnection, query: str) -> Spans:
    """Spans of a query with id, thread, start_ns and end_ns, in their order."""
    columns = fetch(connection, query)
    return Spans(columns["id"], columns["thread"], columns["start_ns"], columns["end_ns"])


def loaded_ranges(
    connection: duckdb.DuckDBPyConnection, kinds: Iterable[str], of_processes: str | None = None
) -> dict[str, Spans]:
    """The ranges of these kinds on threads. A kind that is absent is not asked for, which would take as long."""
    there = {kind for (kind,) in connection.execute("SELECT DISTINCT kind FROM stage.ranges").fetchall()}
    more = {} if of_processes is None else {"of_processes": of_processes}
    return {
        kind: load(connection, query("ranges_on_threads", kind=kind, **more))
        if kind in there
        else Spans(_NONE, _NONE, _NONE, _NONE)
        for kind in kinds
    }


def column(values: Ints, known: NDArray[np.bool_] | None = None) -> pa.Array:
    """An Arrow column over the same memory, NULL where `known` is false. (`pa.array` would import pandas.)"""
    valid = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])


def spelled(codes: Ints, texts: Sequence[str]) -> pa.Array:
    """An Arrow column of texts: to each row that of its number."""
    data = [text.encode() for text in texts]
    ends = np.cumsum([0, *(len(text) for text in data)], dtype=np.int64)
    words = pa.Array.from_buffers(
        pa.large_string(), len(data), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(data))]
    )
    return pa.DictionaryArray.from_arrays(column(codes), words)


def ids_at(spans: Spans, index: Ints) -> Ints:
    """The ids at these positions, -1 where the position is -1."""
    if not len(spans):
        return np.full(len(index), -1, np.int64)
    return np.where(index >= 0, spans.id[index], -1)


def publish(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Ints | pa.Array]) -> None:
    """Let queries see these columns as a table, -1 as NULL."""
    made = {key: column(it, it >= 0) if isinstance(it, np.ndarray) else it for key, it in columns.items()}
    connection.register(name, pa.table(made))
