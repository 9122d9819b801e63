"""The facts of `../shared/expected` about links from kernels to operators and about convolution calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from expected_facts import Connection, named, one, rows

ENCLOSING = """
WITH RECURSIVE around AS (
    SELECT k.id, k.external_id, k.op_id AS op FROM raw.kernels k
    WHERE k.op_link = 'correlation' AND k.external_id IS NOT NULL
    UNION SELECT a.id, a.external_id, o.parent_id FROM around a JOIN ops o ON o.id = a.op WHERE o.parent_id IS NOT NULL
), reached AS (
    SELECT a.id, bool_or(o.external_id = a.external_id) AS is_around,
        bool_or(o.external_id = a.external_id AND o.id = k.op_id) AS is_innermost
    FROM around a JOIN ops o ON o.id = a.op JOIN kernels k ON k.id = a.id
    WHERE a.external_id IN (SELECT external_id FROM ops) GROUP BY a.id
)
"""


def conv_ops(connection: Connection) -> dict[str, Any]:
    """Per convolution operator name: how many, how many with kernels below, and those kernels."""
    found = rows(
        connection,
        """WITH RECURSIVE conv AS (
            SELECT id, name FROM ops
            WHERE regexp_matches(name, '^aten::\\w*conv\\w*$') AND NOT contains(name, 'convert')
        ), below AS (
            SELECT k.id, k.dur_ns, k.op_id AS op FROM kernels k WHERE k.op_id IS NOT NULL
            UNION SELECT b.id, b.dur_ns, o.parent_id FROM below b JOIN ops o ON o.id = b.op
            WHERE o.parent_id IS NOT NULL
        )
        SELECT name, (SELECT count(*) FROM conv WHERE name = f.name), sum(ops), count(id), sum(dur_ns)
        FROM (SELECT c.name, b.id, any_value(b.dur_ns) AS dur_ns, 0 AS ops FROM conv c JOIN below b ON b.op = c.id
                GROUP BY c.name, b.id
            UNION ALL SELECT c.name, NULL, 0, count(DISTINCT b.op) FROM conv c JOIN below b ON b.op = c.id
                GROUP BY c.name) f
        GROUP BY name""",
    )
    return {
        name: {"instances": n, "instances_with_kernels": reached, "n_kernels": kernels, "ns": int(ns)}
        for name, n, reached, kernels, ns in found
    }


def innermost_conv_ops(connection: Connection) -> dict[str, int]:
    """The convolution operator nearest to the launch of a main kernel, by pass."""
    found = rows(
        connection,
        """WITH RECURSIVE up AS (
            SELECT k.id, k.op_id AS op FROM kernels k
            WHERE k.call_id IS NOT NULL AND k.category = 'conv' AND k.role = 'main'
            UNION SELECT u.id, o.parent_id FROM up u JOIN ops o ON o.id = u.op
            WHERE NOT contains(o.name, 'conv') AND o.parent_id IS NOT NULL
        )
        SELECT if(contains(o.name, 'backward'), 'backward', 'forward'), count(DISTINCT o.id)
        FROM up u JOIN ops o ON o.id = u.op WHERE contains(o.name, 'conv') GROUP BY 1""",
    )
    return {"forward": 0, "backward": 0, **dict(found)}


def calls_by_algorithm(connection: Connection) -> dict[str, dict[str, int]]:
    out: dict[str, dict[str, int]] = {}
    query = """SELECT direction, algorithms[1], count(*) FROM conv_calls WHERE len(algorithms) = 1 GROUP BY ALL"""
    for direction, algorithm, n in rows(connection, query):
        out.setdefault(direction, {})[algorithm] = n
    return out


# How old files spell the categories of complete events.
MODERN = {
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "Runtime": "cuda_runtime",
    "Trace": "trace",
    "Operator": "cpu_op",
    "user_annotation": "cpu_op",
}


def modern(counts: dict[str, int]) -> dict[str, int]:
    """Counts per category in today's spelling; old files call annotations operators too, so both are one here."""
    out: dict[str, int] = {}
    for name, n in counts.items():
        out[MODERN.get(name, name)] = out.get(MODERN.get(name, name), 0) + n
    return out


def events_by_category(connection: Connection) -> dict[str, int]:
    """Complete events of a Kineto file per category, from the tables that they became rows of."""
    found = rows(
        connection,
        """SELECT category, count(*) FROM (
            SELECT 'kernel' AS category FROM kernels
            UNION ALL SELECT if(direction = 'memset', 'gpu_memset', 'gpu_memcpy') FROM memcpys
            UNION ALL SELECT 'cpu_op' FROM ops
            UNION ALL SELECT 'cuda_' || kind FROM api_calls
            UNION ALL SELECT category FROM events WHERE phase = 'X'
            UNION ALL SELECT CASE WHEN kind = 'device' THEN 'gpu_user_annotation'
                WHEN kind = 'python' OR kind = 'module' THEN 'python_function' ELSE 'user_annotation' END
            FROM ranges WHERE domain IS NULL OR domain NOT LIKE 'from%'
        ) GROUP BY ALL""",
    )
    return modern(dict(found))


FACTS: dict[str, Callable[[Connection], Any]] = {
    "n_events_by_category": events_by_category,
    "n_correlation_ids_used_by_several_api_calls": lambda c: one(
        c,
        """SELECT count(*) FROM (SELECT correlation FROM api_calls WHERE correlation IS NOT NULL
            GROUP BY rank, correlation HAVING count(*) > 1)""",
    ),
    "n_kernels_reached_by_external_id": lambda c: one(
        c, "SELECT count(*) FROM raw.kernels WHERE external_id IN (SELECT external_id FROM ops)"
    ),
    "n_kernels_reached_by_both": lambda c: one(
        c,
        """SELECT count(*) FROM raw.kernels
        WHERE op_link = 'correlation' AND external_id IN (SELECT external_id FROM ops)""",
    ),
    "n_kernels_where_both_agree": lambda c: one(c, f"{ENCLOSING} SELECT count(*) FROM reached WHERE is_innermost"),
    "n_kernels_where_external_id_names_an_enclosing_op": lambda c: one(
        c, f"{ENCLOSING} SELECT count(*) FROM reached WHERE is_around"
    ),
    "share_of_kernels_with_an_op_pct": lambda c: one(
        c, "SELECT 100.0 * count(op_id) / nullif(count(*), 0) FROM kernels"
    ),
    "share_of_kernel_time_with_an_op_pct": lambda c: one(
        c, "SELECT 100.0 * sum(dur_ns) FILTER (op_id IS NOT NULL) / nullif(sum(dur_ns), 0) FROM kernels"
    ),
    "conv_ops": conv_ops,
    "n_innermost_conv_ops_with_main_kernels": innermost_conv_ops,
    "conv_calls_by_pass_and_algorithm": calls_by_algorithm,
    "conv_calls_with_several_algorithms": lambda c: dict(
        rows(c, "SELECT direction, count(*) FROM conv_calls WHERE len(algorithms) > 1 GROUP BY direction")
    ),
    "conv_main_without_an_op": lambda c: named(
        c,
        """SELECT algorithm, count(*), sum(dur_ns) FROM kernels
        WHERE op_id IS NULL AND category = 'conv' AND role = 'main' GROUP BY ALL""",
    ),
}

SPELLING: dict[str, Callable[[Any], Any]] = {"n_events_by_category": modern}
"""Changes to an expected value before it is compared."""
