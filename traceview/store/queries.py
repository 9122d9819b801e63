"""Queries of a user: exactly one statement that only reads, in a transaction that changes nothing.

Invariant: every node of DuckDB's own parse tree is looked at. Behind that stands a wall that knows nothing of SQL: the
process that runs such a query cannot write files (`reader.py`).
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from traceview.errors import QueryError, UsageError

if TYPE_CHECKING:
    import duckdb

    Mended = Callable[[duckdb.DuckDBPyConnection, str, str], str]

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
MOST_DEPTH = 50_000
"""Maximum depth of brackets in the tree; more than the 1,000 expressions in each other that DuckDB takes need."""
_SPACE = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_EXPLAIN = re.compile(rf"{_SPACE}EXPLAIN\b{_SPACE}(?:ANALYZE\b{_SPACE})?", re.DOTALL | re.IGNORECASE)
_OPTIONS = re.compile(r"\([^()]*\)")
_NAME = re.compile(r'"((?:[^"]|"")*)"|\w+')
_REFUSED = "is refused: queries are read-only. Use SELECT, FROM, WITH, DESCRIBE or EXPLAIN."


def check(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """The kind of statement. Raises `UsageError` unless `text` is exactly one that only reads, in all its parts."""
    import duckdb

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
    start = _EXPLAIN.match(text)
    inner = text[start.end() :] if start else ""
    # `EXPLAIN (FORMAT json) SELECT 1` has options in brackets, `EXPLAIN (SELECT 1)` has not.
    options = _OPTIONS.match(inner)
    if _check_tree(connection, inner) or (options and _check_tree(connection, inner[options.end() :])):
        return
    raise UsageError(f"EXPLAIN of another statement than SELECT {_REFUSED}")


def _check_words(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raises `UsageError` for words that could do more than read, wherever they stand.

    A PIVOT without the list of its values is several statements to DuckDB, of which it shows no tree. What it makes on
    the way is temporary.
    """
    import duckdb

    strings = duckdb.token_type.string_const, duckdb.token_type.comment
    whole, tokens = text.encode(), duckdb.tokenize(text)
    ends = [at for at, _ in tokens[1:]] + [len(whole)]
    pieces = [whole[at:end] for (at, kind), end in zip(tokens, ends, strict=True) if kind not in strings]
    names = [_NAME.match(piece.decode(errors="replace")) for piece in pieces]
    words = frozenset((found[1] or found[0]).lower() for found in names if found)
    kinds = "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'pragma')"
    functions = {name for (name,) in connection.execute(kinds).fetchall()}
    if "pivot" not in words and "pivot_wider" not in words:
        raise UsageError(f"MULTI {_REFUSED}")
    for word in sorted(words & ((functions - READING) | CHANGING | WRITING)):
        raise UsageError(f"{word} is refused in a PIVOT without the list of its values; write ON column IN (...).")


@contextlib.contextmanager
def reading(connection: duckdb.DuckDBPyConnection, text: str = "", mended: Mended | None = None) -> Iterator[None]:
    """A read-only transaction for a query.

    `mended(connection, message, text)`: a message about a name that is not there, with guesses of what was meant.
    """
    import duckdb

    from traceview.store import views

    views.make(connection, text)
    views.plain(connection).execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.InternalError):
        raise
    except duckdb.Error as error:
        _end(connection)
        is_name = isinstance(error, duckdb.CatalogException | duckdb.BinderException)
        said = mended(connection, str(error), text) if mended and is_name else str(error)
        raise QueryError(sentence(said)) from error
    finally:
        _end(connection)


def _end(connection: duckdb.DuckDBPyConnection) -> None:
    """End a transaction, which an error may have ended already."""
    import duckdb

    with contextlib.suppress(duckdb.Error):
        connection.execute("ROLLBACK")


def sentence(message: str) -> str:
    """Return DuckDB's message without empty lines and the middle of long ones."""
    if "'pytz'" in message:
        return "a timestamp with time zone cannot be shown; cast it: column::TIMESTAMP or column::VARCHAR."
    lines = [line for line in message.expandtabs(4).splitlines() if line.strip()]
    return "\n".join(line if len(line) <= 300 else f"{line[:150]} ... {line[-140:]}" for line in lines)
