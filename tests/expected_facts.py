"""The facts of `../shared/expected`, each worked out with SQL over the public views."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import duckdb

LAYOUT = (
    "nchwToNhwc|nhwcToNchw|batched_transpose_|transpose_(NCHW2CNHW|CNHW2NCHW)|SwapDimension|ShuffleInTensor3|AddPadding"
)
"""Names of kernels that change a layout, as `expected` counts them: by name, whatever operator they ran for."""
Connection = duckdb.DuckDBPyConnection
UNION = """
SELECT rank, device, kind, start_ns, end_ns, max(end_ns) OVER (
    PARTITION BY rank, device ORDER BY start_ns, end_ns DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns
FROM ({rows})
"""
BOTH = """SELECT rank, device, stream, 'kernel' AS kind, start_ns, end_ns FROM kernels
UNION ALL SELECT rank, device, stream, 'copy', start_ns, end_ns FROM memcpys"""


def rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def one(connection: Connection, query: str) -> Any:
    return rows(connection, query)[0][0]


def busy(connection: Connection, source: str) -> dict[str, int]:
    """Union of intervals per device."""
    query = f"""SELECT device,
            CAST(sum(greatest(end_ns - greatest(start_ns, coalesce(covered_ns, start_ns)), 0)) AS BIGINT)
        FROM ({UNION.format(rows=source)}) GROUP BY device"""
    return {str(device): total for device, total in rows(connection, query)}


def memcpy(connection: Connection) -> dict[str, Any]:
    found = rows(
        connection,
        """SELECT direction, count(*), sum(size_bytes), sum(dur_ns), count(*) - count(size_bytes) FROM memcpys
        WHERE direction <> 'memset' GROUP BY direction""",
    )
    return {
        direction: {
            "calls": calls,
            "bytes": None if size is None else int(size),
            "ns": int(ns),
            "calls_without_bytes": unsized,
        }
        for direction, calls, size, ns, unsized in found
    }


def memset(connection: Connection) -> dict[str, Any]:
    calls, size, ns, unsized = rows(
        connection,
        """SELECT count(*), sum(size_bytes), coalesce(sum(dur_ns), 0), count(*) - count(size_bytes) FROM memcpys
        WHERE direction = 'memset'""",
    )[0]
    return {
        "calls": calls,
        # No size over no calls is 0 bytes; no size over some calls is "not recorded".
        "bytes": int(size or 0) if size is not None or not calls else None,
        "ns": int(ns),
        "calls_without_bytes": unsized,
    }


def memory_kinds(connection: Connection) -> dict[str, int]:
    found = rows(
        connection,
        """SELECT direction || coalesce(' (' || upper(src_kind[1]) || src_kind[2:] || ' -> '
            || upper(dst_kind[1]) || dst_kind[2:] || ')', ''), count(*)
        FROM memcpys WHERE direction <> 'memset' GROUP BY 1""",
    )
    return dict(found)


def devices(connection: Connection) -> dict[str, Any]:
    kernel_busy = busy(connection, "SELECT rank, device, 'kernel' AS kind, start_ns, end_ns FROM kernels")
    any_busy = busy(connection, BOTH)
    found = rows(
        connection,
        f"""SELECT device, count(*) FILTER (kind = 'kernel'),
            coalesce(sum(end_ns - start_ns) FILTER (kind = 'kernel'), 0),
            count(DISTINCT stream), max(end_ns) - min(start_ns) FROM ({BOTH}) GROUP BY device""",
    )
    return {
        str(device): {
            "n_kernels": n,
            "sum_kernel_ns": int(total),
            "n_streams": streams,
            "busy_ns": any_busy[str(device)],
            "kernel_busy_ns": kernel_busy.get(str(device), 0),
            "span_ns": span,
            "idle_ns": span - any_busy[str(device)],
        }
        for device, n, total, streams, span in found
    }


def overlapping(connection: Connection) -> int:
    return int(
        one(
            connection,
            f"""SELECT count(*) FROM (SELECT start_ns, max(end_ns) OVER (PARTITION BY rank, device, stream
            ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns FROM ({BOTH}))
            WHERE start_ns < covered_ns""",
        )
    )


def steps(connection: Connection) -> Any:
    """Kineto: step, as marked -> duration and kernels launched in it. XPlane: the list of steps."""
    if one(connection, "SELECT format FROM captures LIMIT 1") == "xplane":
        recorded = rows(connection, "SELECT name, dur_ns FROM ranges WHERE kind = 'step' ORDER BY start_ns")
        return [{"name": name, "ns": ns} for name, ns in recorded]
    found = rows(
        connection,
        """SELECT s.step, any_value(s.end_ns - s.start_ns), count(k.id), coalesce(sum(k.dur_ns), 0)
        FROM marked_steps s LEFT JOIN kernels k ON k.step = s.step AND k.rank = s.rank GROUP BY s.step""",
    )
    return {
        str(step): {"ns": ns, "n_kernels_launched": n, "kernel_ns_launched": int(total)} for step, ns, n, total in found
    }


def named(connection: Connection, query: str) -> dict[str, Any]:
    return {name: {"n": n, "ns": int(ns)} for name, n, ns in rows(connection, query)}


def below(connection: Connection, pattern: str) -> dict[str, int]:
    """Kernels whose operator, or one around it, has a matching name."""
    n, ns = rows(
        connection,
        f"""WITH RECURSIVE hit AS (
            SELECT id FROM ops WHERE regexp_matches(name, '{pattern}')
            UNION SELECT o.id FROM ops o JOIN hit ON o.parent_id = hit.id
        ) SELECT count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE op_id IN (FROM hit)""",
    )[0]
    return {"n": n, "ns": int(ns)}


TYPED = """SELECT *, regexp_extract(op_name, '^[^:]+:([A-Za-z_]\\w*)$', 1) AS op_type FROM kernels
WHERE regexp_matches(op_name, '^[^:]+:[A-Za-z_]\\w*$')"""
GEMM_OPS = "^aten::(_addmm_activation|_scaled_mm|addmm_?|addmv_?|baddbmm_?|bmm|mm|mv)$"
LAUNCH = "LaunchKernel|LaunchCooperativeKernel|ModuleLaunch"

FACTS: dict[str, Callable[[Connection], Any]] = {
    "n_events": lambda c: one(c, "SELECT sum(n_events) FROM captures"),
    "device_names": lambda c: [name for (name,) in rows(c, "SELECT DISTINCT name FROM devices ORDER BY 1")],
    "rank": lambda c: one(c, "SELECT json_extract(metadata, '$.distributedInfo.rank')::BIGINT FROM captures"),
    "world_size": lambda c: one(c, "SELECT world_size FROM ranks"),
    "n_kernels": lambda c: one(c, "SELECT count(*) FROM kernels"),
    "sum_kernel_ns": lambda c: one(c, "SELECT coalesce(sum(dur_ns), 0) FROM kernels"),
    "n_distinct_kernel_names": lambda c: one(c, "SELECT count(DISTINCT name) FROM kernels"),
    "memcpy": memcpy,
    "memcpy_memory_kinds": memory_kinds,
    "memset": memset,
    "devices": devices,
    "n_rows_overlapping_on_own_stream": overlapping,
    "top_kernels": lambda c: [
        {"name": name, "calls": n, "ns": int(ns)}
        for name, n, ns in rows(
            c,
            "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY name ORDER BY 3 DESC, 1 LIMIT 5",
        )
    ],
    "communication_kernels": lambda c: named(
        c,
        """SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels
        WHERE category = 'communication'""",
    )["all"],
    "n_api_calls": lambda c: one(c, "SELECT count(*) FROM api_calls"),
    "n_kernel_launch_calls": lambda c: one(c, f"SELECT count(*) FROM api_calls WHERE regexp_matches(name, '{LAUNCH}')"),
    "n_ops": lambda c: one(c, "SELECT count(*) FROM ops"),
    "n_kernels_with_launch": lambda c: one(c, "SELECT count(*) FROM kernels WHERE launch_id IS NOT NULL"),
    "kernels_by_launching_call": lambda c: dict(
        rows(c, "SELECT a.name, count(*) FROM kernels k JOIN api_calls a ON a.id = k.launch_id GROUP BY 1")
    ),
    "n_kernels_reached_by_correlation": lambda c: one(c, "SELECT count(*) FROM kernels WHERE op_link = 'correlation'"),
    "n_kernels_reached_by_either": lambda c: one(c, "SELECT count(*) FROM kernels WHERE op_id IS NOT NULL"),
    "kernels_by_innermost_op": lambda c: named(
        c,
        """SELECT op_name, count(*), sum(dur_ns) FROM kernels WHERE op_id IS NOT NULL
        GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 10""",
    ),
    "steps": steps,
    "events_by_plane": lambda c: json.loads(one(c, "SELECT json_extract(metadata, '$.planes')::VARCHAR FROM captures")),
    "n_rows_not_on_a_whole_nanosecond": lambda c: one(
        c, "SELECT json_extract(metadata, '$.n_not_whole_ns')::BIGINT FROM captures"
    ),
    "runtime_fill_and_copy_kernels": lambda c: named(
        c,
        "SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE name LIKE '\\_\\_amd_rocclr%' ESCAPE '\\'",
    )["all"],
    "kernels_by_hlo_op": lambda c: named(
        c, "SELECT hlo_op, count(*), sum(dur_ns) FROM kernels WHERE hlo_op IS NOT NULL GROUP BY 1"
    ),
    "kernels_by_op_type": lambda c: named(c, f"SELECT op_type, count(*), sum(dur_ns) FROM ({TYPED}) GROUP BY 1"),
    "n_kernels_with_an_op": lambda c: one(c, f"SELECT count(*) FROM ({TYPED})"),
    "conv_kernels_by_op_type": lambda c: {
        kind: {"n": n, "ns": int(ns), "n_op_names": names}
        for kind, n, ns, names in rows(
            c,
            f"""SELECT op_type, count(*), sum(dur_ns), count(DISTINCT op_name) FROM ({TYPED})
            WHERE op_type LIKE '%Conv2D%' GROUP BY 1""",
        )
    },
    "relu_forward": lambda c: below(c, "^aten::relu_?$"),
    "relu_backward": lambda c: below(c, "^aten::(relu_backward|threshold_backward)$"),
    "kernels_below_gemm_ops": lambda c: below(c, GEMM_OPS),
    "gemm_outside_conv": lambda c: named(
        c,
        # By name: a product between Winograd transforms is meant too, where no operator is known.
        """SELECT 'all', count(*), coalesce(sum(k.dur_ns), 0) FROM kernels k JOIN names.kernel n
            ON n.name = k.name AND n.op_path IS NOT DISTINCT FROM k.op_path AND n.category = 'gemm'
        WHERE k.call_id IS NULL AND coalesce(n.role, 'main') = 'main'""",
    )["all"],
    "n_conv_calls": lambda c: dict(
        rows(
            c,
            """SELECT d, count(DISTINCT k.call_id) FROM (VALUES ('forward'), ('backward')) t(d)
            LEFT JOIN (SELECT call_id, CASE WHEN contains(o.name, 'backward') THEN 'backward' ELSE 'forward' END AS way
                FROM kernels JOIN ops o ON o.id = call_id) k ON way = d GROUP BY d""",
        )
    ),
    "conv_total": lambda c: named(
        c, "SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE call_id IS NOT NULL"
    )["all"],
    "conv_layout_transposes": lambda c: named(
        c,
        """SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'layout_transpose'""",
    )["all"],
    "conv_bias_add": lambda c: named(
        c,
        """SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'bias' AND direction = 'fprop'""",
    )["all"],
    "conv_bias_gradient": lambda c: named(
        c,
        """SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'bias' AND direction <> 'fprop'""",
    )["all"],
    "conv_main_by_pass_and_algorithm": lambda c: nested(
        c,
        """SELECT direction, algorithm, count(*), sum(dur_ns) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'conv' AND role = 'main' GROUP BY ALL""",
    ),
    "conv_main_by_algorithm": lambda c: named(
        c,
        """SELECT algorithm, count(*), sum(dur_ns) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'conv' AND role = 'main' GROUP BY ALL""",
    ),
    "conv_transforms_by_algorithm": lambda c: named(
        c,
        """SELECT algorithm, count(*), sum(dur_ns) FROM kernels
        WHERE call_id IS NOT NULL AND category = 'conv' AND role = 'transform' GROUP BY ALL""",
    ),
    "conv_kernels_by_role": lambda c: named(
        c,
        """SELECT CASE category WHEN 'conv' THEN role WHEN 'layout_transpose' THEN 'layout'
            WHEN 'bias' THEN CASE direction WHEN 'fprop' THEN 'bias' ELSE 'bias_grad' END ELSE 'other' END,
            count(*), sum(dur_ns) FROM kernels WHERE call_id IS NOT NULL GROUP BY ALL""",
    ),
}


def nested(connection: Connection, query: str) -> dict[str, dict[str, Any]]:
    out: dict[str, dict[str, Any]] = {}
    for outer, inner, n, ns in rows(connection, query):
        out.setdefault(outer, {})[inner] = {"n": n, "ns": int(ns)}
    return out


def agree(found: Any, value: Any, check: Any) -> bool:
    """Whether a fact agrees: `a|b` labels accept either, numbers may differ by what `check` allows."""
    if isinstance(value, dict) and isinstance(found, dict):
        return _same_keys(found, value, check)
    if isinstance(value, list) and isinstance(found, list):
        return len(found) == len(value) and all(agree(f, v, check) for f, v in zip(found, value, strict=True))
    if isinstance(value, (int, float)) and isinstance(found, (int, float)) and not isinstance(value, bool):
        if isinstance(check, dict):
            allowed = check.get("abs", 0) + check.get("rel", 0) * abs(value)
            return abs(found - value) <= allowed
        return found == value
    return json.dumps(found) == json.dumps(value)


def _same_keys(found: dict[str, Any], value: dict[str, Any], check: Any) -> bool:
    """Whether both have the same keys with agreeing values. For a key `a|b` both labels are right: their sums agree."""
    if not any("|" in key for key in value):
        return found.keys() == value.keys() and all(agree(found[key], value[key], check) for key in value)
    linked = {label for key in value if "|" in key for label in key.split("|")}
    plain = {key: entry for key, entry in value.items() if not linked & set(key.split("|"))}
    rest = {key: entry for key, entry in found.items() if key not in linked}
    either = [entry for key, entry in value.items() if linked & set(key.split("|"))]
    mine = [entry for key, entry in found.items() if key in linked]
    floor = all(key in found and _at_least(found[key], value[key]) for key in linked if key in value)
    return _same_keys(rest, plain, check) and agree(_total(mine), _total(either), check) and floor


def _total(entries: list[Any]) -> Any:
    if entries and isinstance(entries[0], dict):
        return {key: sum(entry[key] for entry in entries) for key in entries[0]}
    return sum(entries)


def _at_least(found: Any, value: Any) -> bool:
    if isinstance(value, dict):
        return all(found[key] >= value[key] for key in value)
    return bool(found >= value)
