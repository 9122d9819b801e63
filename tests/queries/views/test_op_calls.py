"""Which call with a cost the work of an operator counts for."""

from __future__ import annotations

from pathlib import Path

from given import Given, rows

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
