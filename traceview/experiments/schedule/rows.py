"""Measured passes as rows of `algorithm_times`, and those rows as the options that a plan chooses from.

Invariant: rows of `traceview study algorithms` and of `traceview schedule` are read alike, so that a plan can be made
again, under another cap, without measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from traceview.convolution.plan import BACKENDS, DIRECTIONS, LAYOUTS, OWN, SIZES, Option, Slot
from traceview.experiments.algorithms.layers import Layer
from traceview.experiments.algorithms.measuring import of_primitive

TABLE = "algorithm_times"
OWN_LABEL = "torch"
"""Name of PyTorch's own algorithms in rows."""
FLOAT = "float32"
Row = Mapping[str, Any]
Shape = dict[str, Any]


@dataclass(frozen=True)
class Given:
    """Convolutions that a plan is for, in the order in which they run, and which feeds which."""

    layers: list[dict[str, Any]]
    """Module and shape of each, whether it needs the gradient of its input (`dgrad`), and, where that is known, the
    number of its calls in a step, by pass (`calls`)."""
    edges: list[tuple[str, str]]
    about: Mapping[str, Any]
    """PyTorch, processor and threads."""
    keys: str
    """Key by which a plan is applied: module (its name and the shape) or shape (alone, where names are not modules)."""
    order: str
    """Source of the order of layers."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows that are measured already."""
    is_measured: bool = False
    """Whether nothing else is to be measured."""


def shape_of(row: Row) -> Shape:
    """A convolution's sizes, as a plan holds them."""
    return {**{name: row[name] for name in SIZES}, "dtype": row["dtype"]}


def key(shape: Row) -> tuple[Any, ...]:
    """Return the key that tells shapes apart."""
    return tuple(shape[name] for name in (*SIZES, "dtype"))


def chain(layers: Sequence[Row]) -> list[tuple[str, str]]:
    """Each layer fed by the one before it."""
    return [(one["module"], other["module"]) for one, other in pairwise(layers)]


# Out of what was measured now


def rows_of(layer: Row, told: Iterable[Row], change: Mapping[str, int], about: Row, model: str) -> list[dict[str, Any]]:
    """Rows of the table out of what the worker says of a layer; PyTorch's own last in each pass."""
    shape = layer["shape"]
    sizes = {name: value for name, value in shape.items() if name != "batch"}
    flop = Layer(layer["module"] or "convolution", **{name: sizes[name] for name in sizes}).flop(shape["batch"])
    clock = "cpu_ns" if about["threads"] == 1 else "wall_ns"
    found = []
    for row in sorted(told, key=lambda row: (DIRECTIONS.index(row["direction"]), row["backend"] == OWN)):
        is_own = row["backend"] == OWN
        found.append(
            {
                "layer": layer["module"],
                "model": model,
                **shape,
                "direction": row["direction"],
                "flop": flop,
                "device": "cpu",
                "threads": about["threads"],
                "backend": OWN_LABEL if is_own else row["backend"],
                "backend_version": about["torch"] if is_own else None,
                "implementation": row["implementation"],
                "algorithm": row.get("algorithm") or _algorithm(row),
                "layout_in": row["layout"],
                "layout_out": row["layout"],
                clock: row.get("time_ns"),
                "workspace_bytes": row.get("workspace_bytes"),
                "layout_ns": sum(change.values()) if is_own and row["layout"] == "nhwc" else None,
                "error": row.get("own_error") if is_own else row.get("error"),
                "status": "measured" if row.get("time_ns") else "cannot",
                "reason": row.get("reason"),
                "source": f"measured on {about['cpu']}, with what prepares the filter",
            }
        )
    return found


def _algorithm(row: Row) -> str | None:
    """Return the algorithm of oneDNN's implementations, by their names, as a study says it."""
    if row["backend"] != "onednn":
        return None
    return of_primitive(row["implementation"].partition(", ")[0], row["direction"])


def is_done(layer: Row, rows: Iterable[Row]) -> bool:
    """Whether every pass of a layer is measured: PyTorch's own on channels-last tensors is the last of each."""
    needed = {name for name in DIRECTIONS if layer["dgrad"] or name != "dgrad"}
    return not needed - {row["direction"] for row in rows if _is_own(row) and row.get("layout_in") == "nhwc"}


# Into what a plan chooses from


def slots_of(layers: Iterable[Row], rows: Iterable[Row]) -> tuple[list[Slot], dict[tuple[str, str], str]]:
    """The options of each layer, and why a pass has none but PyTorch's own.

    A layer without times of PyTorch's own on plain NCHW has an empty slot.
    """
    by_shape: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        by_shape.setdefault(key(row), []).append(row)
    slots, reasons = [], {}
    for layer in layers:
        options: list[Option] = []
        here = by_shape.get(key(layer["shape"]), [])
        for direction in layer_directions(layer):
            of_pass = [row for row in here if row["direction"] == direction]
            own_error = next((row.get("error") for row in of_pass if _is_own(row)), None)
            found = list(dict.fromkeys(filter(None, (option(row, own_error) for row in of_pass))))
            calls = (layer.get("calls") or {}).get(direction) or 1
            found = [replace(it, time_ns=calls * it.time_ns, calls=calls) for it in found]
            if any(it.backend == OWN and it.layout == "nchw" for it in found):
                options += found
            told = [row["reason"] for row in of_pass if row.get("reason")]
            if told and not any(it.backend != OWN for it in found):
                reasons[layer["module"], direction] = str(told[0])
        slots.append(Slot(layer["module"], tuple(options), *_changes(layer["shape"], here)))
    return slots, reasons


def layer_directions(layer: Row) -> tuple[str, ...]:
    """The passes of a layer that a plan is for."""
    named = layer.get("directions") or DIRECTIONS
    return tuple(name for name in DIRECTIONS if name in named and (layer["dgrad"] or name != "dgrad"))


def option(row: Row, own_error: float | None) -> Option | None:
    """Return a row as an option of a plan; None where it has no time, or where nothing could run it there.

    What the filter takes to be prepared is part of it, as training changes the filter; a layout of the library's own
    is gone into and left again.
    """
    backend = OWN if _is_own(row) else row["backend"]
    time_ns = (row.get("cpu_ns") or row.get("wall_ns")) if row.get("threads") == 1 else row.get("wall_ns")
    if row["status"] != "measured" or backend not in BACKENDS or not isinstance(time_ns, int) or time_ns <= 0:
        return None
    layout_in, layout_out = row.get("layout_in"), row.get("layout_out")
    is_plain = layout_in == layout_out and layout_in in LAYOUTS
    spent = time_ns + (row.get("prepare_ns") or 0) + (0 if is_plain else row.get("layout_ns") or 0)
    name = str(row.get("implementation"))
    if backend == OWN:
        name = "default"
    elif backend == "onednn" and " to " not in name:
        name = f"{name}, {layout_in} to {layout_out}"
    return Option(
        row["direction"], backend, name, str(layout_in) if is_plain else LAYOUTS[0], spent,
        row.get("workspace_bytes") or 0, row.get("algorithm"), None if backend == OWN else row.get("error"), own_error,
    )  # fmt: skip


def _is_own(row: Row) -> bool:
    return bool(row["backend"] == OWN_LABEL)


def _changes(shape: Shape, rows: Iterable[Row]) -> tuple[int, int]:
    """To bring the input and the output into the other layout: both were timed together, each has its share."""
    both = [row["layout_ns"] for row in rows if _is_own(row) and row["direction"] == "fprop" and row.get("layout_ns")]
    layer = Layer("", **{name: shape[name] for name in SIZES if name != "batch"})
    one = layer.in_channels * layer.height * layer.width
    other = layer.out_channels * layer.out_height * layer.out_width
    x_ns = max(both, default=0) * one // (one + other)
    return x_ns, max(both, default=0) - x_ns
