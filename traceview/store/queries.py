"""Queries of a user: exactly one statement that only reads, in a transaction that changes nothing.

Invariant: every node of DuckDB's own parse tree is looked at. Behind that stands a wall that knows nothing of SQL: the
process that runs such a query cannot write files (`reader.py`).
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from traceview.errors import QueryError, UsageError, meant
from traceview.lazy import duckdb
from traceview.store import graph

QUERY_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
"""Nodes of the tree that only read; others (COPY_QUERY_NODE, INSERT_QUERY_NODE) stand in a WITH."""
READING = frozenset(
    (
        *("generate_series", "histogram", "histogram_values", "json_each", "json_tree", "query_table", "range"),
        *("repeat", "repeat_row", "summary", "test_all_types", "test_vector_types", "unnest"),
        *("duckdb_columns", "duckdb_functions", "duckdb_keywords", "duckdb_memory", "duckdb_schemas"),
        *("duckdb_settings", "duckdb_tables", "duckdb_types", "duckdb_views"),
    )
)
"""Functions in FROM that have no effect. Others read files, run a text as SQL, or change settings and logs."""
CHANGING = frozenset(("nextval", "setseed", "setval", "write_log"))
"""Functions of values that change something for later queries."""
WRITING = frozenset(("copy", "delete", "insert", "merge", "truncate", "update"))
BEGINS = frozenset(
    ("(", "desc", "describe", "from", "pivot", "pivot_wider", "select", "show", "summarize", "table", "values", "with")
)
"""How a query with a PIVOT may begin; what begins otherwise (CREATE, PREPARE, SET) does something with its answer."""
MOST_DEPTH = 50_000
"""Maximum depth of brackets in the tree; more than the 1,000 expressions in each other that DuckDB takes need."""
_NAME = re.compile(r'"((?:[^"]|"")*)"|\w+')
_REFUSED = "is refused: queries are read-only. Use SELECT, FROM, WITH, DESCRIBE or EXPLAIN."


def check(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """The kind of statement. Raises `UsageError` unless `text` is exactly one that only reads, in all its parts."""
    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise QueryError(sentence(str(error))) from error
    if not statements:
        raise UsageError("the query is empty; give one, for example 'SELECT count(*) FROM kernels', or .tables")
    if len(statements) != 1:
        raise UsageError(f"one query at a time; this has {len(statements)}.")
    try:
        kind = statements[0].type
    except ValueError as error:  # A kind for which DuckDB has no name here, like UPDATE EXTENSIONS.
        raise UsageError(f"this statement {_REFUSED}") from error
    if kind == duckdb.StatementType.EXPLAIN:
        _check_explained(connection, text)
    elif kind == duckdb.StatementType.MULTI:
        _check_words(connection, text)
    elif kind != duckdb.StatementType.SELECT or not _check_tree(connection, text):
        raise UsageError(f"{kind.name} {_REFUSED}")
    return str(kind.name)


def _check_tree(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Whether a text is a SELECT. Raises `UsageError` for a node in it that does more than read."""
    ((written,),) = connection.execute("SELECT json_serialize_sql($1)", [text]).fetchall()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, MOST_DEPTH))
    try:
        tree = json.loads(written)
    except RecursionError as error:
        raise UsageError("the parts of this query are nested too deep.") from error
    finally:
        sys.setrecursionlimit(limit)
    if tree["error"]:
        return False
    left: list[Any] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            _check_node(node)
            left += node.values()
    return True


def _check_node(node: dict[str, Any]) -> None:
    kind = node.get("type")
    # Every query has a map of the queries in its WITH.
    if "cte_map" in node and kind not in QUERY_NODES:
        raise UsageError(f"{str(kind).removesuffix('_QUERY_NODE')} {_REFUSED}")
    if kind == "TABLE_FUNCTION":
        for name in _called(node["function"]) - READING:
            raise UsageError(f"{name}() in FROM is refused: queries read the tables and views of the trace.")
    if "function_name" in node:
        for name in _called(node) & CHANGING:
            raise UsageError(f"{name}() {_REFUSED}")


def _called(function: dict[str, Any]) -> frozenset[str]:
    path = function.get("qualified_name", {}).get("path", ())
    return frozenset(str(name).lower() for name in (function.get("function_name", "?"), *path[-1:]))


def _check_explained(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raises `UsageError` unless what stands behind EXPLAIN only reads: EXPLAIN ANALYZE runs it."""
    words = _words(text)
    start = _after_explain(words)
    if not start or not all(word.isascii() for _, word in words[: start + 1]):
        # DuckDB takes spaces of Unicode as such, and its list of words does not.
        raise UsageError("EXPLAIN needs plain spaces around its words.")
    # `EXPLAIN (FORMAT json) SELECT 1` has options in brackets, `EXPLAIN (SELECT 1)` has not.
    if any(_check_tree(connection, _from(text, words, at)) for at in (start, _after_brackets(words, start))):
        return
    raise UsageError(f"EXPLAIN of another statement than SELECT {_REFUSED}")


def _check_words(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raises `UsageError` for words that could do more than read, wherever they stand.

    A PIVOT without the list of its values is several statements to DuckDB, of which it shows no tree. What it makes on
    the way is temporary.
    """
    said = _words(text)
    start = _after_explain(said)
    begins = {word.lower() for at in (start, _after_brackets(said, start)) for _, word in said[at : at + 1]}
    # Not only at its begin: to DuckDB's list of words a space of Unicode is a letter.
    words = frozenset((found[1] or found[0]).lower() for _, word in said for found in _NAME.finditer(word))
    if not begins <= BEGINS or ("pivot" not in words and "pivot_wider" not in words):
        raise UsageError(f"MULTI {_REFUSED}")
    kinds = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'pragma')"
    functions = {name for (name,) in connection.execute(kinds).fetchall()}
    for word in sorted(words & ((functions - READING) | CHANGING | WRITING)):
        raise UsageError(f"{word} is refused in a PIVOT without the list of its values; write ON column IN (...).")


def _words(text: str) -> list[tuple[int, str]]:
    """The words of a query as DuckDB cuts it, without comments, each with the byte at which it begins.

    Of a string only its first quote is left, so that no word in it counts.
    """
    kinds, whole, found = duckdb.token_type, text.encode(), duckdb.tokenize(text)
    ends = [at for at, _ in found[1:]] + [len(whole)]
    pieces = [(at, kind, whole[at:end].decode(errors="replace")) for (at, kind), end in zip(found, ends, strict=True)]
    return [
        (at, piece[0] if kind == kinds.string_const else piece.rstrip())
        for at, kind, piece in pieces
        if kind != kinds.comment
    ]


def _after_explain(words: list[tuple[int, str]]) -> int:
    """The number of words of EXPLAIN or EXPLAIN ANALYZE at the beginning."""
    begin = [word.lower() for _, word in words[:2]]
    if begin[:1] != ["explain"]:
        return 0
    return 2 if begin[1:] in (["analyze"], ["analyse"]) else 1


def _after_brackets(words: list[tuple[int, str]], start: int) -> int:
    """The place after brackets that open at `start`; that place where none do."""
    depth = 0
    for at, (_, word) in enumerate(words[start:], start):
        depth += (word == "(") - (word == ")")
        if not depth:
            return at + 1 if word == ")" else start
    return start


def _from(text: str, words: list[tuple[int, str]], at: int) -> str:
    """Return the end of a query, from a word on."""
    return text.encode()[words[at][0] :].decode() if at < len(words) else ""


@contextlib.contextmanager
def reading(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[str]:
    """A read-only transaction for a query that is checked first, see `check`; yields its kind.

    A message about a name that is not there guesses what was meant.
    """
    from traceview.store import views

    kind = check(connection, text)
    views.make(connection, text)
    views.plain(connection).execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield kind
    except (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.InternalError):
        raise
    except duckdb.Error as error:
        _end(connection)
        is_name = isinstance(error, duckdb.CatalogException | duckdb.BinderException)
        said = _mended(connection, str(error), text) if is_name else str(error)
        raise QueryError(sentence(said)) from error
    finally:
        _end(connection)


_TABLE = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_COLUMN = re.compile(r'(?:column named|Referenced column|Column) "([^"]+)"')
_READ = re.compile(r'(?i)\b(?:FROM|JOIN)\s+"?([a-z_]\w*(?:\.[a-z_]\w*)?)')
MOST_HAVING = 6
"""Tables that are named as having a column; a column of more is not a hint."""


def columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[str, str]]]:
    """The name and type of every column of every public table and view, by the names that those have in SQL."""
    query = (
        "SELECT if(schema_name = 'raw', 'raw.', '') || table_name, list((column_name, data_type) ORDER BY column_index)"
        " FROM duckdb_columns() WHERE NOT internal AND database_name = current_database() "
        "AND schema_name IN ('main', 'raw') GROUP BY schema_name, table_name ORDER BY schema_name, table_name"
    )
    return dict(connection.execute(query).fetchall())


def _mended(connection: duckdb.DuckDBPyConnection, message: str, query: str) -> str:
    """DuckDB's message about a query, with guesses of names that users know in the place of its own."""
    lines = [line for line in message.splitlines() if line.strip()]
    table, column = _TABLE.search(lines[0]), _COLUMN.search(lines[0])
    if not table and not column:
        return message
    public = {name: [column for column, _ in found] for name, found in columns(connection).items()}
    if table:
        is_raw = f"raw.{table[1]}" in query
        near = meant(f"raw.{table[1]}" if is_raw else table[1], [name for name in public if _is_raw(name) == is_raw])
        lines = [line for line in lines if not line.startswith("Did you mean")]
        lines.insert(1, _hint(near) or "`.tables` lists what there is.")
    elif column:
        lines[0] = lines[0].replace("Values list", "Table")
        lines[1:1] = _about_column(column[1], query, public, any("Candidate" in line for line in lines))
    return "\n".join(lines)


def _about_column(word: str, query: str, public: dict[str, list[str]], has_guess: bool) -> list[str]:
    """A name like it in the tables that are read, else the other tables that have it."""
    read = [table for table in dict.fromkeys(_READ.findall(query)) if table in public]
    near = _hint(meant(word, [name for table in read for name in public[table]]))
    if near and not has_guess:
        return [near]
    having = [table for table, names in public.items() if word in names and not _is_raw(table)]
    return [f"Tables that have it: {', '.join(having)}."] if 0 < len(having) <= MOST_HAVING else []


def _is_raw(table: str) -> bool:
    return table.startswith("raw.")


def _hint(hint: str) -> str:
    return hint[:1].upper() + hint[1:].strip()


def lacks_kernels(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Whether a query reads kernels of a capture that holds work of a CPU alone."""
    found = "SELECT NOT EXISTS (FROM raw.kernels) AND (EXISTS (FROM raw.ops) OR EXISTS (FROM raw.primitives))"
    return "kernels" in graph.sources(text) and bool(connection.execute(found).fetchall()[0][0])


def _end(connection: duckdb.DuckDBPyConnection) -> None:
    """End a transaction, which an error may have ended already."""
    with contextlib.suppress(duckdb.Error):
        connection.execute("ROLLBACK")


def sentence(message: str) -> str:
    """Return DuckDB's message without empty lines and the middle of long ones."""
    lines = [line for line in message.expandtabs(4).splitlines() if line.strip()]
    return "\n".join(line if len(line) <= 300 else f"{line[:150]} ... {line[-140:]}" for line in lines)
