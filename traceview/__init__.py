"""traceview: any profiler trace as the same few tables, queried with DuckDB SQL.

import traceview
connection = traceview.open("trace.json.gz")
connection.sql("SELECT name, sum(dur_ns) FROM kernels GROUP BY ALL ORDER BY 2 DESC").df()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    import duckdb

__version__ = "0.1.0"
__all__ = ["__version__", "convert", "open"]


def convert(inputs: Sequence[str | PathLike[str]], capture: str | PathLike[str]) -> Path:
    """Read trace files, or folders of them, into a new capture folder and return its path.

    Raises `traceview.errors.TraceviewError` with a sentence that says what to do.
    """
    from pathlib import Path

    from traceview import store

    return store.convert([Path(path) for path in inputs], Path(capture))


def open(path: str | PathLike[str]) -> duckdb.DuckDBPyConnection:  # noqa: A001
    """A DuckDB connection with the public views over a capture, a trace file or a folder of traces.

    A trace is converted on the way, into a cache beside it. Times are nanoseconds; see `traceview sql PATH .schema`.
    The connection is confined: it reads the capture, makes tables in memory, and sees no other file of the machine.
    Raises `traceview.errors.InputError` for what cannot be read.
    """
    from pathlib import Path

    from traceview import store

    return store.open_capture(Path(path))
