"""The view ops: what operators compute, where more than their name says it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from given import Given, rows


@pytest.mark.parametrize(
    ("types", "category"),
    [(["c10::BFloat16", "float", "Scalar"], "cast"), (["float", "float", "Scalar"], "copy"), (None, "cast")],
)
def test_a_copy_into_another_type_is_a_cast(tmp_path: Path, types: list[str] | None, category: str) -> None:
    given = Given()
    given.op("aten::to", 0, 30)
    given.op("aten::_to_copy", 2, 28)
    given.op("aten::copy_", 5, 20)
    given.rows["ops"][-1]["types"] = types and json.dumps(types)
    given.op("aten::copy_", 40, 50)
    found = rows(given.open(tmp_path), "SELECT category FROM ops WHERE name = 'aten::copy_' ORDER BY start_ns")
    assert found == [(category,), ("copy",)]
