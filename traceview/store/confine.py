"""The connections through which captures are read: able to read a capture's own files, and nothing else of the machine.

Invariant: a connection is confined before anything of a capture is bound. It reads the files that it was made for,
writes to a spill folder of its own, loads no extension and takes no settings any more: no profile or log is written.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from traceview.ingest.options import Options
from traceview.lazy import duckdb
from traceview.paths import literal, temporary_folder

SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "asof_loop_join_threshold": 0,
}
"""Settings of every connection: machines are offline, so an extension is never fetched; and where DuckDB expects an
ASOF join to find few rows, it would compare each row with each, which takes minutes where it is mistaken."""

LAVISH = (
    "build_side_probe_side,column_lifetime,common_subexpressions,common_subplan,compressed_materialization"
    ",cte_filter_pusher,duplicate_groups,in_clause,join_filter_pushdown,join_order,late_materialization,limit_pushdown"
    ",materialized_cte,projection_placement,projection_pullup,regex_range,reorder_filter,row_group_pruner"
    ",self_join_aggregate,statistics_propagation,top_n,window_rewriter"
)
"""Optimizer passes that cost more than they save on few rows: a tenth of a first report of 2,500 (30 November 2026)."""

_NUMBERS = itertools.count()


def config(threads: int | None, memory_bytes: int | None, is_small: bool = False) -> dict[str, Any]:
    """The settings of every connection, with at most these threads and this memory; `is_small`: for few rows."""
    limits = {
        "threads": threads,
        "memory_limit": memory_bytes and f"{max(1, memory_bytes // 1_000_000)}MB",
        "disabled_optimizers": LAVISH if is_small else None,
    }
    return {**SETTINGS, **{name: limit for name, limit in limits.items() if limit}}


def connect(
    readable: Iterable[Path] = (),
    options: Options | None = None,
    folders: Collection[Path] = (),
    is_limit_open: bool = False,
    is_small: bool = False,
) -> duckdb.DuckDBPyConnection:
    """A confined connection to a database in memory.

    `readable`: the files that it may read; `folders` of ours, in which it may also write. Of the `options` threads and
    memory count. What does not fit memory is spilled among temporary files. `is_limit_open`: the memory limit can still
    be set, for work that is tried with little first. `is_small`: for few rows.
    """
    limits = config(options.threads, options.memory_bytes, is_small) if options else SETTINGS
    own: dict[str, Any] = {"python_enable_replacements": False, "temp_directory": _spill()}
    connection = duckdb.connect(":memory:", config={**limits, **own})
    # Where no script is run, DuckDB draws one, on standard output, which is for answers. In a notebook without
    # ipywidgets it draws none and refuses to be told so.
    with contextlib.suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    # A file with a bracket in its path is asked for by a pattern that means only itself, and has to be allowed as both.
    for setting, paths in (("allowed_paths", readable), ("allowed_directories", folders)):
        connection.execute(f"SET {setting} = $1", [[name for path in paths for name in {str(path), literal(path)}]])
    open_limit = "SET allowed_configs = ['memory_limit'];" if is_limit_open else ""
    connection.execute(f"SET enable_external_access = false; {open_limit} SET lock_configuration = true")
    return connection


def _spill() -> str:
    """A folder that DuckDB makes when it first spills and removes with the connection; empty where there can be none.

    Each connection has its own, because it can also read there.
    """
    try:
        return str(_spills(os.getpid()) / str(next(_NUMBERS))).encode().decode()
    except (OSError, UnicodeEncodeError):
        return ""


@cache
def _spills(_process: int) -> Path:
    """The folder of this process for them, gone with it; after kill -9 the next process removes it."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_folder("traceview-spill-"))
