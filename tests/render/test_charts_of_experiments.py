"""Charts of experiments: colours say the algorithm, places say the numbers, names are text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from traceview.analysis.model import Column, Section
from traceview.render.charts import chart, colour

HOSTILE = '</svg><script>alert(1)</script>"\x1b[31m'
MAP = {"kind": "map", "row": ["layer", "batch"], "column": "direction", "value": "algorithm", "strength": "gain"}
CURVES = {"kind": "curves", "panel": ["layer"], "x": "batch", "y": ["time_ns", "workspace_bytes"], "line": "algorithm"}
INTERVALS = {
    "kind": "intervals",
    "label": "option",
    "value": "speedup",
    "low": "low",
    "high": "high",
    "verdict": "verdict",
}


def _section(how: dict[str, object], names: str, *rows: tuple[object, ...]) -> Section:
    columns = tuple(Column(name, "", "meaning") for name in names.split())
    return Section("s", "Title", "doc", columns, rows, None, "", None, how)


def _drawn(section: Section) -> ElementTree.Element:
    svg = chart(section)
    assert svg is not None
    # Intervals are drawn for narrow screens, too.
    return ElementTree.fromstring(str(svg).partition("</svg>")[0] + "</svg>")


def test_the_map_has_the_colour_of_the_winner_and_is_pale_where_it_hardly_wins() -> None:
    names = "layer batch direction algorithm gain"
    rows = [("conv1", 8, "fprop", "fft", 3.0), ("conv1", 8, "dgrad", "direct", 1.0), ("conv2", 8, "dgrad", "fft", None)]
    svg = _drawn(_section(MAP, names, *rows))
    tiles = [rect for rect in svg.iter("rect") if rect.get("height") == "20"]
    assert [rect.get("fill") for rect in tiles] == [colour("fft"), colour("direct"), colour("fft")]
    assert [rect.get("fill-opacity") for rect in tiles] == ["1", "0.25", "0.25"]
    assert tiles[0].get("y") == tiles[1].get("y") != tiles[2].get("y") and tiles[1].get("x") == tiles[2].get("x")
    texts = {text.text for text in svg.iter("text")}
    assert {"conv1 N=8", "conv2 N=8", "fprop", "dgrad", "fft 3.00", "fft"} <= texts
    inks = {text.text: text.get("class") for text in svg.iter("text") if text.text in ("fft 3.00", "direct 1.00")}
    assert inks == {"fft 3.00": "on", "direct 1.00": None}


def test_the_map_has_the_passes_in_their_order() -> None:
    """Also where the first row lacks one: conv1 has no gradient of the input."""
    rows = [("conv1", 8, name, "fft", 2.0) for name in ("fprop", "wgrad")] + [("conv2", 8, "dgrad", "fft", 2.0)]
    svg = _drawn(_section(MAP, "layer batch direction algorithm gain", *rows))
    heads = {text.text: float(text.get("x", 0)) for text in svg.iter("text") if text.get("y") == "20"}
    assert sorted(heads, key=lambda name: heads[name]) == ["fprop", "dgrad", "wgrad"]


def test_a_panel_for_each_layer_and_quantity() -> None:
    rows = [
        ("conv1", 1, "fft", 1000, 64), ("conv1", 4, "fft", 10_000, 64), ("conv1", 2, "direct", 100_000, None),
        ("conv2", 1, "fft", 1000, None),
    ]  # fmt: skip
    svg = _drawn(_section(CURVES, "layer batch algorithm time_ns workspace_bytes", *rows))
    lines = [line.get("points", "").split() for line in svg.iter("polyline")]
    # conv2 has one batch and no curve. 10 us is half way from 1 to 100 us, 2 images half way from 1 to 4.
    assert len(lines) == 3 and len(lines[0]) == 1 and len(lines[1]) == len(lines[2]) == 2
    (one,) = [point.split(",") for point in lines[0]]
    first, last = (point.split(",") for point in lines[1])
    assert float(one[0]) == pytest.approx((float(first[0]) + float(last[0])) / 2)
    assert float(last[1]) == pytest.approx((float(first[1]) + float(one[1])) / 2)
    # 64 bytes lie between two round numbers.
    assert {"conv1, time", "conv1, workspace", "50 B", "100 B"} <= {text.text for text in svg.iter("text")}


def test_an_interval_stands_where_its_numbers_are() -> None:
    rows = [("good", 2.0, 1.0, 4.0, "faster"), ("even", 1.0, None, None, "cannot decide")]
    svg = _drawn(_section(INTERVALS, "option speedup low high verdict", *rows))
    middle, even = (float(circle.get("cx", "")) for circle in svg.iter("circle"))
    (span,) = [line for line in svg.iter("line") if line.get("stroke-width") == "3"]
    low, high = float(span.get("x1", "")), float(span.get("x2", ""))
    assert middle == pytest.approx((low + high) / 2, abs=0.06) and even == pytest.approx(low, abs=0.02)
    texts = {text.text for text in svg.iter("text")}
    assert {"good", "2.00 (1.00 to 4.00) faster", "1.00 cannot decide"} <= texts


def test_on_narrow_screens_an_interval_stands_below_what_is_said_of_it() -> None:
    rows = [("even", 1.0, None, None, "cannot decide"), ("a very long name of an option", 2.0, 1.0, 4.0, "faster")]
    both = str(chart(_section(INTERVALS, "option speedup low high verdict", *rows)))
    svg = ElementTree.fromstring(both.partition("</svg>")[2])
    assert (svg.get("class"), svg.get("viewBox")) == ("narrow", "0 0 360 110")
    circles = [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in svg.iter("circle")]
    (span,) = [line for line in svg.iter("line") if line.get("stroke-width") == "3"]
    assert circles[0] == (pytest.approx(12.8, abs=0.2), 32) and circles[1][1] == float(span.get("y1", "")) == 74
    assert float(span.get("x1", "")) == pytest.approx(circles[0][0], abs=0.1) and float(span.get("x2", "")) == 344
    lines = [(text.text, text.get("y")) for text in svg.iter("text")]
    assert lines == [
        ("1: no difference", "104"),
        ("even 1.00 cannot decide", "18"),
        ("a very long…f an option 2.00 (1.00 to 4.00) faster", "60"),
    ]


def test_more_than_fits_is_said() -> None:
    rows = [(f"layer {n}", 8, "fprop", "fft", 2.0) for n in range(75)]
    text = str(chart(_section(MAP, "layer batch direction algorithm gain", *rows)))
    assert "15 more rows are in the table only." in text


@pytest.mark.parametrize(
    ("how", "names", "rows"),
    [
        (MAP, "layer batch direction algorithm gain", [(HOSTILE, 1, HOSTILE, HOSTILE, float("nan"))]),
        (
            CURVES,
            "layer batch algorithm time_ns workspace_bytes",
            [(HOSTILE, 1, HOSTILE, 5, 5), (HOSTILE, 2, "x", 5, 5)],
        ),
        (INTERVALS, "option speedup low high verdict", [(HOSTILE, 1.5, 1.0, 2.0, HOSTILE)]),
    ],
)
def test_hostile_names_are_text(how: dict[str, object], names: str, rows: list[tuple[object, ...]]) -> None:
    svg = str(chart(_section(how, names, *rows)))
    assert "<script" not in svg and "\x1b" not in svg and svg.count("</svg>") == (2 if how is INTERVALS else 1)


def test_nothing_is_drawn_of_nothing() -> None:
    assert chart(_section(CURVES, "layer batch algorithm time_ns workspace_bytes", ("a", 1, "fft", 5, 5))) is None
    assert chart(_section(INTERVALS, "option speedup low high verdict", ("a", None, None, None, "failed"))) is None
