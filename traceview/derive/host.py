"""Operators and ranges on the host: nesting, layer, phase, step, and the forward operator behind a backward one.

The one law: a backward operator belongs to the layer of its forward operator, found by autograd's sequence number.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from traceview.derive.nesting import Ints, Spans
from traceview.derive.spans import fetch, ids_at, load, publish
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
    publish(
        connection,
        "op_facts",
        {
            "id": spans.id,
            "parent_id": ids_at(spans, spans.parent),
            "depth": spans.depth,
            "self_ns": spans.self_time(),
            "forward_id": ids_at(spans, forward),
            "module_id": ids_at(modules, np.where(module >= 0, module, of_forward)),
            "phase_id": ids_at(phases, phases.innermost(spans.thread, spans.start)),
            "step": steps.at(spans.start),
        },
    )
    connection.register("paths", _paths(connection, spans))
    connection.execute(
        r"""INSERT INTO derived.ops BY NAME
        SELECT f.id, paths.path, f.parent_id, f.depth, f.self_ns, f.forward_id, f.step,
            f.forward_id IS NOT NULL OR o.forward_thread IS NOT NULL
                OR regexp_matches(o.name, 'Backward\d*$|^autograd::engine|(^|/)gradient(_tape|s)/|[(/]transpose[(]')
                OR coalesce(regexp_matches(o.hlo_kind, ' [dw]grad$'), false) AS is_backward,
            coalesce(regexp_replace(m.name, ' \(\w+\)$', ''),
                nullif(regexp_extract(o.module_hierarchy, '([^.]*)$', 1), '')) AS layer,
            coalesce(p.name, CASE WHEN f.forward_id IS NOT NULL THEN 'backward' END) AS phase
        FROM op_facts f JOIN stage.ops o USING (id) JOIN paths USING (id)
        LEFT JOIN stage.ranges m ON m.id = f.module_id LEFT JOIN stage.ranges p ON p.id = f.phase_id"""
    )
    return spans


def _paths(connection: duckdb.DuckDBPyConnection, spans: Spans) -> pa.Table:
    """The path of each operator, as (id, path). Paths are few, so they are numbered and spelled out once each."""
    named = connection.sql("SELECT id, name FROM stage.ops").to_arrow_table()
    encoded = named.column("name").combine_chunks().dictionary_encode()
    order = np.argsort(spans.id)
    name = np.empty(len(spans), np.int64)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    name[order[np.searchsorted(spans.id, named.column("id").to_numpy(), sorter=order)]] = codes
    words = [word or "?" for word in encoded.dictionary.to_pylist()] + ["?"]
    texts, path = words, name
    for _ in range(PATH_LENGTH - 1):
        above = np.where(spans.parent >= 0, path[spans.parent], -1) if len(spans) else path
        numbered = pa.array(name * (len(texts) + 1) + above + 1).dictionary_encode()
        path = numbered.indices.to_numpy().astype(np.int64)
        texts = [_join(words, texts, *divmod(pair, len(texts) + 1)) for pair in numbered.dictionary.to_pylist()]
    spelled = pa.DictionaryArray.from_arrays(pa.array(path, pa.int32()), pa.array(texts, pa.string()))
    return pa.table({"id": spans.id, "path": spelled.cast(pa.string())})


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
