"""Plots of sections in notebooks: the page's charts as altair ones, and files without a browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import traceview
from traceview.analysis.model import Column, Report, Section
from traceview.errors import UsageError
from traceview.render import charts, plot
from traceview.render.notebook import Answer

HOWS: dict[str, tuple[dict[str, Any], str, list[tuple[Any, ...]]]] = {
    "stack": (
        {"label": "category", "value": "busy_ns"},
        "category busy_ns",
        [("conv", 3e6), ("gemm", 1e6)],
    ),
    "bars": (
        {"label": "layer", "group": "pass", "colour": "algorithm", "parts": ["main_ns", "layout_ns"]},
        "layer pass algorithm main_ns layout_ns",
        [("c1", "forward", "fft", 2e6, 1e6), ("c1", "backward", None, 1e6, 0)],
    ),
    "pair": (
        {"label": "part", "before": "base_ns", "after": "busy_ns"},
        "run part base_ns busy_ns",
        [("B", "conv", 2e6, 1e6)],
    ),
    "lines": (
        {"x": "at_ns", "y": "value_bytes", "line": "counter"},
        "counter at_ns value_bytes",
        [("a", 0, 1e9), ("a", 5e9, 2e9)],
    ),
    "roofline": (
        {"x": "x", "y": "y", "roof": "roof", "colour": "algorithm", "label": "layer"},
        "layer algorithm x y roof",
        [("c1", "fft", 10.0, 1e12, 2e12)],
    ),
    "heat": (
        {"row": "rank", "column": "category", "value": "step_pct"},
        "rank category step_pct",
        [("rank 0", "conv", 5.0)],
    ),
    "map": (
        {"row": ["layer", "batch"], "column": "direction", "value": "algorithm", "strength": "gain"},
        "layer batch direction algorithm gain",
        [("c1", 8, "fprop", "fft", 1.5), ("c1", 8, "dgrad", "direct", None)],
    ),
    "curves": (
        {"panel": ["layer"], "x": "batch", "y": ["time_ns", "workspace_bytes"], "line": "algorithm"},
        "layer batch algorithm time_ns workspace_bytes",
        [("c1", 1, "fft", 1000, 5), ("c1", 8, "fft", 4000, None)],
    ),
    "intervals": (
        {"label": "option", "value": "speedup", "low": "low", "high": "high", "verdict": "verdict"},
        "option speedup low high verdict",
        [("a", 1.2, 1.1, 1.3, "faster"), ("b", 1.0, None, None, "cannot decide")],
    ),
    "icicle": (
        {"stack": "stack", "value": "busy_ns", "colour": "category"},
        "stack category busy_ns",
        [(["a", "k"], "conv", 1e6)],
    ),
}


def _section(kind: str | None, names: str, rows: list[tuple[Any, ...]], how: dict[str, Any] | None = None) -> Section:
    columns = tuple(Column(name, "", "") for name in names.split())
    return Section(
        "s", "Title", "", columns, tuple(rows), None, "", None, {"kind": kind, **(how or {})} if kind else None
    )


def test_every_kind_of_the_page_is_plotted() -> None:
    assert set(HOWS) == set(plot.KINDS) == set(charts.KINDS)


SAID = {
    "stack": {"busy [ms]", "category", "conv", "gemm"},
    "bars": {"time [ms]", "c1 forward", "c1 backward", "fft", "layout", "algorithm not known"},
    "pair": {"total [ms]", "conv A", "conv B"},
    "lines": {"at [s]", "value [GB]", "counter", "a"},
    "roofline": {"FLOPs per byte moved", "FLOP/s", "fft"},
    "heat": {"step [%]", "rank 0", "conv"},
    "map": {"c1 8", "fprop", "dgrad", "fft", "direct"},
    "curves": {"c1, time [us]", "c1, workspace [B]", "batch", "fft"},
    "intervals": {"speedup", "a", "b", "faster", "cannot decide"},
    "icicle": {"busy [ms]", "k"},
}
"""Names of rows, of colours and of axes with their units, as they stand in the drawing."""


@pytest.mark.parametrize("kind", HOWS)
def test_a_section_is_a_file_without_a_browser(kind: str, tmp_path: Path) -> None:
    how, names, rows = HOWS[kind]
    drawn = plot.plot(_section(kind, names, rows, how))
    drawn.save(tmp_path / "chart.svg")  # type: ignore[attr-defined]
    text = (tmp_path / "chart.svg").read_text()
    assert text.startswith("<svg") and SAID[kind] | {"Title"} <= set(re.findall(r">([^<>]+)</text>", text))


def test_values_have_the_reports_unit_and_colours_are_the_pages() -> None:
    how, names, rows = HOWS["stack"]
    spec = json.loads(plot.plot(_section("stack", names, rows, how)).to_json())  # type: ignore[attr-defined]
    assert [row["value"] for row in spec["data"]["values"]] == [3.0, 1.0]
    assert spec["encoding"]["x"]["title"] == "busy [ms]"
    assert spec["encoding"]["color"]["scale"] == {"domain": ["conv", "gemm"], "range": ["#2f7ed8", "#8a63d2"]}


def test_a_section_that_says_nothing_is_bars_of_its_first_times() -> None:
    spec = json.loads(plot.plot(_section(None, "name calls busy_ns", [("k", 5, 2e6)])).to_json())  # type: ignore[attr-defined]
    assert spec["data"]["values"] == [{"label": "k", "part": "busy", "value": 2.0}]


@pytest.mark.parametrize("rows", [[], [("only", "texts")]])
def test_nothing_to_draw_is_a_sentence(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        plot.plot(_section(None, "a b", rows))


def test_an_answer_plots_what_says_how_it_is_drawn(root: Path, tmp_path: Path) -> None:
    how, names, rows = HOWS["stack"]
    first, second = _section(None, "name busy_ns", [("k", 1.0)]), _section("stack", names, rows, how)
    drawn = Answer(Report("r", "R", "", (first, second), ())).plot()
    drawn.save(tmp_path / "chart.png")  # type: ignore[attr-defined]
    assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"
    trace = shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", tmp_path)
    chart = traceview.report(trace).plot("categories").to_dict()  # type: ignore[attr-defined]
    assert {"conv", "gemm"} <= {row["name"] for row in chart["data"]["values"]}
