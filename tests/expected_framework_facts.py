"""The facts of `../shared/expected` about TensorFlow's, JAX's and ROCm's own files, with SQL over the public views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from expected_facts import FACTS as TRACE_FACTS
from expected_facts import LAYOUT, Connection, named, one, rows


def devices_by_name(connection: Connection) -> Any:
    """The facts name a device as the file does; here it has a number, and the name beside it."""
    found = TRACE_FACTS["devices"](connection)
    names = {str(device): name for device, name in rows(connection, "SELECT device, name FROM devices")}
    return {names[device]: facts for device, facts in found.items()}


FACTS: dict[str, Callable[[Connection], Any]] = {
    "conv_main_by_algorithm_from_names": lambda c: named(
        c, "SELECT algorithm, count(*), sum(dur_ns) FROM kernels WHERE category = 'conv' AND role = 'main' GROUP BY 1"
    ),
    "layout_kernels_by_name": lambda c: named(
        c, f"SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE regexp_matches(name, '{LAYOUT}')"
    )["all"],
    "rows_by_op_type": lambda c: named(c, "SELECT name, count(*), sum(dur_ns) FROM kernels GROUP BY 1"),
    "n_host_op_events": lambda c: one(c, "SELECT count(*) FROM ops"),
    "n_distinct_kernel_ids": lambda c: one(c, "SELECT json_extract(metadata, '$.n_kernel_ids')::BIGINT FROM captures"),
    "n_distinct_mangled_kernel_names": lambda c: one(
        c, "SELECT json_extract(metadata, '$.n_mangled_names')::BIGINT FROM captures"
    ),
}
TIMELINE_FACTS = {"devices": devices_by_name}


def devices_by_handle(connection: Connection) -> Any:
    """The facts name the only GPU by its handle in the file, 37946; here it has HIP's number."""
    found = TRACE_FACTS["devices"](connection)
    return {"37946": found["0"]} if list(found) == ["0"] else found


ROCPROF_FACTS = {"devices": devices_by_handle}
