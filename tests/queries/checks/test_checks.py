"""Invariants as queries: none of them finds anything in a sample or a public trace, and each finds what breaks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from public_traces import EACH, SAMPLES

from traceview import sql

ROOT = Path(__file__).resolve().parents[3]
CHECKS = sql.load_folder(ROOT / "queries" / "checks")
SHORT = ("torch-2.13.0-lenet-cpu.json.gz", "torch-2.13.0-lenet-ddp-cpu")
WHOLE = {
    "kernels": "rank, id, name, start_ns, dur_ns, start_ns + dur_ns AS end_ns, op_id, launch_id, step",
    "memcpys": "rank, id, direction, start_ns, dur_ns, start_ns + dur_ns AS end_ns, size_bytes",
    "ops": "rank, id, name, start_ns, dur_ns, start_ns + dur_ns AS end_ns, self_ns, parent_id, depth",
    "api_calls": "rank, id, name, start_ns, dur_ns, start_ns + dur_ns AS end_ns",
    "primitives": "rank, id, kind, start_ns, dur_ns, start_ns + dur_ns AS end_ns",
    "ranges": "rank, id, name, start_ns, dur_ns, start_ns + dur_ns AS end_ns",
    "steps": "rank, step, start_ns, end_ns, dur_ns, busy_ns, idle_ns, false AS is_warmup",
    "account": "rank, device, step_ns, active_ns, idle_ns, 0 AS carried_ns, 0 AS exposed_copy_ns, "
    "0 AS between_active_ns, 1 AS per",
    "idle_causes": "rank, device, idle_ns, idle_pct",
    "idle_gaps": "rank, device, from_ns, until_ns, idle_ns, data_ns, 0 AS allocation_ns, 0 AS communication_ns, "
    "0 AS capture_ns, 0 AS synchronisation_ns, 0 AS between_steps_ns, launch_ns, 0 AS unknown_ns",
    "conv_calls": "rank, op_id, op_name, start_ns, end_ns, total_ns, main_ns, transform_ns, 0 AS layout_ns, "
    "0 AS bias_ns, 0 AS activation_ns, 0 AS helper_ns, 1 AS groups, 8 AS flop, 'fprop' AS direction",
    "op_costs": "rank, op_id, 'conv' AS family, matrix_flop",
    "busy": "rank, device, kind, id, dur_ns, alone_ns, alone_ns AS rank_alone_ns, dur_ns AS step_dur_ns, "
    "step_alone_ns, 0 AS between_ns, step_alone_ns AS step_rank_alone_ns",
    "totals": "rank, device, n, alone_ns",
    "allocations": "rank, id, 1 AS pid, device, size_bytes, allocated_ns, freed_ns, freed_id, how",
    "counters": "rank, id, 1 AS pid, device, 'allocated_bytes' AS name, start_ns, \"value\"",
}
"""Columns of a view that checks read, written over those of ROWS."""
ROWS: dict[str, dict[str, Any]] = {
    "kernels": {"rank": 0, "id": 1, "name": "k", "start_ns": 20, "dur_ns": 30, "op_id": 2, "launch_id": 3, "step": 1},
    "memcpys": {"rank": 0, "id": 1, "direction": "HtoD", "start_ns": 0, "dur_ns": 5, "size_bytes": 8},
    "ops": {"rank": 0, "id": 2, "name": "o", "start_ns": 0, "dur_ns": 10, "self_ns": 9, "parent_id": None, "depth": 0},
    "api_calls": {"rank": 0, "id": 3, "name": "a", "start_ns": 1, "dur_ns": 2},
    "primitives": {"rank": 0, "id": 1, "kind": "p", "start_ns": 1, "dur_ns": 2},
    "ranges": {"rank": 0, "id": 1, "name": "r", "start_ns": 1, "dur_ns": 2},
    "steps": {"rank": 0, "step": 1, "start_ns": 0, "end_ns": 100, "dur_ns": 100, "busy_ns": 30, "idle_ns": 70},
    "account": {"rank": 0, "device": "gpu 0", "step_ns": 100, "active_ns": 30, "idle_ns": 70},
    "idle_causes": {"rank": 0, "device": "gpu 0", "idle_ns": 70, "idle_pct": 100.0},
    "idle_gaps": {
        "rank": 0, "device": "gpu 0", "from_ns": 30, "until_ns": 100, "idle_ns": 70, "data_ns": 60, "launch_ns": 10,
    },
    "conv_calls": {
        "rank": 0, "op_id": 2, "op_name": "conv", "start_ns": 0, "end_ns": 10, "total_ns": 30, "main_ns": 20,
        "transform_ns": 10,
    },
    "op_costs": {"rank": 0, "op_id": 2, "matrix_flop": 8},
    "busy": {
        "rank": 0, "device": "gpu 0", "kind": "kernel", "id": 1, "dur_ns": 30, "alone_ns": 30, "step_alone_ns": 30,
    },
    "totals": {"rank": 0, "device": "gpu 0", "n": 1, "alone_ns": 30},
    "allocations": {
        "rank": 0, "id": 6, "device": 0, "size_bytes": 512, "allocated_ns": 20, "freed_ns": 30, "freed_id": 10,
        "how": "recorded",
    },
    "counters": {"rank": 0, "id": 4, "device": 0, "start_ns": 20, "value": 512.0},
}  # fmt: skip
"""A row of each view, which breaks nothing."""
TIMED = ("kernels", "memcpys", "ops", "primitives", "api_calls", "ranges")
BROKEN: list[tuple[str, str, dict[str, Any]]] = [
    ("active_and_idle", "account", {"idle_ns": 72}),
    ("active_and_idle", "account", {"active_ns": -10, "idle_ns": 110}),
    ("activities_add_up", "totals", {"n": 2}),
    ("activities_add_up", "totals", {"device": "gpu 1"}),
    ("allocations_add_up", "allocations", {"size_bytes": 1024}),
    ("allocations_add_up", "counters", {"id": 8, "start_ns": 30}),
    ("call_parts", "conv_calls", {"main_ns": 21}),
    ("call_parts", "conv_calls", {"main_ns": 31, "transform_ns": -1}),
    ("costs_of_convolutions", "op_costs", {"matrix_flop": 16}),
    ("categories_and_idle", "busy", {"step_alone_ns": 28}),
    ("categories_and_idle", "idle_gaps", {"idle_ns": 72}),
    ("copies_by_direction", "memcpys", {"direction": "sideways"}),
    ("copies_by_direction", "memcpys", {"direction": None}),
    ("gap_causes", "idle_gaps", {"launch_ns": 9}),
    ("gap_causes", "idle_gaps", {"data_ns": 80, "launch_ns": -10}),
    ("idle_causes", "idle_causes", {"idle_ns": 60}),
    ("idle_causes", "idle_causes", {"idle_pct": 99.0}),
    ("inside_each_other", "ops", {"parent_id": 7}),
    ("inside_each_other", "ops", {"self_ns": 11}),
    ("linked", "kernels", {"op_id": 5}),
    ("linked", "kernels", {"launch_id": 5}),
    ("linked", "kernels", {"step": 5}),
    *(("no_negative_times", name, {"dur_ns": -1}) for name in TIMED),
    ("no_negative_times", "memcpys", {"size_bytes": -1}),
    ("no_time_twice", "busy", {"alone_ns": 31}),
    ("no_time_twice", "busy", {"alone_ns": 20}),
    ("steps_in_order", "steps", {"idle_ns": 71}),
    ("steps_in_order", "steps", {"end_ns": 101}),
    ("whole_steps", "steps", {"busy_ns": 29, "idle_ns": 71}),
]
TWICE = [("unique_ids", "kernels"), ("one_step", "steps"), ("steps_in_order", "steps"), ("activities_add_up", "busy")]


def found(capture: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of every check that has some."""
    answers = {name: check.run(capture)[:3] for name, check in CHECKS.items()}
    return {name: rows for name, rows in answers.items() if rows}


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample",
    [pytest.param(path, id=path.name, marks=() if path.name in SHORT else pytest.mark.long) for path in SAMPLES],
)
def test_samples_break_no_check(sample: Path, captures: Any) -> None:
    assert found(captures.open(sample)) == {}


@pytest.mark.slow
@pytest.mark.shared
@EACH
def test_public_traces_break_no_check(trace: Path, shared: Path, captures: Any) -> None:
    assert found(captures.open(trace)) == {}


def views(broken: dict[str, list[dict[str, Any]]]) -> duckdb.DuckDBPyConnection:
    """The views that checks read, with a row each, or with these rows."""
    connection = duckdb.connect()
    for name, columns in WHOLE.items():
        rows = broken.get(name, [ROWS[name]])
        values = ", ".join(f"({', '.join('NULL' if it is None else repr(it) for it in row.values())})" for row in rows)
        connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM (VALUES {values}) AS t({', '.join(rows[0])})")
    return connection


def test_what_is_whole_breaks_no_check() -> None:
    assert found(views({})) == {}


@pytest.mark.parametrize(("check", "view", "changed"), BROKEN)
def test_a_check_finds_what_breaks_it(check: str, view: str, changed: dict[str, Any]) -> None:
    with views({view: [{**ROWS[view], **changed}]}) as connection:
        assert CHECKS[check].run(connection)


@pytest.mark.parametrize(("check", "view"), TWICE)
def test_a_check_finds_what_is_there_twice(check: str, view: str) -> None:
    with views({view: [ROWS[view], ROWS[view]]}) as connection:
        assert CHECKS[check].run(connection)


def test_every_check_explains_itself_and_is_seen_to_fail() -> None:
    assert {*CHECKS} == {check for check, *_ in BROKEN} | {check for check, _ in TWICE}
    for check in CHECKS.values():
        with views({}) as connection:
            columns = [column[0] for column in connection.execute(check.body).description or ()]
        assert set(check.columns) <= set(columns) and "\nORDER BY " in check.body, check.name
