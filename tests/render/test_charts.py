"""Charts: as wide as their numbers say, with names that are text, and nothing where there is nothing."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from colour_vision import ciede2000, contrast, difference

from traceview.analysis.model import Column, Section
from traceview.render.charts import (
    LETTER,
    MOST_BARS,
    MOST_ICICLE,
    OTHER,
    WIDTH,
    _known,
    chart,
    colour,
    ink,
    round_ticks,
    tree,
)

HOSTILE = '</svg><script>alert(1)</script>"\x1b[31m'


def _section(chart: dict[str, object], names: str, *rows: tuple[object, ...]) -> Section:
    columns = tuple(Column(name, "", "meaning") for name in names.split())
    return Section("s", "Title", "doc", columns, rows, None, "", None, chart)


def _drawn(section: Section) -> ElementTree.Element:
    svg = chart(section)
    assert svg is not None
    # Stacks and bars are drawn for narrow screens, too.
    return ElementTree.fromstring(str(svg).partition("</svg>")[0] + "</svg>")


def _widths(svg: ElementTree.Element, least: float = 13) -> list[float]:
    """Widths of what is drawn, without the signs of the legend."""
    rects = (rect for rect in svg.iter("rect") if "url(" not in rect.get("fill", ""))
    return [float(rect.get("width", "0")) for rect in rects if float(rect.get("height", "0")) > least]


STACK = {"kind": "stack", "label": "category", "value": "busy_ns"}
BARS = {"kind": "bars", "label": "layer", "group": "pass", "colour": "algorithm", "parts": ["main_ns", "layout_ns"]}


def test_a_stack_divides_its_width_by_time() -> None:
    svg = _drawn(_section(STACK, "category busy_ns", ("conv", 3_000_000), ("gemm", 1_000_000), ("other", 0)))
    assert _widths(svg) == [630, 210]
    told = {title.text for title in svg.iter("title")}
    assert told == {"conv: 3.00 ms, 75.0 %", "gemm: 1.00 ms, 25.0 %"}


def test_bars_have_one_scale_and_the_colour_of_the_algorithm() -> None:
    rows = [
        ("conv1", "forward", "winograd", 400, 100),
        ("conv1", "backward", "direct", 1000, 0),
        ("conv1", "backward", "fft", 1000, 0),
    ]
    svg = _drawn(_section(BARS, "layer pass algorithm main_ns layout_ns", *rows))
    widths = _widths(svg)
    assert widths == pytest.approx([126.1, 31.5, 315.2, 315.2])
    fills = [rect.get("fill") for rect in svg.iter("rect") if float(rect.get("height", "0")) == 16]
    assert fills == [colour("winograd"), colour("layout"), "url(#diagonal)", colour("direct"), colour("fft")]
    texts = [text.text for text in svg.iter("text")]
    assert texts.count("conv1") == 1 and {"500 ns", "2.00 us"} <= set(texts)


def test_on_narrow_screens_the_same_bars_stand_below_what_is_said_of_them() -> None:
    """They are drawn once: the longest as wide as the screen, the others on its scale, each where its line is."""
    rows = [
        ("conv1", "forward", "winograd", 400, 100),
        ("conv1", "backward", "direct", 1000, 1000),
        ("a layer whose name is much longer than any screen of a phone is wide", "forward", "fft", 0, 1000),
    ]
    both = str(chart(_section(BARS, "layer pass algorithm main_ns layout_ns", *rows)))
    wide, narrow = (ElementTree.fromstring(part + "</svg>") for part in both.split("</svg>")[:2])
    assert (wide.get("class"), narrow.get("class"), (narrow.get("viewBox") or "").split()[2]) == (
        "wide",
        "narrow",
        "360",
    )
    bars = {each.get("id"): each for each in wide.iter("g")}
    uses = list(narrow.iter("use"))
    assert [(use.get("href") or "")[1:] for use in uses] == list(bars) and len(bars) == 3
    squeeze, edge = re.fullmatch(
        r"scale\(([\d.]+) 1\) translate\(-([\d.]+)\)", next(narrow.iter("g")).get("transform", "")
    ).groups()  # type: ignore[union-attr]
    tops = []
    for use, bar, part in zip(uses, bars.values(), (0.25, 1, 0.5), strict=True):
        x, y = re.fullmatch(r"translate\(([\d.]+) (\d+)\)", bar.get("transform", "")).groups()  # type: ignore[union-attr]
        assert x == edge and sum(_widths(bar)) * float(squeeze) == pytest.approx(360 * part, abs=0.5)
        tops.append(int(y) + float(use.get("y", "")))
    texts = [(text.text, float(text.get("y", "")) + 4) for text in narrow.iter("text")]
    assert texts[:3] == [
        ("conv1 forward: 500 ns", tops[0]), ("backward: 2.00 us", tops[1]),
        ("a layer whose na… a phone is wide forward: 1.00 us", tops[2]),
    ]  # fmt: skip
    assert tops[1] > tops[0] + 16 and not list(narrow.iter("title"))
    assert [text for text, _ in texts[3:]] == ["winograd", "layout", "direct"]


def test_bars_of_two_charts_are_never_taken_for_each_other() -> None:
    names = "layer pass algorithm main_ns layout_ns"
    one, other = (str(chart(_section(BARS, names, ("conv1", "forward", "fft", n, 0)))) for n in (1, 2))
    assert not set(re.findall(r' id="([^"]+)"', one)) & set(re.findall(r' id="([^"]+)"', other))


def test_many_bars_are_said_to_be_more() -> None:
    rows = [(f"layer{n}", "forward", "direct", 1000 - n, 0) for n in range(5000)]
    svg = _drawn(_section(BARS, "layer pass algorithm main_ns layout_ns", *rows))
    assert len(_widths(svg)) == MOST_BARS
    assert "4,940 more bars are in the table only." in [text.text for text in svg.iter("text")]


def test_an_icicle_nests() -> None:
    how = {"kind": "icicle", "stack": "stack", "value": "busy_ns", "colour": "category"}
    rows = [(["a", "b", "k1"], "conv", 600), (["a", "k2"], "gemm", 200), (["c"], "copy", 200)]
    svg = _drawn(_section(how, "stack category busy_ns", *rows))
    found = {
        (rect.findtext("title") or "").split(":")[0]: (float(rect.get("x", "0")), rect.get("y"), rect.get("fill"))
        for rect in svg.iter("rect")
    }
    assert found["a"][:2] == (0, "0") and found["c"][:2] == (672, "0")
    assert (
        found["b"][:2] == (0, "19") and found["k2"] == (504, "19", colour("gemm")) and found["k1"][2] == colour("conv")
    )


def test_a_roofline_stands_in_logarithms() -> None:
    how = {"kind": "roofline", "x": "x", "y": "y", "roof": "roof", "colour": "algorithm", "label": "layer"}
    rows = [("l1", "direct", 1.0, 1e9, 1e10), ("l2", "fft", 100.0, 1e11, 1e12), ("l3", "fft", None, 1e11, None)]
    svg = _drawn(_section(how, "layer algorithm x y roof", *rows))
    points = [(float(c.get("cx", "0")), float(c.get("cy", "0"))) for c in svg.iter("circle")]
    assert len(points) == 2 and points[0][0] < points[1][0] and points[0][1] > points[1][1]
    assert len(list(svg.iter("polyline"))) == 1
    texts = {text.text for text in svg.iter("text")}
    assert {"1.00 GFLOP/s", "1.00 TFLOP/s"} <= texts


def test_a_roofline_has_a_ridge_for_each_type() -> None:
    """The roof rises with the bandwidth and is level from the ridge on; without peaks there are points alone."""
    how = {"kind": "roofline", "x": "x", "y": "y", "peak": "peak", "bandwidth": "bw", "type": "roof"}
    how |= {"colour": "family", "label": "op"}
    columns = "op family roof x y peak bw"
    rows = [("mm", "gemm", "bf16", 500.0, 1e14, 4e14, 1e12), ("relu", "elementwise", "vector", 0.5, 2e11, 1e13, 1e12)]
    svg = _drawn(_section(how, columns, *rows))
    roofs = {}
    for line in svg.iter("polyline"):
        corners = [tuple(map(float, pair.split(","))) for pair in line.get("points", "").split()]
        roofs[line.findtext("title")] = corners
    assert set(roofs) == {"bf16", "vector"}
    (_, start), (ridge, top), (end, level) = roofs["bf16"]
    assert start > top == level and ridge < end and roofs["vector"][1][0] < ridge and roofs["vector"][1][1] > top
    points = {circle.findtext("title"): float(circle.get("cy", "0")) for circle in svg.iter("circle")}
    assert points["mm, bf16"] > top and points["relu, vector"] > roofs["vector"][1][1]
    nothing = _drawn(_section(how, columns, ("mm", "gemm", "bf16", 500.0, 1e14, None, None)))
    assert not list(nothing.iter("polyline")) and len(list(nothing.iter("circle"))) == 1


def test_a_label_has_the_room_that_it_needs() -> None:
    name = "conv45 512x512x3x3 (guessed) of block"
    texts = [text.text for text in _drawn(_section(BARS, "layer pass algorithm main_ns layout_ns",
        (name, "forward", "direct", 5, 0))).iter("text")]  # fmt: skip
    assert name in texts


def test_long_names_that_differ_at_their_end_stay_apart() -> None:
    rows = [(f"alexnet_of_a_script_with_a_long_name.py:AlexNet conv{n} 16", "explicit_gemm", 5, 5) for n in (1, 2)]
    how = {"kind": "bars", "label": "layer", "group": "algorithm", "parts": ["forward_ns", "backward_ns"]}
    svg = _drawn(_section(how, "layer algorithm forward_ns backward_ns", *rows))
    shown = [text for drawn in svg.iter("text") for text in drawn.itertext() if "…" in text]
    assert [(text[:10], text[-8:]) for text in shown] == [("alexnet_of", "conv1 16"), ("alexnet_of", "conv2 16")]


@pytest.mark.parametrize(("every", "told"), [(["backward_ns"], "5.00 us, no backward"), ([], "5.00 us")])
def test_a_bar_says_which_part_was_not_timed(every: list[str], told: str) -> None:
    how = {"kind": "bars", "label": ["layer", "batch"], "parts": ["forward_ns", "backward_ns"], "every": every}
    rows = [("conv1", 16, 5000, None), ("conv2", 16, 5000, 5000)]
    texts = [text.text for text in _drawn(_section(how, "layer batch forward_ns backward_ns", *rows)).iter("text")]
    assert {"conv1 N=16", "conv2 N=16", told, "10.0 us"} <= set(texts)


def test_what_stands_beside_the_longest_bar_fits_the_chart() -> None:
    how = {"kind": "bars", "label": ["layer"], "parts": ["forward_ns", "backward_ns"], "every": ["forward_ns"]}
    svg = _drawn(_section(how, "layer forward_ns backward_ns", ("conv1", None, 3_160_000)))
    (text,) = (text for text in svg.iter("text") if text.text == "3.16 ms, no forward")
    assert float(text.get("x", 0)) + len(text.text or "") * LETTER <= WIDTH


def test_a_segment_has_the_colour_of_its_layer_and_the_pattern_of_its_pass() -> None:
    how = {"kind": "bars", "label": "run", "parts": ["busy_ns"], "segment": ["layer", "pass"]}
    rows = [
        ("A", "forward", "conv1", 1000), ("A", "forward", "conv2", 2000), ("A", "backward", "conv1", 3000),
        ("A", "other", "(no layer)", 500), ("B", "forward", "conv2", 500), ("B", "backward", "conv1", 0),
    ]  # fmt: skip
    svg = _drawn(_section(how, "run pass layer busy_ns", *rows))
    drawn = {rect[0].text: rect.get("fill") for rect in svg.iter("rect") if len(rect)}
    assert drawn["A  conv1 forward: 1.00 us"] == drawn["A  conv1 backward: 3.00 us"]
    assert drawn["A  conv2 forward: 2.00 us"] == drawn["B  conv2 forward: 500 ns"] != drawn["A  conv1 forward: 1.00 us"]
    assert drawn["A  (no layer) other: 500 ns"] == OTHER and not any("B  conv1" in told for told in drawn)
    patterns = [rect.get("fill") for rect in svg.iter("rect") if "url(" in rect.get("fill", "")]
    assert patterns == ["url(#diagonal)", "url(#dots)"] * 2  # bars, then the legend
    texts = {text.text for text in svg.iter("text")}
    assert {"conv1", "conv2", "forward", "backward", "other", "6.50 us", "500 ns"} <= texts


def test_a_deep_icicle_shows_its_upper_levels_first() -> None:
    how = {"kind": "icicle", "stack": "stack", "value": "busy_ns", "colour": "category"}
    rows = [([f"top{n}", *(f"{n}.{level}" for level in range(30))], "conv", 10) for n in range(100)]
    svg = _drawn(_section(how, "stack category busy_ns", *rows))
    told = [(rect.findtext("title") or "").split(":")[0] for rect in svg.iter("rect")]
    assert len(told) == MOST_ICICLE and {f"top{n}" for n in range(100)} <= set(told)


def test_lines_and_heat_are_drawn() -> None:
    how = {"kind": "lines", "x": "at_ns", "y": "value_bytes", "line": "counter"}
    svg = _drawn(_section(how, "counter at_ns value_bytes", ("a", 0, 10), ("a", 100, 20), ("b", 0, 5), ("b", 100, 5)))
    assert [line.get("points") for line in svg.iter("polyline")] == ["70,110 820,20", "70,155 820,155"]
    how = {"kind": "heat", "row": "rank", "column": "category", "value": "step_pct"}
    rows = [(f"rank {n}", "conv", float(n)) for n in range(512)]
    svg = _drawn(_section(how, "rank category step_pct", *rows))
    assert len(list(svg.iter("rect"))) == 512
    assert float(re.sub(r".* ", "", svg.get("viewBox", ""))) < 1200


AREAS = {"kind": "areas", "x": "at_ns", "y": "size_bytes", "area": "kind", "mark": "is_peak"}


def test_areas_stand_on_each_other_level_until_the_next_moment() -> None:
    rows = [(0, "a", 10, False), (50, "a", 10, True), (100, "a", 10, False), (50, "b", 30, True), (0, "none", 0, False)]
    svg = _drawn(_section(AREAS, "at_ns kind size_bytes is_peak", *rows))
    below, above = [polygon.get("points", "").split() for polygon in svg.iter("polygon")]
    # 180 units are 40 bytes: from 200 up to 155, and on it up to 20 in the second half.
    assert below[:6] == ["70,155", "445,155", "445,155", "820,155", "820,155", "820,155"]
    assert above[:6] == ["70,155", "445,155", "445,20", "820,20", "820,155", "820,155"]
    assert [float(line.get("x1", "0")) for line in svg.iter("line") if line.get("stroke")] == [445]
    assert "peak 40 B at 50 ns" in {text.text for text in svg.iter("text")}
    assert chart(_section(AREAS, "at_ns kind size_bytes is_peak", (0, "a", 10, True))) is None, "a moment has no width"


BLOCKS = {"kind": "blocks", "x": "from_ns", "until": "until_ns", "y": "at_bytes", "size": "size_bytes",
          "block": "kind", "label": "owner"}  # fmt: skip


def test_blocks_lie_at_their_time_and_address_and_those_alike_are_drawn_once() -> None:
    names = "kind owner from_ns until_ns at_bytes size_bytes"
    large = [("gradient", f"w{place}", 0, 100, 10 * place, 10) for place in range(150)]
    small = [("input", "x", 50, 100, 1500, 1)] * 3 + [("input", HOSTILE, 0, 50, 0, 1)]
    svg = _drawn(_section(BLOCKS, names, *large, *small, ("input", "x", 0, 100, 1500, 300)))
    titled = [rect for rect in svg.iter("rect") if rect.find("title") is not None]
    assert len(titled) == 150, "the largest say what they are"
    first = next(rect for rect in titled if "w0," in (rect.findtext("title") or ""))
    # 180 units are 1,800 bytes: 10 of them one unit, above the axis at 200.
    assert [first.get(name) for name in ("x", "y", "width", "height")] == ["70", "199", "750", "1"]
    assert first.findtext("title") == "w0, gradient: 10 B"
    paths = {path.findtext("title"): path.get("d") for path in svg.iter("path")}
    assert paths["input"] == "M445 49.5h375v0.5h-375zM70 199.5h375v0.5h-375z"
    assert chart(_section(BLOCKS, names, ("a", "b", 5, 5, 0, 1))) is None, "a moment has no width"


@pytest.mark.parametrize("how", [STACK, BARS])
def test_hostile_names_are_text(how: dict[str, object]) -> None:
    names = "category busy_ns" if how is STACK else "layer pass algorithm main_ns layout_ns"
    row = (HOSTILE, 5) if how is STACK else (HOSTILE, HOSTILE, HOSTILE, 5, 5)
    svg = str(chart(_section(how, names, row)))
    assert "<script" not in svg and "\x1b" not in svg
    assert svg.count("</svg>") == 2


def test_nothing_is_drawn_of_nothing() -> None:
    assert chart(_section(STACK, "category busy_ns")) is None
    assert chart(_section(STACK, "category busy_ns", ("conv", 0))) is None
    assert chart(_section(BARS, "layer pass algorithm main_ns layout_ns", ("a", "b", "c", 0, None))) is None


def test_a_pair_is_two_bars_on_one_scale() -> None:
    how = {"kind": "pair", "label": ["layer", "direction"], "before": "base_ns", "after": "busy_ns"}
    rows = [("B", "conv1", "fprop", 2000, 1000), ("B", "conv2", None, None, 500)]
    svg = _drawn(_section(how, "run layer direction base_ns busy_ns", *rows))
    assert _widths(svg) == pytest.approx([637.6, 318.8, 159.4])
    texts = [text.text for text in svg.iter("text")]
    assert {"conv1 fprop", "conv2", "A", "B"} <= set(texts)


@pytest.mark.parametrize("name", sorted({name for group in _known().values() for name in group}))
def test_a_colour_stands_out_on_light_and_dark_and_text_is_read_on_it(name: str) -> None:
    fill = colour(name)
    assert contrast(fill, "#ffffff") >= 3 and contrast(fill, "#15181c") >= 3
    assert contrast(fill, {"on": "#ffffff", "black": "#000000"}[ink(fill)]) >= 4.5


LEAST = {"category": 6, "algorithm": 8.5, "pass": 15, "cause": 10, "part": 6, "memory": 12}
"""Difference of any two colours that may stand side by side, to anybody; black and white differ by 100."""


@pytest.mark.parametrize("group", LEAST)
def test_colours_are_told_apart_by_everybody(group: str) -> None:
    shades = sorted(set(_known()[group].values()) - {OTHER})
    least = min((difference(*two), *two) for two in combinations(shades, 2))
    assert least[0] >= LEAST[group], least


def test_a_colour_means_one_thing() -> None:
    """Names of one colour are of one thing: idle devices, kinds of one copy, parts and families of a category.

    Categories name kernels, families (of costs: tree, roofline) operators: a norm is what batch_norm kernels do, a
    softmax those of softmax_loss, a collective is communication; parameters are arguments of a program
    of XLA. A reader of both charts sees one thing in one colour.
    """
    names: dict[str, set[str]] = {}
    for group in _known().values():
        for name, shade in group.items():
            names.setdefault(shade, set()).add(name)
    alike = sorted(sorted(some) for some in names.values() if len(some) > 1)
    assert alike == [
        ["CPU idle", "GPU idle", "MTIA idle", "TPU idle", "idle"],
        ["argument", "parameter"],
        ["backward", "gradient"],
        ["batch_norm", "norm"],
        ["collective", "communication"],
        ["conv", "main"],
        ["copy", "memcpy_dtod", "memcpy_ptop"],
        ["fill", "helper", "memset"],
        ["layout", "layout_transpose"],
        ["other", "several", "unknown"],
        ["softmax", "softmax_loss"],
    ]


def test_difference_is_ciede2000() -> None:
    """Pairs 1 and 25 of the published test data, and black against white."""
    assert ciede2000((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)
    assert ciede2000((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387)) == pytest.approx(1.2644, abs=1e-4)
    assert difference("#000000", "#ffffff") == pytest.approx(100)


@pytest.mark.parametrize("most", [0.003, 1, 3.99, 4, 7, 19, 51, 99_999, 123_456_789])
def test_ticks_are_round(most: float) -> None:
    ticks = round_ticks(most)
    assert 4 <= len(ticks) <= 11 and ticks[0] == 0 and 0.7 * most <= ticks[-1] <= most * (1 + 1e-9)
    assert re.fullmatch(r"[125](\.0)?e.*", f"{ticks[1]:.1e}")


def test_a_stack_has_a_drawing_for_narrow_screens() -> None:
    both = str(chart(_section(STACK, "category busy_ns", ("conv", 3_000_000), ("gemm", 1_000_000))))
    wide, narrow = (ElementTree.fromstring(part + "</svg>") for part in both.split("</svg>")[:2])
    assert (wide.get("class"), narrow.get("class")) == ("wide", "narrow")
    assert _widths(narrow) == [270, 90] and narrow.get("viewBox", "").startswith("0 0 360 ")


def test_a_heat_map_has_one_scale_and_no_colour_for_little() -> None:
    how = {"kind": "heat", "row": "rank", "column": "category", "value": "step_pct"}
    rows = [("rank 0", "conv", 10.0), ("rank 1", "conv", 50.0), ("rank 0", "pooling", 0.0), ("rank 1", "pooling", 0.4)]
    cells = {
        (rect.findtext("title") or "").split(":")[0]: float(rect.get("fill-opacity", "0"))
        for rect in _drawn(_section(how, "rank category step_pct", *rows)).iter("rect")
    }
    assert cells["rank 1, conv"] == 0.7
    assert cells["rank 0, conv"] == cells["rank 0, pooling"] == cells["rank 1, pooling"] == 0.04


def test_stripes_of_a_comparison_are_explained() -> None:
    how = {"kind": "pair", "label": "part", "before": "base_ns", "after": "busy_ns"}
    svg = _drawn(_section(how, "run part base_ns busy_ns", ("B", "conv", 2000, 1000)))
    texts = [text.text for text in svg.iter("text")]
    assert {"run A", "run B"} <= set(texts)
    signs = [rect.get("fill") for rect in svg.iter("rect") if rect.get("height") == "12"]
    assert signs == [OTHER, "url(#upright)", OTHER]


def test_parts_of_a_comparison_have_their_own_colours_and_signs_stand_in_order() -> None:
    """A first bar without length does not put B before A; what has no colour is grey, the whole has that of a total."""
    how = {"kind": "pair", "label": "part", "before": "base_ns", "after": "busy_ns"}
    parts = ("conv", "idle: data", "concat_split", "(whole step)")
    rows = [("B", part, 0 if part == "conv" else 9, 9) for part in parts]
    svg = _drawn(_section(how, "run part base_ns busy_ns", *rows))
    fills = {title.text.split(" B ")[0]: rect.get("fill") for rect in svg.iter("rect") for title in rect.iter("title")
             if title.text and " B " in title.text}  # fmt: skip
    assert fills == {"conv": colour("conv"), "idle: data": colour("data"), "concat_split": OTHER,
                     "(whole step)": colour("total")}  # fmt: skip
    assert [text.text for text in svg.iter("text")][-2:] == ["run A", "run B"]


def test_a_convolution_without_a_layer_is_named_by_its_algorithm() -> None:
    how = {"kind": "pair", "label": ["layer", "direction"], "nameless": ["direction", "algorithm"],
           "before": "base_ns", "after": "busy_ns"}  # fmt: skip
    rows = [("B", "conv1", "fprop", "fft", 9, 9), ("B", None, "dgrad", "fft", 9, 9), ("B", None, None, "direct", 9, 9)]
    texts = [
        text.text for text in _drawn(_section(how, "run layer direction algorithm base_ns busy_ns", *rows)).iter("text")
    ]
    assert {"conv1 fprop", "dgrad fft", "direct"} <= set(texts)


def test_shares_of_a_stack_say_of_what() -> None:
    how = {**STACK, "of": "the step"}
    assert "Percent of the step." in [
        text.text for text in _drawn(_section(how, "category busy_ns", ("conv", 3))).iter("text")
    ]


def test_algorithms_have_colours_of_their_own() -> None:
    algorithms = _known()["algorithm"]
    assert len(set(algorithms.values())) == len(algorithms)
    assert colour("(unknown)") == _known()["cause"]["unknown"] and colour("no such word") == OTHER


def test_a_tree_holds_parts_within_parts() -> None:
    """A part that has parts opens and closes; a name of a trace is text."""
    rows = [(["gemm"], 3_000), (["gemm", "aten::mm"], 2_000), (["gemm", "aten::mm", "<b>"], 1_000), (["conv"], 500)]
    section = _section({"kind": "tree", "path": "path"}, "path busy_ns", *rows)
    drawn = ElementTree.fromstring(tree(section))
    assert [each.tag for each in drawn] == ["p", "details", "p"]
    assert ["".join(each.itertext()) for each in drawn.iter("summary")] == ["3.000gemm", "2.000aten::mm"]
    assert "".join(drawn.findall("./details/details/p")[0].itertext()) == "1.000<b>"
    assert chart(section) is None
