"""Runs SQL on a trace: one query, a query from a file, or an interactive prompt.

Queries are DuckDB SQL. They are read-only and see only the capture: no other files, no extensions. They run in a
process of their own, which Ctrl-C ends at once. Numbers and texts are shown exactly as stored, dates to the microsecond
(parquet has them whole), an interval's months as 30 days each; times are in nanoseconds, other units are in the column
names (`_bytes`, `_pct`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traceview import render
from traceview.cli import names as known
from traceview.cli.options import (
    INPUT_HELP,
    add_capture_option,
    add_machine_options,
    add_output_options,
    add_rank_option,
    converting,
    form_of,
    translate_errors,
)
from traceview.cli.output import emit, to_stdout, whole
from traceview.errors import UsageError
from traceview.lazy import duckdb

if TYPE_CHECKING:
    from traceview.store.reader import Reader

HELP = "run SQL on a trace: a query, a file, or an interactive prompt"

EXAMPLES = """examples:
  traceview sql trace.json.gz                                an interactive prompt
  traceview sql trace.json.gz .tables                        tables and views
  traceview sql trace.json.gz ".schema kernels"              columns, types, meanings
  traceview sql trace.json.gz "SELECT name, sum(dur_ns) AS total_ns FROM kernels GROUP BY ALL ORDER BY 2 DESC LIMIT 10"
  traceview sql run1 -f query.sql --format csv > answer.csv
  traceview sql run1 "FROM kernels" --format parquet -o kernels.parquet
  traceview sql run1 "FROM kernels" --format parquet > kernels.parquet
  traceview sql run1 "FROM steps" --format markdown          a table for an issue or a wiki

--format json prints one array of row objects: whole numbers exactly; NULL, NaN and infinity as null.
--format csv puts a single quote before text that a spreadsheet would run as a formula.
"""

FORMATS = (*render.FORMATS, "parquet")
BATCH = 8192


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview sql`."""
    parser.add_argument("input", metavar="INPUT", help=INPUT_HELP)
    query = parser.add_argument("query", nargs="?", metavar="QUERY", help="one query, or .tables, or .schema [TABLE]")
    known.completed(query, known.queries)
    parser.add_argument("-f", "--file", metavar="FILE", help="read the query from a file (- is stdin)")
    add_rank_option(parser)
    add_output_options(parser, FORMATS)
    add_capture_option(parser)
    add_machine_options(parser)


def run(args: argparse.Namespace) -> int:
    """Answer one query, or one after the other at a prompt; returns 0."""
    if args.query and not Path(args.input).exists() and Path(args.query).is_file():
        raise UsageError(f"the trace comes before the query: traceview sql {args.query} {args.input!r}")
    text = query_text(args)
    form = form_of(args, {".parquet": "parquet"})
    if form == "parquet" and not args.output and sys.stdout.isatty():
        raise UsageError("--format parquet is not for a terminal; write it to a file (-o FILE or > FILE) or a pipe.")
    if text is None and (args.output or form == "parquet"):
        raise UsageError("at the prompt, answers go to the terminal; give a query to write a file.")
    from traceview import store
    from traceview.store.reader import Reader

    with converting(args) as options:
        folder = store.prepare(Path(args.input), options, text)
    with translate_errors(), Reader(folder, options) as reader:
        if text is None:
            prompt(reader, form)
        else:
            answer(reader, text, form, args.output)
    return 0


def prompt(reader: Reader, form: str) -> None:
    """Answer at a prompt until the user leaves."""
    from traceview.cli.prompt import ask, session

    (tables,) = reader.ask(columns)
    ask(session(tables), lambda text, limit: reader.ask(pieces, text, form, False, limit))


def columns(connection: duckdb.DuckDBPyConnection) -> Iterator[dict[str, list[str]]]:
    """The names of the columns of every table, in one piece."""
    from traceview.store import queries

    yield {name: [column for column, _ in columns] for name, columns in queries.columns(connection).items()}


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


def answer(reader: Reader, text: str, form: str, output: str | None) -> None:
    """Write the answer to one query or dot command. Raises `UsageError` when it is wrong or refused."""
    if form == "parquet" and not text.strip().startswith("."):
        write_parquet(reader.ask(arrow, text), output)
    else:
        emit(reader.ask(pieces, text, form, bool(output)), output)


def pieces(
    connection: duckdb.DuckDBPyConnection, text: str, form: str, is_for_file: bool = False, limit: int = 0
) -> Iterator[str]:
    """The answer to one query or dot command as text; of a query at most `limit` rows (0: all), and how many there are.

    Raises `UsageError` when it is wrong or refused.
    """
    if text.strip().startswith("."):
        yield explained(connection, text.strip().rstrip(";").split(), form)
        return
    from traceview.analysis.model import Column
    from traceview.store import queries

    with queries.reading(connection, text) as kind:
        cursor = connection.execute(text)
        # In batches, so that memory does not grow with the answer.
        batches = iter(lambda: cursor.fetchmany(BATCH), [])
        if form == "table" and kind == "EXPLAIN":
            yield plan_text(batches)
            return
        columns = [Column(entry[0], str(entry[1]), "") for entry in cursor.description or ()]
        shown: Iterable[list[tuple[Any, ...]]] = [cursor.fetchmany(limit)] if limit else batches
        yield from render.renderer(form).stream(columns, shown, is_for_file)
        if n_left_out := sum(map(len, batches)):
            total = limit + n_left_out
            yield f"{total:,} rows in all; the first {limit:,} are shown (.limit N shows more).\n"
    if form == "table" and queries.lacks_kernels(connection, text):
        yield "This capture holds no kernels of a device; the view activities has what its CPU ran.\n"


def arrow(connection: duckdb.DuckDBPyConnection, text: str) -> Iterator[Any]:
    """The rows of one query in Arrow: their schema, then batches. Raises `UsageError` when it is wrong or refused."""
    from traceview.store import queries

    with queries.reading(connection, text):
        reader = connection.sql(text).to_arrow_reader(BATCH)
        yield reader.schema
        yield from reader


def write_parquet(rows: Iterator[Any], output: str | None) -> None:
    """Rows in Arrow as Parquet, to a file or stdout, with the query's own types.

    HUGEINT (a sum of BIGINT) becomes DECIMAL(38, 0). Raises `UsageError` where Parquet has no such type.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = next(rows)
    for column in schema:
        try:
            # Before a file is begun: one that is there already stays.
            pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([column])).close()
        except pa.ArrowNotImplementedError as error:
            raise UsageError(
                f"Parquet cannot hold the type of column {column.name}; cast it, for example to VARCHAR."
            ) from error
    with (
        whole(Path(output)) if output else to_stdout() as file,
        pq.ParquetWriter(file or sys.stdout.buffer, schema, compression="zstd") as writer,
    ):
        for batch in rows:
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
        from traceview.cli.prompt import HELP_TEXT

        return HELP_TEXT
    is_schema = words[0] == ".schema" and len(words) <= 2
    if not is_schema and words not in ([".tables"], [".tables", "all"]):
        raise UsageError(
            f"no such command: {' '.join(words)}; commands are .tables [all], .schema [TABLE], .help and .quit."
        )
    has_all = len(words) == 2 or form != render.DEFAULT
    report = schema.schema(connection, *words[1:]) if is_schema else schema.tables(has_all)
    if form == "parquet":
        raise UsageError(f"{words[0]} cannot be written in this format; use --format {', '.join(render.FORMATS)}.")
    renderer = render.renderer(form)
    if renderer.FOR_PEOPLE:
        return renderer.render(report)
    flat = schema.flattened(report)
    return "".join(renderer.stream(flat.columns, [flat.rows]))
