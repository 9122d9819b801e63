"""Operators and ranges on the host: nesting, layer, phase, step, and the forward operator behind a backward one.

Invariant: a backward operator belongs to the layer of its forward operator, found by autograd's sequence number,
wherever backward was called; what it runs inside a module that began in it (a recomputation) is that module's.
A forward operator that runs again below a gradient, and what is inside it, is the gradient of nothing.
Where a profiler recorded no operators, those that a framework marked as ranges become operators; the ranges stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import fetch, ids_at, loaded_ranges, numbered, publish, query, spelled
from traceview.ingest.derive.steps import Steps
from traceview.ingest.sink import at_hand
from traceview.lazy import duckdb

MOST_DERIVATIVES = 3
"""How often gradients of gradients are followed."""
LONG_AGO = np.iinfo(np.int64).min
PATH_LENGTH = 4
"""Operators in a path: a ReLU's kernel is launched two operators below it."""


def operators(connection: duckdb.DuckDBPyConnection, steps: Steps) -> Spans:
    """Fill derived.ops; returns the operators for others to look into."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE op_word AS {query('op_words')}")
    columns = fetch(connection, query("named_operators"))
    spans = Spans(columns["id"], columns["thread"], columns["start_ns"], columns["end_ns"])
    modules, phases, frames = loaded_ranges(connection, ("module", "phase", "python")).values()
    module = modules.innermost(spans.thread, spans.start)
    roots, made_by = _gradients(connection, spans)
    # Which of these is around each operator, itself included.
    within = np.full(len(spans), -1)
    within[roots] = np.arange(len(roots))
    nearest, within = within, spans.inherit(within)
    # What runs again comes behind the roots, as the -1 does in `made_by`.
    nearest[_run_again(spans, columns.pop("is_recorded") == 1, within)] = len(roots)
    forward = made_by[spans.inherit(nearest)]
    begun, root_ns = (np.append(times, LONG_AGO) for times in (modules.start, spans.start[roots]))
    maker, left = made_by.copy(), np.arange(len(roots))
    for _ in range(MOST_DERIVATIVES - 1):
        # What made a gradient of gradients is in the backward pass itself.
        left = left[begun[module[maker[left]]] < root_ns[within[maker[left]]]]
        maker[left] = made_by[within[maker[left]]]
    number = columns.pop("number")
    del columns
    path, texts = _paths(connection, number, spans)
    # An operator inside one of the backward pass is part of it, also where no sequence number says so.
    is_gradient_word = np.array(connection.execute(query("gradient_words")).fetchall(), np.bool_).reshape(-1)
    is_gradient = spans.inherit(np.where(is_gradient_word[number], 0, -1)) >= 0
    self_ns = spans.self_time()
    for rows in spans.slices():
        root = within[rows]
        is_made = begun[module[rows]] < root_ns[root]
        publish(
            connection,
            "op_facts",
            {
                "id": spans.id[rows],
                "path": spelled(path[rows], texts),
                "is_gradient": is_gradient[rows].astype(np.int64),
                "parent_id": ids_at(spans, spans.parent[rows]),
                "depth": spans.depth[rows],
                "self_ns": self_ns[rows],
                "forward_id": ids_at(spans, forward[rows]),
                "is_of_forward": (root >= 0).astype(np.int64),
                "module_id": ids_at(modules, np.where(is_made, module[maker[root]], module[rows])),
                "phase_id": ids_at(phases, phases.innermost(spans.thread[rows], spans.start[rows])),
                "step": steps.at(spans.start[rows]),
                "frame_id": ids_at(frames, frames.innermost(spans.thread[rows], spans.start[rows])),
            },
        )
        first, last = int(spans.id[rows].min()), int(spans.id[rows].max())
        connection.execute(f"INSERT INTO derived.ops BY NAME {query('operators')}", {"first": first, "last": last})
        connection.unregister("op_facts")
    return spans


def _paths(connection: duckdb.DuckDBPyConnection, number: Ints, spans: Spans) -> tuple[Ints, list[str]]:
    """The number of each operator's path, and the paths: they are few, so each is spelled out once."""
    found = connection.execute("SELECT name FROM op_word ORDER BY number").fetchall()
    words: list[str] = [word or "?" for (word,) in found]
    texts, path = words, number
    for _ in range(PATH_LENGTH - 1):
        above = np.where(spans.parent >= 0, path[spans.parent], -1) if len(spans) else path
        pairs, path = numbered(number * (len(texts) + 1) + above + 1, len(words) * (len(texts) + 1))
        texts = [_join(words, texts, *divmod(pair, len(texts) + 1)) for pair in pairs]
    return path, texts


def _join(words: list[str], texts: list[str], name: int, above: int) -> str:
    return words[name] if above == 0 else f"{words[name]} < {texts[above - 1]}"


def _gradients(connection: duckdb.DuckDBPyConnection, spans: Spans) -> tuple[Ints, Ints]:
    """The operators that autograd runs for forward ones, and those: their indices. Behind the latter stands a -1."""
    pairs = fetch(connection, query("forward_operators"))
    if not len(pairs["backward_id"]):
        return pairs["backward_id"], np.array([-1])
    order = np.argsort(spans.id)
    backward, forward = (
        order[np.searchsorted(spans.id, pairs[f"{name}_id"], sorter=order)] for name in ("backward", "forward")
    )
    return backward, np.append(forward, -1)


def _run_again(spans: Spans, is_recorded: NDArray[np.bool_], within: Ints) -> Ints:
    """Forward operators that run again for a gradient: recorded by autograd, while the gradient's own ones are not.

    Those come last. With create_graph they are recorded as well.
    """
    inside = np.flatnonzero(spans.parent >= 0)
    last = np.full(len(spans), -1)
    last[spans.parent[inside]] = inside
    found = inside[is_recorded[inside]]
    above = spans.parent[found]
    again: Ints = found[(within[above] >= 0) & ~is_recorded[last[above]]]
    return again


def ranges(connection: duckdb.DuckDBPyConnection, steps: Steps) -> None:
    """Fill derived.ranges: nesting within each kind of range."""
    columns = fetch(connection, query("ranges_on_lines"))
    spans = Spans(columns["id"], columns["line"], columns["start_ns"], columns["end_ns"])
    del columns
    for rows in spans.slices():
        facts = {
            "id": spans.id[rows],
            "parent_id": ids_at(spans, spans.parent[rows]),
            "depth": spans.depth[rows],
            "step": steps.at(spans.start[rows]),
        }
        publish(connection, "range_facts", facts)
        connection.execute("INSERT INTO derived.ranges BY NAME SELECT * FROM range_facts")
        connection.unregister("range_facts")


def allocations(connection: duckdb.DuckDBPyConnection, steps: Steps, operators: Spans) -> None:
    """Fill derived.allocations: the operator around an allocation and that around its release, and their steps."""
    rows = fetch(connection, query("allocations_on_threads"))
    facts = {"id": rows["id"]}
    for before, time in (("", "allocated_ns"), ("freed_", "freed_ns")):
        facts[f"{before}op_id"] = ids_at(operators, operators.innermost(rows[f"{before}thread"], rows[time]))
        facts[f"{before}step"] = np.where(rows[time] == -1, -1, steps.at(rows[time]))
    publish(connection, "allocation_facts", facts)
    connection.execute("INSERT INTO derived.allocations BY NAME SELECT * FROM allocation_facts")
    connection.unregister("allocation_facts")


def add_operators(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill stage.ops from the names of ranges (`queries/derive/ops_from_ranges.sql`), where it is empty."""
    if connection.execute(query("may_mark_operators")).fetchall():
        connection.execute(f"INSERT INTO {at_hand(connection, 'ops')} BY NAME {query('ops_from_ranges')}")
