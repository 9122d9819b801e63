"""Operators and ranges on the host: nesting, layer, phase, step, and the forward operator behind a backward one.

The one law: a backward operator belongs to the layer of its forward operator, found by autograd's sequence number.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from traceview.derive.nesting import Ints, Spans
from traceview.derive.spans import column, fetch, ids_at, integers, load, publish, spelled, whole
from traceview.derive.steps import Steps

PATH_LENGTH = 4
"""Operators in a path: a ReLU's kernel is launched two operators below it."""


def operators(connection: duckdb.DuckDBPyConnection, steps: Steps) -> Spans:
    """Fill derived.ops; returns the operators for others to look into."""
    spans = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ops")
    modules = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ranges WHERE kind = 'module'")
    phases = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ranges WHERE kind = 'phase'")
    forward = spans.inherit(_forward_index(connection, spans))
    module = modules.innermost(spans.thread, spans.start)
    of_forward = np.where(forward >= 0, module[forward], -1) if len(spans) else module
    names = _Names(connection, spans)
    publish(
        connection,
        "op_facts",
        {
            "id": spans.id,
            "path": names.paths(spans),
            "is_gradient": names.matching(connection, _GRADIENT).astype(np.int64),
            "parent_id": ids_at(spans, spans.parent),
            "depth": spans.depth,
            "self_ns": spans.self_time(),
            "forward_id": ids_at(spans, forward),
            "module_id": ids_at(modules, np.where(module >= 0, module, of_forward)),
            "phase_id": ids_at(phases, phases.innermost(spans.thread, spans.start)),
            "step": steps.at(spans.start),
        },
    )
    connection.execute(
        r"""INSERT INTO derived.ops BY NAME
        SELECT f.id, f.path, f.parent_id, f.depth, f.self_ns, f.forward_id, f.step,
            f.forward_id IS NOT NULL OR o.forward_thread IS NOT NULL OR f.is_gradient = 1
                OR coalesce(regexp_matches(o.hlo_kind, ' [dw]grad$'), false)
                -- A pass that was told operator by operator, not one that lasted from here to there.
                OR coalesce(p.name = 'backward' AND p.domain = 'graph', false) AS is_backward,
            coalesce(regexp_replace(m.name, ' \(\w+\)$', ''),
                nullif(regexp_extract(o.module_hierarchy, '([^.]*)$', 1), '')) AS layer,
            coalesce(p.name, CASE WHEN f.forward_id IS NOT NULL THEN 'backward' END) AS phase
        FROM op_facts f
        -- Few operators have any of these: a small table to look into.
        LEFT JOIN (SELECT id, forward_thread, hlo_kind, module_hierarchy FROM stage.ops
            WHERE forward_thread IS NOT NULL OR hlo_kind IS NOT NULL OR module_hierarchy IS NOT NULL) o USING (id)
        LEFT JOIN stage.ranges m ON m.id = f.module_id LEFT JOIN stage.ranges p ON p.id = f.phase_id"""
    )
    connection.unregister("op_facts")
    return spans


_GRADIENT = r"Backward\d*$|^_backward_|^autograd::engine|(^|/)gradient(_tape|s)/|[(/]transpose[(]"
"""Names of operators that run for the backward pass."""


class _Names:
    """The names of the operators: few different ones, so everything about them is worked out once for each."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, spans: Spans) -> None:
        named = connection.sql("SELECT id, name FROM stage.ops").to_arrow_table()
        encoded = whole(named.column("name")).dictionary_encode()
        codes = integers(encoded.indices)
        order = np.argsort(spans.id)
        self.number = np.empty(len(spans), np.int64)
        self.number[order[np.searchsorted(spans.id, integers(whole(named.column("id"))), sorter=order)]] = codes
        self.words: list[str] = [word or "?" for word in encoded.dictionary.to_pylist()] + ["?"]

    def matching(self, connection: duckdb.DuckDBPyConnection, pattern: str) -> NDArray[np.bool_]:
        """For each operator whether its name matches."""
        query = "SELECT list_transform($words, lambda word: regexp_matches(word, $pattern))"
        found = connection.execute(query, {"words": self.words, "pattern": pattern}).fetchall()
        return np.array(found[0][0], np.bool_)[self.number]

    def paths(self, spans: Spans) -> pa.Array:
        """The path of each operator. Paths are few, so they are numbered and spelled out once each."""
        texts, path = self.words, self.number
        for _ in range(PATH_LENGTH - 1):
            above = np.where(spans.parent >= 0, path[spans.parent], -1) if len(spans) else path
            numbered = column(self.number * (len(texts) + 1) + above + 1).dictionary_encode()
            path = integers(numbered.indices)
            texts = [
                _join(self.words, texts, *divmod(pair, len(texts) + 1)) for pair in numbered.dictionary.to_pylist()
            ]
        return spelled(path, texts)


def _join(words: list[str], texts: list[str], name: int, above: int) -> str:
    return words[name] if above == 0 else f"{words[name]} < {texts[above - 1]}"


def _forward_index(connection: duckdb.DuckDBPyConnection, spans: Spans) -> Ints:
    """For each operator that autograd runs for a forward one, the index of that one; -1 elsewhere."""
    pairs = fetch(
        connection,
        # Operators that make no graph node share the number of the next one that does: the last to start is the maker.
        """WITH forward AS (
            SELECT pid, sequence, arg_max(id, (start_ns, id)) AS id, max(start_ns) AS start_ns FROM stage.ops
            WHERE sequence >= 0 AND forward_thread IS NULL GROUP BY pid, sequence
        )
        SELECT b.id AS backward_id, f.id AS forward_id FROM stage.ops b JOIN forward f USING (pid, sequence)
        WHERE b.forward_thread IS NOT NULL AND f.start_ns <= b.start_ns""",
    )
    found = np.full(len(spans), -1, np.int64)
    if len(pairs["backward_id"]):
        order = np.argsort(spans.id)
        position = {
            name: order[np.searchsorted(spans.id, pairs[f"{name}_id"], sorter=order)]
            for name in ("backward", "forward")
        }
        found[position["backward"]] = position["forward"]
    return found


def ranges(connection: duckdb.DuckDBPyConnection, steps: Steps) -> None:
    """Fill derived.ranges: nesting within each kind of range."""
    kinds = [row[0] for row in connection.execute("SELECT DISTINCT kind FROM stage.ranges ORDER BY 1").fetchall()]
    for kind in kinds:
        connection.execute("CREATE OR REPLACE TEMP TABLE of_kind AS SELECT * FROM stage.ranges WHERE kind = $1", [kind])
        spans = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM of_kind")
        publish(
            connection,
            "range_facts",
            {
                "id": spans.id,
                "parent_id": ids_at(spans, spans.parent),
                "depth": spans.depth,
                "step": steps.at(spans.start),
            },
        )
        connection.execute("INSERT INTO derived.ranges BY NAME SELECT * FROM range_facts")
