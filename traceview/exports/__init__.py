"""Writes a capture for other tools: one module per format, which says all there is to know of it.

Invariant: what is exported is what was recorded, under the profiler's own categories; what traceview derives stands
beside it and is marked as its own. Everything is written in batches, so that memory does not grow with a file.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from traceview.paths import content

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from traceview.sql import Query


def _formats() -> tuple[str, ...]:
    """The modules that say their extension: found by their text, for they load DuckDB."""
    paths = sorted(Path(__file__).parent.glob("*.py"))
    return tuple(path.stem for path in paths if "\nEXTENSION = " in path.read_text(encoding="utf-8"))


FORMATS = _formats()
"""The modules of this folder that write a format; imported when they are used."""

BATCH_ROWS = 1 << 14


class Exporter(Protocol):
    """What the module of a format has."""

    EXTENSION: str
    """Of files that hold it."""
    TITLE: str
    """What it is and which tool opens it."""

    def asked(self) -> str:
        """The text of the queries of `choose`."""

    def choose(self, connection: duckdb.DuckDBPyConnection, rank: int | None = None, step: int | None = None) -> int:
        """Make what `pieces` selects from, of one rank and step or of all; 0 where there is nothing to write."""

    def pieces(self, connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
        """The file, piece by piece, of what `choose` left in the connection."""


def exporter(name: str) -> Exporter:
    """The module of a format."""
    return cast(Exporter, importlib.import_module(f"traceview.exports.{name}"))


def query(name: str) -> Query:
    """`queries/export/<name>.sql`."""
    from traceview.sql import load

    return load(content("queries") / "export" / f"{name}.sql")


def asked(name: str) -> str:
    """The text of every query that a format runs, which says what views it rests on."""
    from traceview.sql import load

    own = sorted((content("queries") / "export" / name).glob("*.sql"))
    return "\n".join([exporter(name).asked(), *(load(path).body for path in own)])


def texts(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[list[str]]:
    """The first column of a query of this folder, batch after batch."""
    for batch in connection.sql(query(name).body).to_arrow_reader(BATCH_ROWS):
        yield batch.column(0).to_pylist()


def ends(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[pa.RecordBatch]:
    """Rows of a query of this folder over `export_ends`, batch after batch, in their order."""
    from traceview.analysis import timeline

    for _ in timeline.parts(connection):
        yield from connection.sql(query(name).body).to_arrow_reader(BATCH_ROWS)


def of_file(name: str) -> str | None:
    """The format whose files are named like this one, also compressed; of several the longest extension counts."""
    plain = name.lower().removesuffix(".gz")
    fitting = [format_ for format_ in FORMATS if plain.endswith(exporter(format_).EXTENSION)]
    return max(fitting, key=lambda format_: len(exporter(format_).EXTENSION), default=None)
