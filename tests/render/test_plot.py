"""Plots of sections: the page's charts as SVG of their own, in notebooks and in files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

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
    "areas": (
        {"x": "at_ns", "y": "size_bytes", "area": "kind", "mark": "is_peak"},
        "kind at_ns size_bytes is_peak",
        [("parameter", 0, 10, False), ("parameter", 50, 30, True)],
    ),
    "blocks": (
        {
            "x": "from_ns",
            "until": "until_ns",
            "y": "place_bytes",
            "size": "size_bytes",
            "block": "kind",
            "label": "owner",
        },
        "kind owner from_ns until_ns place_bytes size_bytes",
        [("gradient", "fc.weight", 0, 100, 0, 80), ("input", "aten::to", 10, 60, 80, 20)],
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


SAID = {
    "stack": {"conv 75.0 %", "gemm 25.0 %"},
    "areas": {"parameter", "peak 30 B at 50 ns"},
    "blocks": {"gradient", "input", "100 B", "20 ns"},
    "bars": {"c1", "forward", "backward", "fft", "layout", "algorithm not known"},
    "pair": {"conv", "A", "B"},
    "lines": {"a"},
    "roofline": {"fft"},
    "heat": {"rank 0", "conv", "5.0"},
    "map": {"c1 N=8", "fprop", "dgrad", "direct"},
    "curves": {"fft"},
    "intervals": {"a", "b"},
    "icicle": {"k"},
}
"""Names of rows, of colours and of values, as they stand in the drawing."""


def texts(drawn: plot.Plot) -> set[str]:
    """Return the words of a chart, which is whole XML without scripts."""
    tree = ElementTree.fromstring(drawn.svg)
    names = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in tree.iter()}
    assert not names & {"script", "foreignObject", "image", "use"} and tree.get("class") == "traceview-chart"
    return {element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}text")}


def test_every_kind_of_the_page_is_plotted() -> None:
    assert set(HOWS) == set(SAID) == set(charts.KINDS)


@pytest.mark.parametrize("kind", HOWS)
def test_a_section_is_an_svg_of_its_own(kind: str, tmp_path: Path) -> None:
    how, names, rows = HOWS[kind]
    drawn = plot.plot(_section(kind, names, rows, how))
    assert SAID[kind] | {"Title"} <= texts(drawn)
    drawn.save(tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8") == drawn.svg


def test_the_drawing_is_the_pages() -> None:
    how, names, rows = HOWS["stack"]
    section = _section("stack", names, rows, how)
    of_page = charts.chart(section)
    assert of_page and of_page.partition(">")[2].partition("</svg>")[0] in plot.plot(section).svg


def test_a_section_that_says_nothing_is_bars_of_its_first_times() -> None:
    assert {"k", "2.00 ms"} <= texts(plot.plot(_section(None, "name calls busy_ns", [("k", 5, 2e6)])))


@pytest.mark.parametrize("rows", [[], [("only", "texts")]])
def test_nothing_to_draw_is_a_sentence(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(UsageError, match="nothing to draw"):
        plot.plot(_section(None, "a b", rows))


def test_hostile_names_are_text() -> None:
    rows = [("</text><script>alert(1)</script>", 1.0)]
    assert any("<script>" in text for text in texts(plot.plot(_section(None, "name busy_ns", rows))))


@pytest.mark.long
def test_an_answer_plots_what_says_how_it_is_drawn(root: Path, tmp_path: Path) -> None:
    how, names, rows = HOWS["stack"]
    first = replace(_section(None, "name busy_ns", [("k", 1.0)]), name="first")
    second = _section("stack", names, rows, how)
    drawn = Answer(Report("r", "R", "", (first, second), ())).plot()
    assert "conv 75.0 %" in texts(drawn) and drawn.svg in drawn._repr_html_()
    try:
        drawn.save(tmp_path / "chart.png")
    except UsageError as error:
        assert str(error).startswith("PNG needs a font")
    else:
        assert (tmp_path / "chart.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UsageError, match=r"as \.svg or \.png, not as chart\.pdf"):
        drawn.save(tmp_path / "chart.pdf")
    with pytest.raises(UsageError, match=r"cannot write .*absent/chart\.svg"):
        drawn.save(tmp_path / "absent" / "chart.svg")
    trace = shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", tmp_path)
    assert any(text.startswith("conv") for text in texts(traceview.report(trace).plot("categories")))
