"""Writes a capture for other tools: one module per format, which says all there is to know of it.

Invariant: what is exported is what was recorded, under the profiler's own categories; what traceview derives stands
beside it and is marked as its own. Everything is written in batches, so that memory does not grow with a file.
"""

from __future__ import annotations

import codecs
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from traceview.lazy import duckdb
from traceview.paths import content

if TYPE_CHECKING:
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
    """Interface of the module of a format."""

    EXTENSION: str
    """File extension."""
    TITLE: str
    """Format's name, and the tool that opens it."""

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


def texts(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[list[str]]:
    """The first column of a query of this folder, batch after batch."""
    for batch in connection.sql(query(name).body).to_arrow_reader(BATCH_ROWS):
        yield batch.column(0).to_pylist()


def ascii_json(text: str) -> bytes:
    """Return JSON in ASCII, as `render/json.py` writes it: it can be printed, and no character acts or hides."""
    return text.encode("ascii", "traceview.json")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Characters of JSON beyond ASCII stand in its texts only, where an escape is the same character."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("traceview.json", _escaped)


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
