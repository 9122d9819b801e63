"""Runs SQL on a trace: one query, a query from a file, or an interactive prompt.

Queries are DuckDB SQL. They are read-only and see the capture alone: no other files, no extensions. Values are shown
exactly as stored; times are in nanoseconds, other units are in the column names (`_bytes`, `_pct`).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview import render
from traceview.cli.options import INPUT_HELP, add_machine_options, add_output_options, form_of, interruptible, opened
from traceview.cli.output import emit, say, writing
from traceview.errors import QueryError, UsageError

if TYPE_CHECKING:
    import duckdb
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History

    from traceview.analysis.model import Column

HELP = "run SQL on a trace: a query, a file, or an interactive prompt"

EXAMPLES = """examples:
  traceview sql trace.json.gz                                an interactive prompt
  traceview sql trace.json.gz .tables                        tables and views
  traceview sql trace.json.gz ".schema kernels"              columns, types, meanings
  traceview sql trace.json.gz "SELECT name, sum(dur_ns) AS total_ns FROM kernels GROUP BY ALL ORDER BY 2 DESC LIMIT 10"
  traceview sql run1 -f query.sql --format csv > answer.csv
  traceview sql run1 "FROM kernels" --format parquet -o kernels.parquet

--format json prints one array of row objects: whole numbers exactly; NULL, NaN and infinity as null.
--format csv puts a single quote before text that a spreadsheet would run as a formula.
"""

FORMATS = (*render.FORMATS, "parquet")
BATCH = 8192

DOT_COMMANDS = (".tables", ".schema", ".help", ".quit")
KEYWORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "JOIN", "USING", "WITH", "DISTINCT", "HAVING")

HELP_TEXT = """.tables          every table and view
.schema [TABLE]  columns, types and meanings
.help            this list
.quit            leave (also Ctrl-D)
SELECT ... ;     a query, over as many lines as you like, ends with a semicolon
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview sql`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    parser.add_argument("query", nargs="?", metavar="QUERY", help="one query, or .tables, or .schema [TABLE]")
    parser.add_argument("-f", "--file", metavar="FILE", help="read the query from a file (- is stdin)")
    add_output_options(parser, FORMATS)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Answer one query, or one after the other at a prompt; returns 0."""
    text = query_text(args)
    form = form_of(args, {".parquet": "parquet"})
    if form == "parquet" and not args.output:
        raise UsageError("--format parquet needs -o FILE.")
    if text is None and args.output:
        raise UsageError("-o needs a query; at the prompt, results go to the terminal.")
    with opened(args) as connection:
        if text is None:
            prompt(connection, form)
        else:
            answer(connection, text, form, args.output)
    return 0


def query_text(args: argparse.Namespace) -> str | None:
    """The query from the argument, the file or stdin; None when a person sits at the terminal."""
    if args.query is not None and args.file:
        raise UsageError("give a query or -f FILE, not both.")
    if args.query is not None:
        return str(args.query)
    if args.file and args.file != "-":
        try:
            return Path(args.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"cannot read {args.file}: {getattr(error, 'strerror', 'it is not UTF-8 text')}."
            ) from error
    return None if sys.stdin.isatty() and not args.file else sys.stdin.read()


def answer(connection: duckdb.DuckDBPyConnection, text: str, form: str, output: str | None) -> None:
    """Write the answer to one query or dot command. Raises `UsageError` when it is wrong or refused."""
    if text.strip().startswith("."):
        emit([explained(connection, text.strip().rstrip(";").split(), form)], output)
        return
    is_plan = check(connection, text) == "EXPLAIN"
    with reading(connection):
        if form == "parquet":
            write_parquet(connection, text, str(output))
            return
        columns, batches = rows_of(connection, text)
        if form == "table" and is_plan:
            emit([plan_text(batches)], output)
        else:
            emit(render.renderer(form).stream(columns, batches, bool(output)), output)


def check(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    """The kind of statement. Raises `UsageError` unless `text` is exactly one that only reads."""
    import duckdb

    try:
        statements = connection.extract_statements(text)
    except duckdb.Error as error:
        raise QueryError(sentence(error)) from error
    if len(statements) != 1:
        raise UsageError(f"one query at a time; this has {len(statements)}.")
    kind = statements[0].type
    # PIVOT is several statements to the parser; what it makes on the way is temporary.
    if kind not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN, duckdb.StatementType.MULTI):
        raise UsageError(f"{kind.name} is refused: queries are read-only. Use SELECT, FROM, WITH, DESCRIBE or EXPLAIN.")
    return str(kind.name)


@contextlib.contextmanager
def reading(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A read-only transaction: not even an INSERT inside a WITH changes what later queries see."""
    import duckdb

    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.InternalError):
        raise
    except duckdb.Error as error:
        raise QueryError(sentence(error)) from error
    finally:
        # An error may have ended the transaction already.
        with contextlib.suppress(duckdb.Error):
            connection.execute("ROLLBACK")


def rows_of(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[list[Column], Iterator[list[tuple[Any, ...]]]]:
    """The columns of a query and its rows in batches, so that memory does not grow with the answer."""
    from traceview.analysis.model import Column

    cursor = connection.execute(text)
    columns = [Column(entry[0], str(entry[1]), "") for entry in cursor.description or ()]
    return columns, iter(lambda: cursor.fetchmany(BATCH), [])


def write_parquet(connection: duckdb.DuckDBPyConnection, text: str, output: str) -> None:
    """The rows as a Parquet file with the query's own types; HUGEINT (a sum of BIGINT) becomes DECIMAL(38, 0)."""
    import pyarrow.parquet as pq

    reader = connection.sql(text).to_arrow_reader(BATCH)
    with writing(output), pq.ParquetWriter(output, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)


def plan_text(batches: Iterator[list[tuple[Any, ...]]]) -> str:
    """The drawing that EXPLAIN returns, which is a cell of many lines."""
    from traceview.render.characters import clean

    lines = [line for batch in batches for row in batch for line in str(row[-1]).splitlines()]
    return "".join(f"{clean(line)}\n" for line in lines)


def explained(connection: duckdb.DuckDBPyConnection, words: Sequence[str], form: str) -> str:
    """The answer to `.tables`, `.schema [TABLE]` or `.help`."""
    from traceview.analysis import schema

    if words[0] == ".help":
        return HELP_TEXT
    if words[0] not in (".tables", ".schema") or len(words) > (2 if words[0] == ".schema" else 1):
        raise UsageError(f"no such command: {' '.join(words)}; commands are .tables, .schema [TABLE], .help and .quit.")
    report = schema.tables() if words[0] == ".tables" else schema.schema(connection, *words[1:])
    if form == "parquet":
        raise UsageError(f"{words[0]} cannot be written in this format; use --format {', '.join(render.FORMATS)}.")
    renderer = render.renderer(form)
    if renderer.FOR_PEOPLE:
        return renderer.render(report)
    flat = schema.flattened(report)
    return "".join(renderer.stream(flat.columns, [flat.rows]))


def sentence(error: Exception) -> str:
    """What DuckDB says, without its empty lines and whatever a name in the message would do to a terminal."""
    from traceview.render.characters import clean

    if "'pytz'" in str(error):
        return "a timestamp with time zone cannot be shown; cast it: column::TIMESTAMP or column::VARCHAR."
    lines = [clean(line) for line in str(error).splitlines() if line.strip()]
    return "\n".join(line if len(line) <= 300 else f"{line[:150]} ... {line[-140:]}" for line in lines)


def prompt(connection: duckdb.DuckDBPyConnection, form: str) -> None:
    """Ask and answer until `.quit` or Ctrl-D; errors are said and forgotten."""
    session = _session(connection)
    emit(["End a query with a semicolon; .help shows the commands.\n"], None)
    while True:
        try:
            text = session.prompt("traceview> ").strip()
            if text in (".quit", ".exit"):
                return
            if text.strip("; \n"):
                # The line editor takes signals for itself while it is at work.
                with interruptible(connection):
                    answer(connection, text, form, None)
        except EOFError:
            return
        except KeyboardInterrupt:
            say("interrupted")
        except UsageError as error:
            say(str(error), is_clean=isinstance(error, QueryError))


def _session(connection: duckdb.DuckDBPyConnection) -> PromptSession[str]:
    """A line editor with history, completion of tables and columns, and Enter that waits for the semicolon."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import WordCompleter
    from prompt_toolkit.filters import Condition

    found = connection.execute(
        "SELECT table_name FROM duckdb_columns() WHERE NOT internal AND schema_name IN ('main', 'raw') "
        "UNION SELECT column_name FROM duckdb_columns() WHERE NOT internal AND schema_name IN ('main', 'raw')"
    ).fetchall()
    words = [*DOT_COMMANDS, *KEYWORDS, *sorted(name for (name,) in found)]
    return PromptSession(
        history=_history(),
        completer=WordCompleter(words, ignore_case=True, pattern=re.compile(r"[.\w]+")),
        complete_while_typing=False,
        multiline=Condition(lambda: not _is_complete(get_app().current_buffer.text)),
        prompt_continuation="      ...> ",
    )


def _is_complete(text: str) -> bool:
    text = text.strip()
    return not text or text.startswith(".") or text.endswith(";")


def _history() -> History:
    """Beside the user's other state; kept in memory only where that place cannot be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    root = os.environ.get("XDG_STATE_HOME")
    folder = (Path(root) if root else Path.home() / ".local" / "state") / "traceview"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "sql_history").open("a").close()
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(folder / "sql_history"))
