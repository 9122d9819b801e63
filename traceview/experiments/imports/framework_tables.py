"""Tables of published times of frameworks as CSV: a time in each row, of a whole network or of one of its layers.

Columns: framework, model, pass (forward, gradient, train; of a layer also backward) and ms or wall_ns; layer, batch,
version, threads, layout, device and source are optional. `gradient` is a run of forward pass and gradients.

Invariant: a value that cannot be read is an error with its line, never another value.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.experiments.imports.sweeps import MOST_ROWS, nanoseconds

NEEDED, TIMES = frozenset(("framework", "model", "pass")), ("ms", "wall_ns")
MODES, LAYER_MODES = ("forward", "gradient", "train"), ("forward", "backward", "train")
TEXTS, COUNTS = ("version", "layout", "device", "source"), ("batch", "threads")
TABLE, PARTS = "framework_times", "framework_parts"
MOST = 1 << 40
Row = dict[str, Any]


def is_one(file: Path) -> bool:
    """Whether the columns are those of such a table."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        names = set(next(csv.reader([lines.readline(65536)]), []))
    return names >= NEEDED and bool(names & {*TIMES})


def read(file: Path) -> Iterator[tuple[str, Row]]:
    """Table and row, one after the other. Raises `InputError` for a cell that is wrong."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        try:
            for number, row in enumerate(csv.DictReader(lines), 2):
                if number > MOST_ROWS:
                    raise InputError(f"more than {MOST_ROWS:,} rows.")
                try:
                    yield _row(row, file.name)
                except (ArithmeticError, ValueError, TypeError) as error:
                    told = str(error)[:80] or type(error).__name__
                    raise InputError(f"line {number} holds a value that cannot be read ({told}).") from error
        except csv.Error as error:
            raise InputError(f"not a CSV ({error}).") from error


def _row(row: Mapping[str, str], name: str) -> tuple[str, Row]:
    column = next((time for time in TIMES if row.get(time)), "ms")
    time_ns = nanoseconds(row[column], "ns" if column == "wall_ns" else "ms")
    layer = (row.get("layer") or "").strip()
    mode = row["pass"].strip()
    if mode not in (LAYER_MODES if layer else MODES):
        raise ValueError(f"pass {mode[:40]!r} is not one of {', '.join(LAYER_MODES if layer else MODES)}")
    facts: Row = {key: row[key].strip() for key in ("framework", "model")}
    if not all(facts.values()):
        raise ValueError("framework or model is empty")
    facts |= {"mode": mode, "source": name}
    facts |= {key: row[key].strip() for key in TEXTS if row.get(key)}
    facts |= {key: _count(row[key]) for key in COUNTS if row.get(key)}
    if not layer:
        return TABLE, {**facts, "step_ns": time_ns, "status": "published"}
    about = {key: value for key, value in facts.items() if key not in ("version", "device")}
    return PARTS, {**about, "layer": layer, "busy_ns": float(time_ns)}


def _count(text: str) -> int:
    value = int(text)
    if not 0 < value <= MOST:
        raise ValueError(f"{text[:40]} is out of range")
    return value
