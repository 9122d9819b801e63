"""Tables of published times as CSV: convolutions (DeepBench's, own sweeps), collectives, frameworks and their layers.

What a table holds is told by its columns. A sweep of convolutions needs in_channels, height, width, out_channels,
filter_height, filter_width and a time (wall_ns, or ms), collectives ranks, bytes (or size_bytes) and wall_ns, ms or
mean_ms, frameworks framework, model, pass (forward, gradient, train; of a layer also backward) and ms or wall_ns; the
other columns are optional. `gradient` is a run of forward pass and gradients. Columns that a sweep has besides are
counted.

Invariant: a value that cannot be read is an error with its line, never another value.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from traceview.errors import InputError
from traceview.experiments.algorithms.layers import Layer
from traceview.experiments.imports import miopen
from traceview.experiments.scaling.outcome import fitted
from traceview.tables import BY_NAME

ALGORITHMS, EXCHANGES, FRAMEWORKS, PARTS = "algorithm_times", "collective_times", "framework_times", "framework_parts"
MOST_ROWS, MOST_RANKS, MOST = 200_000, 1 << 20, 1 << 50
SIZES = ("in_channels", "height", "width", "out_channels", "filter_height", "filter_width")
STEPS = ("stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w", "groups")
SHORT = {
    "stride": ("stride_h", "stride_w"), "pad": ("pad_h", "pad_w"), "padding": ("pad_h", "pad_w"),
    "dilation": ("dilation_h", "dilation_w"), "pass": ("direction",), "precision": ("dtype",),
}  # fmt: skip
"""Columns that stand for others where these are empty."""
PASSES = {"forward": "fprop", "backward_data": "dgrad", "backward_filter": "wgrad", "backward": "backward"}
DEEPBENCH = dict(zip((*SIZES, *STEPS[:4]), ("C", "H", "W", "K", "R_filter_h", "S_filter_w", *STEPS[:4]), strict=True))
DEEPBENCH_TIMES = {"fprop": "fwd_ms", "dgrad": "bwd_data_ms", "wgrad": "bwd_filter_ms"}
DERIVED = ("P", "Q", "fwd_flop", "fwd_tflops_reported")
"""Columns of DeepBench's table that follow from the others."""
DTYPES = {**miopen.DTYPES, "HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}
NO_TIMES = ("modelled", "cannot", "failed", "wrong")
"""Rows of an exported study with such a status hold no time of a correct result."""
FORWARD_ONLY = "the table names the algorithm of forward passes only"
ALL_REDUCE = re.compile(r"\W*(nccl|mpi)?[\W_]*all[\W_]*reduce", re.IGNORECASE)
"""The kind of collective that models are of, as libraries and papers write it."""
BYTES, TIMES = ("bytes", "size_bytes"), ("wall_ns", "ms", "mean_ms")
MODES, LAYER_MODES = ("forward", "gradient", "train"), ("forward", "backward", "train")
COLUMNS = {column.name: column.type for column in BY_NAME[ALGORITHMS].columns if column.name != "status"}
"""Types of what a sweep may tell; an exported study was measured elsewhere: here its times are published ones."""
SWEEP = {"", "rank", *COLUMNS, *SHORT, "status", "ms", "workspace_mb"}
"""Columns that are read, or that number rows: the nameless one of an index, and the rank of an exported study."""
COMMON = {"", "rank", "status", "backend", "backend_version", "device", "dtype", "precision", "threads", "source",
          "groups", "dilation", "dilation_h", "dilation_w", "layout_in", "layout_out"}  # fmt: skip
"""Columns of a sweep that hold for all passes of a row in DeepBench's layout."""
FORWARD = ("fwd_algorithm", "workspace_mb", "workspace_bytes")
DEEPBENCH_COLUMNS = COMMON | {*DEEPBENCH.values(), *DEEPBENCH_TIMES.values(), *DERIVED, *FORWARD, "N"}
MOST_NAMED = 10
"""Columns left out that are named; the others are counted."""
Row = dict[str, Any]
Found = Iterator[tuple[str, Row]]


def read(file: Path, lost: Counter[str]) -> Found:
    """Each row with its table. Raises `InputError` for columns that say nothing, or a cell that is wrong."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        table = csv.DictReader(lines)
        try:
            names = table.fieldnames or ()
            make = _maker(set(names))
            known = SWEEP if make is _sweep else DEEPBENCH_COLUMNS if make is _deepbench else {*names}
            if unread := [name for name in names if name not in known]:
                more = f" and {len(unread) - MOST_NAMED} more" * (len(unread) > MOST_NAMED)
                named = ", ".join(name[:40] for name in unread[:MOST_NAMED]) + more
                lost[f"column{'s' * (len(unread) > 1)} ({named})"] = len(unread)
            for number, row in enumerate(table, 2):
                if number > MOST_ROWS:
                    raise InputError(f"more than {MOST_ROWS:,} rows.")
                try:
                    yield from make(row)
                except (ArithmeticError, ValueError, TypeError) as error:
                    told = str(error)[:80] or type(error).__name__
                    raise InputError(f"line {number} holds a value that cannot be read ({told}).") from error
        except csv.Error as error:
            raise InputError(f"not a CSV ({error}).") from error


def _maker(names: set[str]) -> Callable[[Mapping[str, str]], Found]:
    """The function that makes rows of a table with these columns."""
    if "ranks" in names and names & {*BYTES} and names & {*TIMES}:
        return _exchange
    if {"framework", "model", "pass"} <= names and names & {*TIMES[:2]}:
        return _framework
    if {*DEEPBENCH.values(), "N"} <= names:
        return _deepbench
    if {*SIZES} <= names and names & {*TIMES[:2]}:
        return _sweep
    raise InputError("a CSV without the shapes of convolutions; `traceview study import --help` names columns.")


def _deepbench(row: Mapping[str, str]) -> Found:
    name = f"{row['C']}x{row['H']}x{row['W']} k{row['K']} {row['R_filter_h']}x{row['S_filter_w']} s{row['stride_h']}"
    told = {"layer": name, "model": "DeepBench", "backend": "cuDNN"}
    told |= {column: row[column] for column in COMMON if row.get(column)}
    told |= {column: str(int(row[theirs])) for column, theirs in {**DEEPBENCH, "batch": "N"}.items()}
    forward = dict.fromkeys(("implementation", "algorithm"), (row.get("fwd_algorithm") or "").lower())
    forward |= {column: row.get(column) or "" for column in FORWARD}
    for direction, column in DEEPBENCH_TIMES.items():
        if row.get(column):
            own = forward if direction == "fprop" else {"reason": FORWARD_ONLY}
            yield from _sweep({**told, **own, "direction": direction, "ms": row[column]})


def _sweep(row: Mapping[str, str]) -> Found:
    if row.get("status") in NO_TIMES:
        return
    told = {other: row[name] for name, others in SHORT.items() if row.get(name) for other in others}
    row = {**row, **{name: value for name, value in told.items() if not row.get(name)}}
    sizes: Row = {name: int(row[name]) for name in (*SIZES, *(name for name in STEPS if row.get(name)))}
    text = "x".join(str(sizes[name]) for name in SIZES[:3])
    name = f"{text} k{sizes['out_channels']} {sizes['filter_height']}x{sizes['filter_width']}"
    layer = Layer(row.get("layer") or name, **sizes)
    batch = int(row.get("batch") or 1)
    direction = row.get("direction") or "fprop"
    direction = PASSES.get(direction, direction)
    if direction not in PASSES.values():
        raise ValueError(f"direction {direction[:20]!r} is not one of {', '.join(PASSES.values())}")
    numbers = {name: _number(value, COLUMNS[name]) for name, value in row.items() if name in COLUMNS and value}
    if row.get("dtype"):
        numbers["dtype"] = DTYPES.get(row["dtype"].strip().upper(), row["dtype"].strip().lower())
    numbers["wall_ns"] = _nanoseconds(row, "wall_ns" if row.get("wall_ns") else "ms")
    if row.get("workspace_mb"):
        numbers["workspace_bytes"] = round(Decimal(row["workspace_mb"]) * 10**6)
    flop = layer.flop(batch) * (2 if direction == "backward" else 1)
    yield ALGORITHMS, {**layer.facts(), "flop": flop, **numbers, "direction": direction, "batch": batch}


def _exchange(row: Mapping[str, str]) -> Found:
    size = next((row[name] for name in BYTES if row.get(name)), "")
    column = next((name for name in TIMES if row.get(name)), "ms")
    kind = row.get("kind") or "all_reduce"
    facts: Row = {name: row[name] for name in ("library", "device") if row.get(name)}
    facts |= {"kind": "all_reduce" if ALL_REDUCE.match(kind) else kind, "size_bytes": _count(size)}
    facts |= {"ranks": _count(row["ranks"], MOST_RANKS), "nodes": _count(row.get("nodes") or "1", MOST_RANKS)}
    yield EXCHANGES, facts | {"wall_ns": _nanoseconds(row, column), "n": _count(row["n"]) if row.get("n") else None}


def _framework(row: Mapping[str, str]) -> Found:
    layer = (row.get("layer") or "").strip()
    time_ns = _nanoseconds(row, next((time for time in ("ms", "wall_ns") if row.get(time)), "ms"), bool(layer))
    mode = row["pass"].strip()
    if mode not in (LAYER_MODES if layer else MODES):
        raise ValueError(f"pass {mode[:40]!r} is not one of {', '.join(LAYER_MODES if layer else MODES)}")
    facts: Row = {key: row[key].strip() for key in ("framework", "model")}
    if not all(facts.values()):
        raise ValueError("framework or model is empty")
    facts["mode"] = mode
    facts |= {key: row[key].strip() for key in ("version", "layout", "device", "source") if row.get(key)}
    facts |= {key: _count(row[key]) for key in ("batch", "threads") if row.get(key)}
    own = {"layer": layer, "busy_ns": float(time_ns)} if layer else {"step_ns": time_ns}
    yield PARTS if layer else FRAMEWORKS, facts | own


def models(rows: Iterable[Row]) -> list[Row]:
    """Rows of `scaling_models`: fits to the all-reduce of each publication and device, within one host."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["kind"] == "all_reduce" and row["nodes"] == 1:
            scope = ", ".join(str(row[name]) for name in ("device", "library", "source") if row.get(name))
            groups.setdefault(scope, []).append(row)
    return [fit for scope, some in sorted(groups.items()) for fit in fitted(scope, some)]


def _count(text: str, most: int = MOST) -> int:
    value = int(text)
    if not 0 < value <= most:
        raise ValueError(f"{text[:40]} is out of range")
    return value


def _number(text: str, kind: str) -> Any:
    if kind == "VARCHAR":
        return text
    value = float(text) if kind == "DOUBLE" else int(text)
    if not abs(value) < 2**62:
        raise ValueError(f"{text[:40]} is out of range")
    return value


def _nanoseconds(row: Mapping[str, str], column: str, may_be_zero: bool = False) -> int:
    """The time in a column, in whole nanoseconds. Raises `ValueError` or `ArithmeticError` for any other text.

    A layer may take less than a log prints; anything else takes time.
    """
    value = Decimal(row.get(column) or "").scaleb(0 if column == "wall_ns" else 6)
    if not value.is_finite() or not 0 <= value < 10**18 or (not may_be_zero and value <= 0.5):
        raise ValueError(f"{row[column][:40]} is not a time")
    return int(value.to_integral_value())
