"""Adds what we think to what was recorded: categories of names, and the convolution call a kernel is part of.

The one law: the unit is the call. A kernel below a convolution operator is judged together with the others of its call;
equal calls are judged once, so the work grows with the number of distinct calls and names, not of kernels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, fields

import duckdb
import pyarrow as pa

from traceview.classify import Verdict, classify_kernels, classify_op, classify_primitive
from traceview.paths import content

_VERDICT = pa.schema([(field.name, pa.string()) for field in fields(Verdict)])


def attribute(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the schemas `names` (name -> verdict) and `attributed` (row -> call) that the views join."""
    connection.execute("CREATE SCHEMA names")
    connection.execute("CREATE SCHEMA attributed")
    kernels = _distinct(connection, "SELECT DISTINCT name FROM raw.kernels WHERE name IS NOT NULL")
    _keep(connection, "names.kernel", ("name",), kernels, classify_kernels(name for (name,) in kernels))
    ops = _distinct(connection, "SELECT DISTINCT name FROM raw.ops WHERE name IS NOT NULL")
    _keep(connection, "names.op", ("name",), ops, (classify_op(name) for (name,) in ops))
    primitives = _distinct(connection, "SELECT DISTINCT kind, impl, prop_kind FROM raw.primitives")
    verdicts = (classify_primitive(kind or "", impl or "", prop or "") for kind, impl, prop in primitives)
    _keep(connection, "names.primitive", ("kind", "impl", "prop_kind"), primitives, verdicts)
    _run(connection, "attributed.conv_op", "conv_ops")
    _run(connection, "attributed.op", "op_calls")
    connection.execute(
        """CREATE TABLE attributed.kernel AS
        SELECT k.id, c.call_id, n.category, n.algorithm, n.direction, n.role
        FROM raw.kernels k JOIN attributed.op c ON c.id = k.op_id LEFT JOIN names.kernel n ON n.name = k.name"""
    )


def _distinct(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str | None, ...]]:
    return connection.execute(query).fetchall()


def _keep(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    keys: tuple[str, ...],
    names: list[tuple[str | None, ...]],
    verdicts: Iterable[Verdict],
) -> None:
    """A table of key columns and the verdict's columns."""
    schema = pa.schema([(key, pa.string()) for key in keys] + list(_VERDICT))
    rows = [(*name, *astuple(verdict)) for name, verdict in zip(names, verdicts, strict=True)]
    columns = list(zip(*rows, strict=True)) if rows else [[] for _ in schema]
    connection.register("verdicts", pa.table([pa.array(list(c), pa.string()) for c in columns], schema=schema))
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM verdicts")
    connection.unregister("verdicts")


def _run(connection: duckdb.DuckDBPyConnection, table: str, query: str) -> None:
    text = (content("queries") / "attribution" / f"{query}.sql").read_text(encoding="utf-8")
    connection.execute(f"CREATE TABLE {table} AS {text}")
