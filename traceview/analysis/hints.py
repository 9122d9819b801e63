"""Suggestions for a name in SQL that does not exist: public tables and their columns, nothing else."""

from __future__ import annotations

import re

from traceview.analysis import schema
from traceview.errors import meant
from traceview.lazy import duckdb

_TABLE = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_COLUMN = re.compile(r'(?:column named|Referenced column|Column) "([^"]+)"')
_READ = re.compile(r'(?i)\b(?:FROM|JOIN)\s+"?([a-z_]\w*(?:\.[a-z_]\w*)?)')
MOST = 6
"""Tables that are named as having a column; a column of more is not a hint."""


def mended(connection: duckdb.DuckDBPyConnection, message: str, query: str) -> str:
    """DuckDB's message about a query, with guesses of names that users know in the place of its own."""
    lines = [line for line in message.splitlines() if line.strip()]
    table, column = _TABLE.search(lines[0]), _COLUMN.search(lines[0])
    if not table and not column:
        return message
    public = {name: [column for column, _ in found] for name, found in schema.columns(connection).items()}
    if table:
        is_raw = f"raw.{table[1]}" in query
        near = meant(f"raw.{table[1]}" if is_raw else table[1], [name for name in public if _is_raw(name) == is_raw])
        lines = [line for line in lines if not line.startswith("Did you mean")]
        lines.insert(1, _sentence(near) or "`.tables` lists what there is.")
    elif column:
        lines[0] = lines[0].replace("Values list", "Table")
        lines[1:1] = _about_column(column[1], query, public, any("Candidate" in line for line in lines))
    return "\n".join(lines)


def _about_column(word: str, query: str, public: dict[str, list[str]], has_guess: bool) -> list[str]:
    """A name like it in the tables that are read, else the other tables that have it."""
    read = [table for table in dict.fromkeys(_READ.findall(query)) if table in public]
    near = _sentence(meant(word, [name for table in read for name in public[table]]))
    if near and not has_guess:
        return [near]
    having = [table for table, names in public.items() if word in names and not _is_raw(table)]
    return [f"Tables that have it: {', '.join(having)}."] if 0 < len(having) <= MOST else []


def _is_raw(table: str) -> bool:
    return table.startswith("raw.")


def _sentence(hint: str) -> str:
    return hint[:1].upper() + hint[1:].strip()
