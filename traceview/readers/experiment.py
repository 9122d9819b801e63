"""Results of traceview's own experiments (tune, study): one row of a table in each line, as JSON.

The first line says so: `{"traceview": "experiment", "kind": "tune", "framework": "torch"}`; the others are like
`{"table": "tune_runs", "row": {"pair": 1, "step_ns": 5000000}}`, of the tables that are optional in `tables.py`. Such a
file grows while an experiment runs and can be read at any time; `traceview/experiments/results.py` writes it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from traceview.decode.files import Peek, Stream
from traceview.decode.text_lines import Lines
from traceview.ingest.sink import Sink
from traceview.tables import BY_NAME, Column

NAME = "experiment"
TITLE = "Results of traceview's experiments"
HOW = "traceview tune -- python train.py, or traceview study"

MAY_BE_EMPTY = True
"""Somebody may look at an experiment, or end it, before its first run is over."""
HEAD = b'{"traceview": "experiment"'
NO_ROW = "lines that are not a row of a table of experiments"
WRONG = "values that their column cannot hold, taken as not recorded"
UNKNOWN = "columns that the table does not have"
AT_ONCE = 4096
_ARROW = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(), "VARCHAR": pa.string()}


def sniff(peek: Peek) -> bool:
    """The first line, as `results.py` writes it."""
    return peek.head.startswith(HEAD)


def read(stream: Stream, sink: Sink) -> None:
    """Keep the rows, in batches by table."""
    lines = Lines(stream)
    texts = (text for batch in lines for text in batch.to_pylist() if text.strip())
    head = _parsed(next(texts, ""))
    held: dict[str, list[dict[str, Any]]] = {}
    for text in texts:
        found = _row(_parsed(text))
        sink.count("n_events", 1)
        if found is None:
            sink.count("n_dropped", 1)
            sink.problem(NO_ROW, examples=[text])
            continue
        table, row = found
        sink.count("n_kept", 1)
        rows = held.setdefault(table, [])
        rows.append(_checked(table, row, sink))
        if len(rows) >= AT_ONCE:
            _write(table, held.pop(table), sink)
    for table, rows in held.items():
        _write(table, rows, sink)
    lines.report(sink.problem)
    facts = {name: value for name, value in head.items() if isinstance(value, str)}
    sink.fact(
        tool=f"traceview {facts.get('kind', '')}".rstrip(),
        tool_version=facts.get("version"),
        framework=facts.get("framework"),
        framework_version=facts.get("framework_version"),
        clock="rows of an experiment have no place in time",
    )


def _parsed(text: str) -> dict[str, Any]:
    """The object of a line; empty where it is something else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _row(line: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    table, row = line.get("table"), line.get("row")
    if not isinstance(table, str) or not isinstance(row, dict):
        return None
    return (table, row) if table in BY_NAME and BY_NAME[table].optional else None


def _checked(table: str, row: dict[str, Any], sink: Sink) -> dict[str, Any]:
    """The row with the table's columns, each of its type."""
    columns = {column.name: column for column in BY_NAME[table].read_columns() if column.name != "id"}
    strange = row.keys() - columns.keys()
    if strange:
        sink.problem(UNKNOWN, len(strange), sorted(strange))
    values = {name: fitting(column, row.get(name)) for name, column in columns.items()}
    lost = [name for name, value in values.items() if value is None and row.get(name) is not None]
    if lost:
        sink.problem(WRONG, len(lost), [f"{name}: {row[name]!r}" for name in lost])
    return values


def fitting(column: Column, value: Any) -> Any:
    """A value as its column holds it; None where it cannot."""
    kind = column.sql_type
    if kind == "BOOLEAN":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if kind == "BIGINT":
        return value if isinstance(value, int) and -(1 << 63) <= value < 1 << 63 else None
    if kind == "DOUBLE":
        return _number(value)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    try:
        found = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _write(table: str, rows: list[dict[str, Any]], sink: Sink) -> None:
    columns: Iterator[Column] = (column for column in BY_NAME[table].read_columns() if column.name != "id")
    schema = pa.schema([(column.name, _ARROW[column.sql_type]) for column in columns])
    sink.write(table, pa.Table.from_pylist(rows, schema=schema))
