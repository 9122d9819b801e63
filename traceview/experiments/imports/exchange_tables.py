"""Tables of published times of collectives as CSV: DeepBench's all-reduce, and any with ranks, bytes and a time.

Columns: ranks, bytes (or size_bytes) and wall_ns, ms or mean_ms; kind, nodes, library, device and n are optional.

Invariant: a number that cannot be read is an error with its line, never another number.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.experiments.imports.sweeps import MOST_ROWS, nanoseconds
from traceview.experiments.scaling.outcome import fitted

SIZES, TIMES = ("bytes", "size_bytes"), ("wall_ns", "ms", "mean_ms")
MOST_RANKS = 1 << 20
Row = dict[str, Any]


def is_one(file: Path) -> bool:
    """Whether the columns are those of such a table."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        names = set(next(csv.reader([lines.readline(65536)]), []))
    return "ranks" in names and bool(names & {*SIZES}) and bool(names & {*TIMES})


def read(file: Path) -> Iterator[Row]:
    """Rows of `collective_times`. Raises `InputError` for a cell that is wrong."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        try:
            for number, row in enumerate(csv.DictReader(lines), 2):
                if number > MOST_ROWS:
                    raise InputError(f"more than {MOST_ROWS:,} rows.")
                try:
                    yield _row(row)
                except (ArithmeticError, ValueError, TypeError) as error:
                    told = str(error)[:80] or type(error).__name__
                    raise InputError(f"line {number} holds a value that cannot be read ({told}).") from error
        except csv.Error as error:
            raise InputError(f"not a CSV ({error}).") from error


def _row(row: Mapping[str, str]) -> Row:
    size = next((row[name] for name in SIZES if row.get(name)), "")
    column = next((name for name in TIMES if row.get(name)), "ms")
    texts = {name: row[name] for name in ("library", "device") if row.get(name)}
    return {
        "kind": row.get("kind") or "all_reduce",
        "ranks": _count(row["ranks"], MOST_RANKS),
        "nodes": _count(row.get("nodes") or "1", MOST_RANKS),
        "size_bytes": _count(size, 1 << 50),
        "wall_ns": nanoseconds(row[column], "ns" if column == "wall_ns" else "ms"),
        "n": _count(row["n"], 1 << 50) if row.get("n") else None,
        **texts,
    }


def _count(text: str, most: int) -> int:
    value = int(text)
    if not 0 < value <= most:
        raise ValueError(f"{text[:40]} is out of range")
    return value


def models(rows: Iterable[Row]) -> list[Row]:
    """Rows of `scaling_models`: fits to the all-reduce of each publication and device, within one host."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] == "all_reduce" and row["nodes"] == 1:
            scope = ", ".join(str(row[name]) for name in ("device", "library", "source") if row.get(name))
            groups.setdefault(scope, []).append(row)
    return [fit for scope, some in sorted(groups.items()) for fit in fitted(scope, some)]
