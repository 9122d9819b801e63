"""Adds what we think to what was recorded: categories of names, and what a kernel is as part of a convolution call.

The one law: the unit is the call. What ran below a convolution operator is judged together, and equal calls are judged
once, so the work grows with the number of distinct names and calls, not with the number of kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from typing import Any

import duckdb
import pyarrow as pa

from traceview.classify import Verdict, classify_in_context, classify_kernel, classify_op, classify_primitive
from traceview.classify.calls import Item, Part, classify_call
from traceview.paths import content

_VERDICT = [field.name for field in fields(Verdict)]
_PART = [field.name for field in fields(Part)]


def attribute(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the schemas `names` (name -> verdict) and `attributed` (row -> call, and its part in it) for the views."""
    connection.execute("CREATE SCHEMA names")
    connection.execute("CREATE SCHEMA attributed")
    kernels = _distinct(connection, "SELECT DISTINCT name, op_name FROM raw.kernels")
    in_context = (classify_in_context(name or "", op) for name, op in kernels)
    _keep_verdicts(connection, "kernel", ["name", "op_name"], kernels, in_context)
    ops = _distinct(connection, "SELECT DISTINCT name FROM raw.ops WHERE name IS NOT NULL")
    _keep_verdicts(connection, "op", ["name"], ops, (classify_op(name) for (name,) in ops))
    primitives = _distinct(connection, "SELECT DISTINCT kind, impl, prop_kind FROM raw.primitives")
    verdicts = (classify_primitive(kind or "", impl or "", prop or "") for kind, impl, prop in primitives)
    _keep_verdicts(connection, "primitive", ["kind", "impl", "prop_kind"], primitives, verdicts)
    _run(connection, "conv_op", "conv_ops")
    _run(connection, "op", "op_calls")
    _attribute_calls(connection)


def _attribute_calls(connection: duckdb.DuckDBPyConnection) -> None:
    _run(connection, "per_call", "per_call")
    connection.execute(
        """CREATE TABLE attributed.sequence AS
        SELECT op, items, row_number() OVER () AS number FROM (SELECT DISTINCT op, items FROM attributed.per_call)"""
    )
    sequences = connection.execute("SELECT number, op, items FROM attributed.sequence").fetchall()
    rows = [
        (number, position, *astuple(part))
        for number, op, items in sequences
        for position, part in enumerate(classify_call(op, [_item(item) for item in items]))
    ]
    schema = pa.schema([("number", pa.int64()), ("position", pa.int64()), *((name, pa.string()) for name in _PART)])
    _keep(connection, "attributed.verdict", schema, rows)
    _run(connection, "part", "parts")


def _item(item: dict[str, Any]) -> Item:
    if item["kind"] == "primitive":
        verdict = classify_primitive(item["name"] or "", item["impl"] or "", item["prop_kind"] or "")
    else:
        verdict = classify_kernel(item["name"] or "")
    return Item(item["name"] or "", item["op"] or "", verdict)


def _distinct(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def _keep_verdicts(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    keys: list[str],
    names: Sequence[tuple[Any, ...]],
    verdicts: Iterable[Verdict],
) -> None:
    """`names.<table>`: the key columns and the verdict's columns."""
    schema = pa.schema([(name, pa.string()) for name in [*keys, *_VERDICT]])
    rows = [(*name, *astuple(verdict)) for name, verdict in zip(names, verdicts, strict=True)]
    _keep(connection, f"names.{table}", schema, rows)


def _keep(
    connection: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, rows: Sequence[tuple[Any, ...]]
) -> None:
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in schema]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    connection.register("kept", pa.table(arrays, schema=schema))
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM kept")
    connection.unregister("kept")


def _run(connection: duckdb.DuckDBPyConnection, table: str, query: str) -> None:
    text = (content("queries") / "attribution" / f"{query}.sql").read_text(encoding="utf-8")
    connection.execute(f"CREATE TABLE attributed.{table} AS {text}")
