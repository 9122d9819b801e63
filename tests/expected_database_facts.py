"""The facts of `../shared/expected` that only profilers' databases have: NVTX ranges, numbered functions, schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from expected_facts import LAYOUT, Connection, named, one, rows

from traceview.readers import nvprof_db

# Names of PyTorch's ranges are followed by the operator's numbers and shapes.
NAME = "regexp_replace(r.name, ', (seq|op_id|sizes) = .*$', '')"
TOP = """WITH RECURSIVE up AS (
    SELECT id, id AS top, parent_id FROM ranges WHERE kind = 'nvtx'
    UNION ALL SELECT up.id, r.id, r.parent_id FROM up JOIN ranges r ON r.id = up.parent_id
), outermost AS (SELECT id, top FROM up WHERE parent_id IS NULL)
"""


def nvtx_by_type(connection: Connection) -> dict[str, int]:
    found = rows(
        connection,
        """SELECT CASE WHEN tid IS NULL THEN '60' ELSE '59' END, count(*) FROM ranges
        WHERE kind <> 'library' AND coalesce(domain, '') NOT LIKE 'guessed %' GROUP BY 1
        UNION ALL SELECT map {'mark': '34', 'category': '33', 'domain': '75'}[phase], count(*) FROM events
        WHERE category = 'nvtx' GROUP BY 1""",
    )
    return dict(found)


def by_cbid(connection: Connection) -> dict[str, int]:
    number = {(row["kind"], row["name"]): str(row["cbid"]) for row in nvprof_db.functions().to_pylist()}
    found = rows(
        connection, "SELECT a.kind, a.name, count(*) FROM kernels k JOIN api_calls a ON a.id = k.launch_id GROUP BY ALL"
    )
    return {number[kind, name]: n for kind, name, n in found}


FACTS: dict[str, Callable[[Connection], Any]] = {
    "schema_version": lambda c: one(c, "SELECT any_value(metadata->>'$.schema_version') FROM captures"),
    "database_version": lambda c: one(c, "SELECT json_extract(metadata, '$.database_version')::BIGINT FROM captures"),
    "device_name": lambda c: one(c, "SELECT arg_min(name, device) FROM devices"),
    "n_runtime_calls": lambda c: one(c, "SELECT count(*) FROM api_calls WHERE kind = 'runtime'"),
    "n_driver_calls": lambda c: one(c, "SELECT count(*) FROM api_calls WHERE kind = 'driver'"),
    "kernels_by_launching_cbid": by_cbid,
    "n_marker_ranges": lambda c: one(c, "SELECT count(*) FROM ranges"),
    "n_nvtx_push_pop_ranges": lambda c: one(
        c, "SELECT count(*) FROM ranges WHERE tid IS NOT NULL AND kind <> 'library'"
    ),
    "nvtx_events_by_type": nvtx_by_type,
    "n_top_level_ranges": lambda c: one(c, "SELECT count(*) FROM ranges WHERE kind = 'nvtx' AND depth = 0"),
    "n_kernels_below_a_range": lambda c: one(c, "SELECT count(*) FROM kernels WHERE range_id IS NOT NULL"),
    "n_kernels_matched_without_the_process": lambda c: one(
        c, "SELECT count(*) FROM kernels WHERE correlation IN (SELECT correlation FROM api_calls)"
    ),
    "kernels_by_top_level_range": lambda c: named(
        c,
        f"""{TOP} SELECT {NAME}, count(*), sum(k.dur_ns) FROM kernels k JOIN outermost o ON o.id = k.range_id
        JOIN ranges r ON r.id = o.top GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 6""",
    ),
    "kernels_by_innermost_range": lambda c: named(
        c,
        f"""SELECT {NAME}, count(*), sum(k.dur_ns) FROM kernels k JOIN ranges r ON r.id = k.range_id
        GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 10""",
    ),
    "n_user_markers": lambda c: one(c, "SELECT count(*) FROM ranges WHERE domain = 'roctx'"),
    "ops_by_launching_call": lambda c: dict(
        rows(
            c,
            """SELECT d.type || ' <- ' || a.name, count(*) FROM (
                SELECT 'KernelExecution' AS type, launch_id FROM kernels
                UNION ALL SELECT name, launch_id FROM memcpys) d JOIN api_calls a ON a.id = d.launch_id GROUP BY 1""",
        )
    ),
    "ops_by_type": lambda c: dict(
        rows(
            c, "SELECT 'KernelExecution', count(*) FROM kernels UNION ALL SELECT name, count(*) FROM memcpys GROUP BY 1"
        )
    ),
    "layout_kernels_by_name": lambda c: named(
        c, f"SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE regexp_matches(name, '{LAYOUT}')"
    )["all"],
}
