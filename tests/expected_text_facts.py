"""The facts of `../shared/expected` that only nvprof's text files have, with SQL over the public views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from expected_facts import FACTS as TRACE_FACTS
from expected_facts import LAYOUT, Connection, named, one, rows


def devices(connection: Connection) -> Any:
    """nvprof prints a device's name and no number; the others have numbers."""
    found = TRACE_FACTS["devices"](connection)
    names = {str(device): name for device, name in rows(connection, "SELECT device, name FROM devices")}
    return {names[device]: facts for device, facts in found.items()}


FACTS: dict[str, Callable[[Connection], Any]] = {
    "devices": devices,
    "command": lambda c: one(c, "SELECT command FROM captures"),
    "n_rows": lambda c: one(c, "SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM memcpys)"),
    "conv_main_by_algorithm_from_names": lambda c: named(
        c, "SELECT algorithm, count(*), sum(dur_ns) FROM kernels WHERE category = 'conv' AND role = 'main' GROUP BY 1"
    ),
    "layout_kernels_by_name": lambda c: named(
        c, f"SELECT 'all', count(*), coalesce(sum(dur_ns), 0) FROM kernels WHERE regexp_matches(name, '{LAYOUT}')"
    )["all"],
}
