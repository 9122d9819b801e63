"""Tables of measured convolutions as CSV: DeepBench's, and any whose columns are those of `algorithm_times`.

A sweep of one's own needs in_channels, height, width, out_channels, filter_height, filter_width and a time (wall_ns, or
ms); the other columns are optional, and so is `workspace_mb` in place of workspace_bytes.

Invariant: a number that cannot be read is an error with its line, never another number.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.experiments.algorithms.layers import Layer
from traceview.tables import BY_NAME

MOST_ROWS = 200_000
SIZES = ("in_channels", "height", "width", "out_channels", "filter_height", "filter_width")
STEPS = ("stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w", "groups")
DEEPBENCH = {
    "in_channels": "C",
    "height": "H",
    "width": "W",
    "out_channels": "K",
    "filter_height": "R_filter_h",
    "filter_width": "S_filter_w",
    "stride_h": "stride_h",
    "stride_w": "stride_w",
    "pad_h": "pad_h",
    "pad_w": "pad_w",
}
DEEPBENCH_TIMES = {"fprop": "fwd_ms", "dgrad": "bwd_data_ms", "wgrad": "bwd_filter_ms"}
FORWARD_ONLY = "the table names the algorithm of forward passes only"
Row = dict[str, Any]


def read(file: Path) -> Iterator[Row]:
    """The rows of a table. Raises `InputError` for one whose columns say nothing of shapes, or a cell that is wrong."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        table = csv.DictReader(lines)
        try:
            names = set(table.fieldnames or ())
            if {*DEEPBENCH.values(), "N"} <= names:
                make = _deepbench
            elif {*SIZES} <= names and names & {"wall_ns", "ms"}:
                make = _sweep
            else:
                raise InputError(
                    "a CSV without the shapes of convolutions; `traceview study import --help` names columns."
                )
            for number, row in enumerate(table, 2):
                if number > MOST_ROWS:
                    raise InputError(f"more than {MOST_ROWS:,} rows.")
                try:
                    yield from make(row)
                except (ArithmeticError, ValueError, TypeError) as error:
                    raise InputError(f"line {number} holds a value that cannot be read ({_short(error)}).") from error
        except csv.Error as error:
            raise InputError(f"not a CSV ({error}).") from error


def _short(error: Exception) -> str:
    return str(error)[:80] or type(error).__name__


def _deepbench(row: Mapping[str, str]) -> Iterator[Row]:
    sizes: Row = {name: int(row[column]) for name, column in DEEPBENCH.items()}
    layer = Layer(_text(row), **sizes, model="DeepBench")
    batch = int(row["N"])
    told = (row.get("fwd_algorithm") or "").lower() or None
    for direction, column in DEEPBENCH_TIMES.items():
        if row.get(column):
            is_forward = direction == "fprop"
            yield {
                **layer.facts(),
                "direction": direction,
                "batch": batch,
                "backend": "cuDNN",
                "implementation": told if is_forward else None,
                "algorithm": told if is_forward else None,
                "reason": None if is_forward else FORWARD_ONLY,
                "wall_ns": nanoseconds(row[column], "ms"),
                "flop": layer.flop(batch),
            }


def _text(row: Mapping[str, str]) -> str:
    """A name for a layer that has none."""
    return f"{row['C']}x{row['H']}x{row['W']} k{row['K']} {row['R_filter_h']}x{row['S_filter_w']} s{row['stride_h']}"


def _sweep(row: Mapping[str, str]) -> Iterator[Row]:
    texts = {column.name: column.type for column in BY_NAME["algorithm_times"].columns}
    sizes: Row = {name: int(row[name]) for name in (*SIZES, *(name for name in STEPS if row.get(name)))}
    text = "x".join(str(sizes[name]) for name in SIZES[:3])
    name = f"{text} k{sizes['out_channels']} {sizes['filter_height']}x{sizes['filter_width']}"
    layer = Layer(row.get("layer") or name, **sizes)
    batch = int(row.get("batch") or 1)
    found = {column: value for column, value in row.items() if column in texts and value}
    numbers = {name: _number(value, texts[name]) for name, value in found.items()}
    if "wall_ns" not in numbers:
        numbers["wall_ns"] = nanoseconds(row["ms"], "ms")
    if row.get("workspace_mb"):
        numbers["workspace_bytes"] = round(Decimal(row["workspace_mb"]) * 10**6)
    yield {**layer.facts(), "direction": "fprop", "flop": layer.flop(batch), **numbers, "batch": batch}


def _number(text: str, kind: str) -> Any:
    if kind == "VARCHAR":
        return text
    value = float(text) if kind == "DOUBLE" else int(text)
    if not abs(value) < 2**62:
        raise ValueError(f"{text[:40]} is out of range")
    return value


def nanoseconds(text: str, unit: str) -> int:
    """A time as whole nanoseconds. Raises `ValueError` or `ArithmeticError` for what is none."""
    value = Decimal(text).scaleb({"ns": 0, "ms": 6}[unit])
    if not value.is_finite() or not 0 <= value < 10**18:
        raise ValueError(f"{text[:40]} is not a time")
    return int(value.to_integral_value())
