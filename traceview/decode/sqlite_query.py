"""The SELECT over one real table of a SQLite file.

Invariant: a length is asked before a text is touched. SQLite answers `octet_length` of a column from the row's header,
so a text of any length, also one that only claims it, costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from traceview.decode.columns import LIMITS, Columns, Processes

MIN_ROW_BYTES = 4
"""No row of a table takes less of a file."""
_DIGITS = 20
"""Of the longest 64-bit number."""


@dataclass(frozen=True)
class Slice:
    """The rows whose longest text has more bytes than `above`; only texts up to `upto` are read."""

    above: int
    upto: int


@dataclass(frozen=True)
class Select:
    """A query, and whether it passes over rows."""

    text: str
    is_filtered: bool


def select(table: str, present: tuple[str, ...], columns: Columns, processes: Processes | None, piece: Slice) -> Select:
    """The columns, how many texts of a row are too long, and the bytes of its longest.

    The driver takes types from the first rows, so a typed row comes first.
    """
    by_name = {column.lower(): column for column in present}
    first = {"BIGINT": "0", "BOUNDED": "0", "DOUBLE": "0.5", "VARCHAR": "''", "NAME": "''"}
    head = [f"{first[kind]} AS {quoted(column)}" for column, kind in columns.items()]
    values = [_value(by_name.get(column.lower()), kind, piece.upto) for column, kind in columns.items()]
    texts = {column.lower(): LIMITS[kind] for column, kind in columns.items() if kind in ("VARCHAR", "NAME")}
    limits = {_bytes(by_name[text]): limit for text, limit in texts.items() if text in by_name}
    sizes = list(limits)
    n_too_long = " + ".join(f"({size} > {limit})" for size, limit in limits.items()) or "0"
    longest = f"max(0, {', '.join(sizes)})" if sizes else "0"
    query = f"""SELECT {", ".join(head)}, 0 AS n_too_long, 0 AS longest
        UNION ALL SELECT {", ".join(values)}, {n_too_long}, {longest} FROM main.{quoted(table)} NOT INDEXED"""
    conditions = [f"{longest} > {piece.above}"] if piece.above >= 0 else []
    process_column = processes.column(present) if processes else None
    if processes and process_column:
        pids = ", ".join(str(pid) for pid in sorted(processes.pids))
        process = f"({_whole(quoted(process_column))} >> 24 & 16777215)"
        others = processes.is_all_others
        conditions.append(f"coalesce({process} {'NOT IN' if others else 'IN'} ({pids}), {int(others)})")
    return Select(query + (f" WHERE {' AND '.join(conditions)}" if conditions else ""), bool(conditions))


def bounded_count(table: str, most: int) -> str:
    """Asks how many rows a table has, and stops one beyond `most`: pages that lead to each other have no end."""
    return f"SELECT count(*) FROM (SELECT 1 FROM main.{quoted(table)} NOT INDEXED LIMIT {most + 1})"


def _bytes(column: str) -> str:
    """Bytes of a value as text; a blob comes as hexadecimal digits, two a byte."""
    name = quoted(column)
    return f"coalesce(octet_length({name}), 0) * CASE typeof({name}) WHEN 'blob' THEN 2 ELSE 1 END"


def _value(column: str | None, kind: str, upto: int) -> str:
    """An expression with exactly one type, whatever is stored."""
    if column is None:
        return "NULL"
    name = quoted(column)
    if kind in ("BIGINT", "BOUNDED"):
        return _whole(name)
    if kind == "DOUBLE":
        return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN CAST({name} AS REAL) END"
    text = f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"
    return f"CASE WHEN {_bytes(column)} <= {min(upto, LIMITS[kind])} THEN {text} END"


def _whole(name: str) -> str:
    """A whole number, also one written as text."""
    number = f"CAST({name} AS INTEGER)"
    text = f"CASE WHEN octet_length({name}) <= {_DIGITS} AND CAST({number} AS TEXT) = {name} THEN {number} END"
    return f"CASE typeof({name}) WHEN 'integer' THEN {name} WHEN 'real' THEN {number} WHEN 'text' THEN {text} END"


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
