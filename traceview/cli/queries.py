"""Queries of a user: exactly one statement that only reads, in a transaction that changes nothing."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from traceview.errors import QueryError, UsageError
from traceview.render.characters import clean

if TYPE_CHECKING:
    import duckdb


MOST_DEPTH = 1000
"""What DuckDB takes. For the end of open brackets it looks for minutes, and cannot be interrupted there."""
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_STEPS = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)


def _depth(text: str) -> int:
    """How deep brackets are nested, but those in quotes and comments."""
    return max(accumulate(_STEPS.get(character, 0) for character in _QUOTED.sub("", text)), default=0)


def check(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """The kind of statement. Raises `UsageError` unless `text` is exactly one that only reads."""
    import duckdb

    if _depth(text) > MOST_DEPTH:
        raise UsageError(f"the brackets of this query are nested more than {MOST_DEPTH:,} deep, or do not close.")
    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise QueryError(sentence(str(error))) from error
    if not statements:
        raise UsageError("the query is empty; give one, for example 'SELECT count(*) FROM kernels', or .tables")
    if len(statements) != 1:
        raise UsageError(f"one query at a time; this has {len(statements)}.")
    kind = statements[0].type
    # PIVOT is several statements to the parser; what it makes on the way is temporary.
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI):
        raise UsageError(f"{kind.name} is refused: queries are read-only. Use SELECT, FROM, WITH, DESCRIBE or EXPLAIN.")
    return str(kind.name)


@contextlib.contextmanager
def reading(connection: duckdb.DuckDBPyConnection, text: str = "") -> Iterator[None]:
    """A read-only transaction for a query: not even an INSERT inside a WITH changes what later queries see."""
    import duckdb

    def end() -> None:
        # An error may have ended the transaction already; Ctrl-C may arrive in this statement instead of the query.
        for _ in range(2):
            with contextlib.suppress(duckdb.Error):
                connection.execute("ROLLBACK")
                return

    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.InternalError):
        raise
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        from traceview.analysis import hints

        end()
        raise QueryError(sentence(hints.mended(connection, str(error), text))) from error
    except duckdb.Error as error:
        raise QueryError(sentence(str(error))) from error
    finally:
        end()


def sentence(message: str) -> str:
    """What DuckDB says, without its empty lines and whatever a name in the message would do to a terminal."""
    if "'pytz'" in message:
        return "a timestamp with time zone cannot be shown; cast it: column::TIMESTAMP or column::VARCHAR."
    lines = [clean(line) for line in message.expandtabs(4).splitlines() if line.strip()]
    return "\n".join(line if len(line) <= 300 else f"{line[:150]} ... {line[-140:]}" for line in lines)
