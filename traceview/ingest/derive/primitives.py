"""From a library's primitive back to the operator that called it, by time and by what each of the two is.

A library's log names no thread, and several operators may run at once. Invariant: a primitive is given to an operator
only if that can have called it: a convolution to no matrix product, a filter gradient to no input gradient. Where
several could have, and nothing else tells, it is given to none; `op_link` says why.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, ids_at, publish, query
from traceview.ingest.derive.steps import Steps
from traceview.lazy import duckdb

NO_OP, ANY_OP, USER, FIT = -1, 1, 2, 3
"""How well an operator fits: it cannot have called it, may have, is one that uses the library, is of its kind."""
LINKED, AMBIGUOUS, MISFIT = 1, 2, 3

CLOCK_NS = 500
"""A log's stamps are milliseconds since 1970 as doubles, 244 ns apart: start and end are as sure as two such."""

_CONVOLUTION, _PRODUCT = 1, 2


def primitives(connection: duckdb.DuckDBPyConnection, steps: Steps, operators: Spans) -> None:
    """Fill derived.primitives."""
    rows = fetch(connection, query("primitive_kinds"))
    count = len(rows["id"])
    if not count:
        return
    callers, found, names = _candidates(connection, operators, rows)
    best = np.full(count, NO_OP, np.int64)
    np.maximum.at(best, found[0], found[2])
    fitting = (found[2] == best[found[0]]) & (found[2] > NO_OP)
    fitting[fitting] = _as_elsewhere(found[0][fitting], rows["product"], names[fitting])
    chosen, reason = _choose(tuple(column[fitting] for column in found), count, operators, rows["product"] > 0)
    facts = {
        "id": rows["id"],
        "op_id": ids_at(operators, chosen),
        "reason": np.where(callers, reason, -1),
        "step": steps.at(rows["start_ns"]),
    }
    publish(connection, "primitive_facts", facts)
    connection.execute(f"INSERT INTO derived.primitives BY NAME {query('primitives')}")


Pairs = tuple[Ints, Ints, Ints]
"""Positions of primitives and of operators that contain them, and how well they fit; sorted by primitive."""


def _candidates(
    connection: duckdb.DuckDBPyConnection, operators: Spans, rows: dict[str, Ints]
) -> tuple[NDArray[np.bool_], Pairs, Ints]:
    """Whether anything contains each primitive, the innermost operator of each thread that does, and its name."""
    kinds = fetch(connection, query("operator_kinds"))
    order = np.argsort(kinds["id"])
    place = order[np.searchsorted(kinds["id"], operators.id, sorter=order)] if len(operators) else order
    family, way, calls_products = (kinds[column][place] for column in ("family", "pass", "calls_products"))
    parts: list[Pairs] = []
    unsure = np.minimum(CLOCK_NS, (rows["end_ns"] - rows["start_ns"]) // 2)
    start, end = rows["start_ns"] + unsure, rows["end_ns"] - unsure
    for thread in np.unique(operators.thread) if len(rows["id"]) else ():
        inner = operators.innermost(np.full(len(rows["id"]), thread), start)
        inside = np.flatnonzero((inner >= 0) & (operators.end[inner] >= end))
        op = inner[inside]
        fit = _fit(rows["family"][inside], rows["pass"][inside], family[op], way[op])
        # TensorFlow's own convolutions are computed as bare products.
        is_made_of = (rows["product"][inside] > 0) & (family[op] == _CONVOLUTION) & (calls_products[op] == 1)
        fit[is_made_of] = FIT
        parts.append((inside, op, fit))
    empty = np.empty(0, np.int64)
    columns: list[Ints] = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [empty] * 3
    contained = np.isin(np.arange(len(rows["id"])), columns[0])
    names = kinds["name"][place][columns[1]] if len(operators) else empty
    return contained, (columns[0], columns[1], columns[2]), names


def _as_elsewhere(primitive: Ints, product: Ints, name: Ints) -> NDArray[np.bool_]:
    """Which pairs to keep: of several operators at once, those that call a product of these sizes also when alone."""
    call = np.where(product[primitive] > 0, product[primitive] * (name.max(initial=0) + 1) + name, -1)
    is_alone = np.bincount(primitive)[primitive] == 1 if len(primitive) else np.empty(0, np.bool_)
    is_known = (call >= 0) & np.isin(call, call[is_alone])
    has_known = np.isin(primitive, primitive[is_known])
    is_left: NDArray[np.bool_] = is_known | ~has_known
    return is_left


def _fit(family: Ints, way: Ints, op_family: Ints, op_way: Ints) -> Ints:
    """One of NO_OP, ANY_OP, USER, FIT for each pair; -1 in an argument is not known."""
    is_one_pass = (family == _CONVOLUTION) & (way > 0) & (op_way > 0)
    same = (family == op_family) & ~(is_one_pass & (way != op_way))
    # A 1x1 convolution may be computed as a matrix product.
    other = (op_family > 0) & ~((family == _PRODUCT) & (op_family == _CONVOLUTION))
    known = np.where(same, FIT, np.where(other, NO_OP, ANY_OP))
    return np.where(family > 0, known, np.where(op_family > 0, USER, ANY_OP))


def _choose(found: Pairs, count: int, operators: Spans, is_bare: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The operator of each primitive, -1 for none, and how that came about (LINKED, AMBIGUOUS, MISFIT).

    `is_bare` is true of products of which an operator calls many.
    """
    primitive, op, fit = found
    chosen, reason = np.full(count, -1, np.int64), np.full(count, MISFIT, np.int64)
    while len(primitive):
        candidates = np.bincount(primitive, minlength=count)
        single = candidates[primitive] == 1
        if not single.any():
            break
        chosen[primitive[single]], reason[primitive[single]] = op[single], LINKED
        # Operators that have their primitive by now leave the others to their neighbours.
        is_one_each = (fit == FIT) & ~is_bare[primitive]
        rest = ~single & ~(is_one_each & np.isin(op, op[single & is_one_each]))
        primitive, op, fit = primitive[rest], op[rest], fit[rest]
    reason[np.unique(primitive)] = AMBIGUOUS
    # Where no operator is known to use the library, the one that started last is the innermost of a chain of callers.
    loose = fit == ANY_OP
    order = np.argsort(operators.start[op[loose]], kind="stable")
    chosen[primitive[loose][order]] = op[loose][order]
    reason[primitive[loose]] = LINKED
    return chosen, reason
