"""Collapsed stacks: a line per stack, root first, and its device time in nanoseconds.

For flamegraph.pl, inferno, speedscope and every other tool that draws flame graphs. Format:
https://github.com/brendangregg/FlameGraph#2-fold-stacks.
"""

from __future__ import annotations

from collections.abc import Iterator

from traceview.analysis import stacks, timeline
from traceview.exports import texts
from traceview.lazy import duckdb
from traceview.render.characters import clean

EXTENSION = ".txt"
TITLE = "collapsed stacks of operators with their device time, for flame graphs (flamegraph.pl, inferno, speedscope)"


def choose(connection: duckdb.DuckDBPyConnection, rank: int | None = None, step: int | None = None) -> int:
    """Without device time and operators there is nothing."""
    timeline.choose_window(connection, rank, step)
    stacks.work_out(connection)
    return len(connection.execute("SELECT rank FROM activities LIMIT 1").fetchall())


def pieces(connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
    """The lines; what would act on a terminal or hide in a name is an escape."""
    for lines in texts(connection, "collapsed/stacks"):
        yield "".join(f"{clean(line)}\n" for line in lines).encode()
