"""JSON: exact numbers, exact text, nothing that is not JSON."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from traceview.analysis.model import Column, Report

renderer = import_module("traceview.render.json")


def test_golden(report: Report, golden: Path) -> None:
    assert renderer.render(report) == (golden / "demo.json").read_text(encoding="utf-8")


def test_numbers_and_hostile_names_come_back_exactly(report: Report, hostile: tuple[str, ...]) -> None:
    text = renderer.render(report)
    assert text.isascii()
    data = json.loads(text)
    assert list(data) == ["report", "title", "doc", "sections", "footer"]
    kernels, steps, attacks = data["sections"]
    assert list(kernels) == ["name", "title", "doc", "note", "columns", "rows"]
    assert kernels["columns"][2] == {"name": "busy_ns", "type": "HUGEINT", "doc": "device time"}
    assert [row["busy_ns"] for row in kernels["rows"]] == [2_621_000, 39_000, 2**53 + 1]
    assert [row["share_pct"] for row in kernels["rows"]] == [61.25, 0.02, None]
    assert (steps["rows"], steps["note"]) == ([], "No steps in this trace.")
    assert tuple(row["name"] for row in attacks["rows"]) == hostile


def test_several_reports_are_an_array(report: Report) -> None:
    assert json.loads(renderer.render_all([report, report])) == [json.loads(renderer.render(report))] * 2


def test_rows_are_streamed_as_one_array() -> None:
    columns = [Column("a", "BIGINT", ""), Column("a", "DOUBLE", "")]
    pieces = list(renderer.stream(columns, [[(1, 0.1)], [(2, float("inf")), (2**70, None)], []]))
    assert len(pieces) == 3
    assert json.loads("".join(pieces)) == [{"a": 1, "a_1": 0.1}, {"a": 2, "a_1": None}, {"a": 2**70, "a_1": None}]
    assert json.loads("".join(renderer.stream(columns, []))) == []
