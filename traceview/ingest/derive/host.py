"""Operators and ranges on the host: nesting, layer, phase, step, and the forward operator behind a backward one.

Invariant: a backward operator belongs to the layer of its forward operator, found by autograd's sequence number.
"""

from __future__ import annotations

import duckdb
import numpy as np
from numpy.typing import NDArray

from traceview.ingest.derive.nesting import Ints, Spans
from traceview.ingest.derive.spans import column, fetch, ids_at, integers, load, load_with, publish, spelled
from traceview.ingest.derive.steps import Steps

PATH_LENGTH = 4
"""Operators in a path: a ReLU's kernel is launched two operators below it."""


def operators(connection: duckdb.DuckDBPyConnection, steps: Steps) -> Spans:
    """Fill derived.ops; returns the operators for others to look into."""
    connection.execute(_WORDS)
    spans, number = load_with(connection, _NAMED, "number")
    modules = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ranges WHERE kind = 'module'")
    phases = load(connection, "SELECT id, pid, tid, start_ns, dur_ns FROM stage.ranges WHERE kind = 'phase'")
    forward = spans.inherit(_forward_index(connection, spans))
    module = modules.innermost(spans.thread, spans.start)
    names = _Names(connection, number)
    path, texts = names.paths(spans)
    is_gradient, self_ns = names.matching(connection, _GRADIENT), spans.self_time()
    for rows in spans.slices():
        of_forward = np.where(forward[rows] >= 0, module[forward[rows]], -1)
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
                "module_id": ids_at(modules, np.where(module[rows] >= 0, module[rows], of_forward)),
                "phase_id": ids_at(phases, phases.innermost(spans.thread[rows], spans.start[rows])),
                "step": steps.at(spans.start[rows]),
            },
        )
        first, last = int(spans.id[rows].min()), int(spans.id[rows].max())
        connection.execute(_OPERATORS, {"first": first, "last": last})
        connection.unregister("op_facts")
    return spans


_OPERATORS = r"""INSERT INTO derived.ops BY NAME
SELECT f.id, f.path, f.parent_id, f.depth, f.self_ns, f.forward_id, f.step,
    f.forward_id IS NOT NULL OR o.forward_thread IS NOT NULL OR f.is_gradient = 1
        OR coalesce(regexp_matches(o.hlo_kind, ' [dw]grad$'), false)
        -- A pass that was told operator by operator, not one that lasted from here to there.
        OR coalesce(p.name = 'backward' AND p.domain = 'graph', false) AS is_backward,
    coalesce(regexp_replace(m.name, ' \(\w+\)$', ''),
        nullif(regexp_extract(o.module_hierarchy, '([^.]*)$', 1), '')) AS layer,
    coalesce(p.name, CASE WHEN f.forward_id IS NOT NULL THEN 'backward' END) AS phase
FROM op_facts f
-- Few operators have any of these, or few lie among so many: a small table to look into.
LEFT JOIN (SELECT id, forward_thread, hlo_kind, module_hierarchy FROM stage.ops
    WHERE (forward_thread IS NOT NULL OR hlo_kind IS NOT NULL OR module_hierarchy IS NOT NULL)
        AND id BETWEEN $first AND $last) o USING (id)
LEFT JOIN (SELECT id, name FROM stage.ranges WHERE kind = 'module') m ON m.id = f.module_id
LEFT JOIN (SELECT id, name, domain FROM stage.ranges WHERE kind = 'phase') p ON p.id = f.phase_id"""

_WORDS = """CREATE OR REPLACE TEMP TABLE op_word AS
SELECT name, row_number() OVER (ORDER BY name) - 1 AS number FROM (SELECT DISTINCT name FROM stage.ops)"""
_NAMED = """SELECT o.id, o.pid, o.tid, o.start_ns, o.dur_ns, w.number
FROM stage.ops o JOIN op_word w ON o.name IS NOT DISTINCT FROM w.name"""

_GRADIENT = r"Backward\d*$|^_backward_|^autograd::engine|(^|/)gradient(_tape|s)/|[(/]transpose[(]"
"""Names of operators that run for the backward pass."""


class _Names:
    """The names of the operators: few different ones, so everything about them is worked out once for each."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, number: Ints) -> None:
        self.number = number
        self.words: list[str] = [
            word or "?" for (word,) in connection.execute("SELECT name FROM op_word ORDER BY number").fetchall()
        ]

    def matching(self, connection: duckdb.DuckDBPyConnection, pattern: str) -> NDArray[np.bool_]:
        """For each operator whether its name matches."""
        query = "SELECT coalesce(regexp_matches(name, $1), false) FROM op_word ORDER BY number"
        found = connection.execute(query, [pattern]).fetchall()
        return np.array(found, np.bool_).reshape(-1)[self.number]

    def paths(self, spans: Spans) -> tuple[Ints, list[str]]:
        """The number of each operator's path, and the paths: they are few, so each is spelled out once."""
        texts, path = self.words, self.number
        for _ in range(PATH_LENGTH - 1):
            above = np.where(spans.parent >= 0, path[spans.parent], -1) if len(spans) else path
            numbered = column(self.number * (len(texts) + 1) + above + 1).dictionary_encode()
            path = integers(numbered.indices)
            texts = [
                _join(self.words, texts, *divmod(pair, len(texts) + 1)) for pair in numbered.dictionary.to_pylist()
            ]
        return path, texts


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
    columns = fetch(connection, _RANGES)
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


# Each kind on a thread is a line of its own.
_RANGES = """
WITH lines AS (
    SELECT kind, pid, tid, row_number() OVER (ORDER BY kind, pid, tid) AS line
    FROM (SELECT DISTINCT kind, pid, tid FROM stage.ranges)
)
SELECT id, line, start_ns, start_ns + dur_ns AS end_ns
FROM stage.ranges r JOIN lines l
    ON r.kind IS NOT DISTINCT FROM l.kind AND r.pid IS NOT DISTINCT FROM l.pid AND r.tid IS NOT DISTINCT FROM l.tid
ORDER BY line, start_ns, end_ns DESC, id
"""
