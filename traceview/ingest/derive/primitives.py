"""From a library's primitive back to the operator that called it, by time and by what each of the two is.

A library's log names no thread, and several operators may run at once. Invariant: a primitive is given to an operator
only if that can have called it: a convolution to no matrix product, a filter gradient to no input gradient. Where
several could have, and nothing else tells, it is given to none; `op_link` says why.
"""

from __future__ import annotations

import duckdb
import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, ids_at, publish, query
from traceview.ingest.derive.steps import Steps

NO_OP, ANY_OP, USER, FIT = -1, 1, 2, 3
"""How well an operator fits: it cannot have called it, may have, is one that uses the library, is of its kind."""
LINKED, AMBIGUOUS, MISFIT = 1, 2, 3

_CONVOLUTION, _PRODUCT = 1, 2


def primitives(connection: duckdb.DuckDBPyConnection, steps: Steps, operators: Spans) -> None:
    """Fill derived.primitives."""
    rows = fetch(connection, query("primitive_kinds"))
    count = len(rows["id"])
    if not count:
        return
    callers, found = _candidates(connection, operators, rows)
    best = np.full(count, NO_OP, np.int64)
    np.maximum.at(best, found[0], found[2])
    chosen, reason = _choose(found, best, operators)
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
) -> tuple[NDArray[np.bool_], Pairs]:
    """Whether anything contains each primitive, and the innermost operator of each thread that does."""
    kinds = fetch(connection, query("operator_kinds"))
    order = np.argsort(kinds["id"])
    place = order[np.searchsorted(kinds["id"], operators.id, sorter=order)] if len(operators) else order
    family, way = kinds["family"][place], kinds["pass"][place]
    parts: list[Pairs] = []
    for thread in np.unique(operators.thread) if len(rows["id"]) else ():
        inner = operators.innermost(np.full(len(rows["id"]), thread), rows["start_ns"])
        inside = np.flatnonzero((inner >= 0) & (operators.end[inner] >= rows["end_ns"]))
        op = inner[inside]
        fit = _fit(rows["family"][inside], rows["pass"][inside], family[op], way[op])
        parts.append((inside, op, fit))
    empty = np.empty(0, np.int64)
    columns: list[Ints] = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [empty] * 3
    contained = np.isin(np.arange(len(rows["id"])), columns[0])
    return contained, (columns[0], columns[1], columns[2])


def _fit(family: Ints, way: Ints, op_family: Ints, op_way: Ints) -> Ints:
    """One of NO_OP, ANY_OP, USER, FIT for each pair; -1 in an argument is not known."""
    is_one_pass = (family == _CONVOLUTION) & (way > 0) & (op_way > 0)
    same = (family == op_family) & ~(is_one_pass & (way != op_way))
    # A 1x1 convolution may be computed as a matrix product.
    other = (op_family > 0) & ~((family == _PRODUCT) & (op_family == _CONVOLUTION))
    known = np.where(same, FIT, np.where(other, NO_OP, ANY_OP))
    return np.where(family > 0, known, np.where(op_family > 0, USER, ANY_OP))


def _choose(found: Pairs, best: Ints, operators: Spans) -> tuple[Ints, Ints]:
    """The operator of each primitive, -1 for none, and how that came about (LINKED, AMBIGUOUS, MISFIT)."""
    primitive, op, fit = found
    chosen, reason = np.full(len(best), -1, np.int64), np.full(len(best), MISFIT, np.int64)
    keep = (fit == best[primitive]) & (fit > NO_OP)
    primitive, op, fit = primitive[keep], op[keep], fit[keep]
    while len(primitive):
        candidates = np.bincount(primitive, minlength=len(best))
        single = candidates[primitive] == 1
        if not single.any():
            break
        chosen[primitive[single]], reason[primitive[single]] = op[single], LINKED
        # Operators that have their primitive by now leave the others to their neighbours.
        taken = op[single & (fit == FIT)]
        rest = ~single & ~((fit == FIT) & np.isin(op, taken))
        primitive, op, fit = primitive[rest], op[rest], fit[rest]
    reason[np.unique(primitive)] = AMBIGUOUS
    # Where no operator is known to use the library, the one that started last is the innermost of a chain of callers.
    loose = fit == ANY_OP
    order = np.argsort(operators.start[op[loose]], kind="stable")
    chosen[primitive[loose][order]] = op[loose][order]
    reason[primitive[loose]] = LINKED
    return chosen, reason
