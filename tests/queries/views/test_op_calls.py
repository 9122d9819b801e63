"""Which call with a cost the work of an operator counts for."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given, rows

pytestmark = pytest.mark.slow

SHAPES = [(64, 64), (64, 64)]


def test_an_operator_is_part_of_the_call_that_runs_around_it(tmp_path: Path) -> None:
    """Not of one that has ended, nor of one on another thread; without work it is in none."""
    given = Given()
    given.op("aten::linear", 0, 50, SHAPES, ["", ""])
    for name, start in (("aten::mine", 10), ("aten::idle", 20), ("aten::late", 60), ("aten::other", 30)):
        given.op(name, start, start + 5)
        given.rows["ops"][-1]["tid"] = 2 if name == "aten::other" else 1
        if name != "aten::idle":
            given.kernel(f"kernel of {name}", 100 + start, 105 + start, launched=start + 1)
            given.rows["api_calls"][-1]["tid"] = given.rows["ops"][-1]["tid"]
    query = "SELECT o.name, c.name FROM op_calls m JOIN raw.ops o ON o.id = m.op_id JOIN raw.ops c ON c.id = m.call_id"
    connection = given.open(tmp_path)
    assert rows(connection, query) == [("aten::mine", "aten::linear")]
    assert rows(connection, "SELECT op_name, kernel, own_ns FROM op_floors") == [
        ("aten::linear", "kernel of aten::mine", 5000)
    ]


def test_work_of_an_operator_around_a_call_is_not_the_calls(tmp_path: Path) -> None:
    """Also where the call inside it begins in the same tick."""
    given = Given()
    given.op("custom::block", 0, 50)
    given.op("aten::mm", 0, 20, SHAPES, ["", ""])
    given.kernel("of the block", 100, 200, launched=30)
    given.kernel("of mm", 210, 220, launched=12)
    assert rows(given.open(tmp_path), "SELECT own_ns, kernel FROM op_floors") == [(10_000, "of mm")]
