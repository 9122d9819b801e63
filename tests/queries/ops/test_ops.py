"""Operators by name: host time, self time and what it was spent on."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section


def test_an_operator_that_works_for_others_has_all_their_categories(tmp_path: Path) -> None:
    given = Given()
    given.op("aten::zero_", 0, 10)
    given.op("aten::max_pool2d_with_indices_backward", 20, 40)
    given.op("aten::zero_", 22, 32)
    found = section(given.open(tmp_path), "ops/names")
    assert pick(found, "name", "category", "calls", "host_ns", "self_ns") == [
        ("aten::zero_", "fill, pooling", 2, 20_000, 20_000),
        ("aten::max_pool2d_with_indices_backward", "pooling", 1, 20_000, 10_000),
    ]
