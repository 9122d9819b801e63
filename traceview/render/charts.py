"""Charts as SVG from the rows of a section: its `chart` says which columns are what.

Invariant: an SVG is text and numbers made safe here; nothing of a trace is markup. Every chart has a table beside it,
so a chart may leave out what is too small or too much, and says so. A name has one colour everywhere
(`colours.toml`), and colour is never the only sign. Times of different settings are never in one panel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, floor, isfinite, log, log10
from pathlib import Path
from typing import Any
from zlib import crc32

from markupsafe import Markup, escape

from traceview.analysis.model import Section
from traceview.paths import read_toml
from traceview.render import cells
from traceview.render.characters import clean
from traceview.render.units import TIME, Style, quantity, style

MOST_LABEL = 350
"""Room for labels at the left of bars, at most."""
BAR, GAP = 16, 6
MOST_BARS = 60
MOST_ICICLE = 1200
MOST_TITLED = 150
"""Blocks that say what they are."""
LEAST_PCT = 1.0
"""Difference between cells of a heat map that has no colour."""
OPERATOR = "#66717d"
HATCHED = {"layout": "diagonal", "bias": "dots", "activation": "upright", "transform": "level", "idle": "dots"}
"""Parts that have a pattern beside their colour."""
PATTERNS = Markup(Path(__file__).with_name("patterns.svg").read_text(encoding="utf-8"))
"""Patterns by their names, for the `defs` of an SVG."""


def chart(section: Section) -> Markup | None:
    """The chart of a section; none where it has none, or no rows."""
    if not section.chart or not section.rows:
        return None
    rows = [dict(zip((column.name for column in section.columns), row, strict=True)) for row in section.rows]
    draw = KINDS.get(section.chart["kind"])
    return draw and draw(section, rows, section.chart)


def stack(section: Section, rows: Sequence[Row], how: Row, wide: int) -> Markup:
    """One bar of all rows (of those that have a value in the column `only`), with a legend of names and shares."""
    rows = [row for row in rows if (row[how["value"]] or 0) > 0 and row[how.get("only", how["value"])] is not None]
    whole = sum(row[how["value"]] for row in rows)
    if not whole:
        return Markup("")
    drawing, at, across = Drawing(34, wide), 0.0, 4 if wide == WIDTH else 2
    unit = style(how["value"], [row[how["value"]] for row in rows])
    for place, row in enumerate(rows):
        share = row[how["value"]] / whole
        name = str(row[how["label"]])
        told = f"{name}: {in_unit(unit, row[how['value']])}, {100 * share:.1f} %"
        drawing.add("rect", title=told, x=at, y=0, width=wide * share, height=30, fill=colour(name), class_="edge")
        if wide * share > len(name) * LETTER + 8:
            drawing.text(at + 4, 20, name, class_=ink(colour(name)))
        column, line = place % across, place // across
        x, y = column * wide / across, 52 + 18 * line
        drawing.add("rect", x=x, y=y - 10, width=11, height=11, fill=colour(name))
        drawing.text(x + 16, y, f"{name} {100 * share:.1f} %", wide / across - 20)
        drawing.height = y + 8
        at += wide * share
    if "of" in how:
        drawing.text(0, drawing.height + 14, f"Percent of {how['of']}.", class_="dim")
        drawing.height += 20
    return drawing.svg(f"{section.title}: {len(rows)} parts of {in_unit(unit, whole)}", SIZES[wide])


def bars(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A bar for each row, of its parts; rows of one label and group share a bar, rows of one label stand together.

    A bar says which of the parts that `every` names it has none of. `segment` names two columns, of a layer, which has
    a colour, and of its pass, which has a pattern.
    """
    parts = how["parts"]

    def key(row: Row) -> tuple[str, str]:
        return named(row, how["label"]), str(row.get(how.get("group", ""), ""))

    made = [(name, list(some)) for name, some in groupby(rows, key)]
    totals = [sum(row[part] or 0 for row in some for part in parts) for _, some in made]
    most = max(totals, default=0)
    if not most:
        return None
    unit = style(parts[0], totals)
    wide, narrow, again, last = Drawing(6), Drawing(2, NARROW), Drawing(), ""
    code = crc32(f"{section.name} {rows}".encode())
    beside = min(150.0, max(len(name[1]) for name, _ in made) * LETTER + 4)
    room = min(MOST_LABEL - 18 - beside, max(len(name[0]) for name, _ in made[:MOST_BARS]) * LETTER + 4)
    edge = room + beside + 18
    full = WIDTH - edge - 90 - 60 * ("every" in how)
    signs, passes = Signs(), Signs()
    for place, ((label, group), some) in enumerate(made[:MOST_BARS]):
        shown, x, bar = "" if label == last else label, 0.0, Drawing()
        for row in some:
            for part in parts:
                width = (row[part] or 0) / most * full
                if width <= 0:
                    continue
                if "segment" in how:
                    layer, way = (str(row[column]) for column in how["segment"])
                    name, pattern = f"{layer} {way}", PASSES.get(way, "")
                    fill, _ = signs.setdefault(layer, (OTHER if layer[:1] == "(" else HUES[len(signs) % len(HUES)], ""))
                    passes[way] = (OTHER, pattern)
                else:
                    name, fill, pattern = _look(row, part, how)
                    signs.setdefault(name, (OTHER if how.get("hue") else fill, pattern))
                told = f"{label} {group} {name}: {in_unit(unit, row[part])}"
                bar.add("rect", title=told, x=x, width=width, height=BAR, fill=fill)
                if pattern:
                    bar.add("rect", x=x, width=width, height=BAR, fill=f"url(#{pattern})")
                x += width
        without = [part.rsplit("_", 1)[0] for part in how.get("every", ()) if all(row[part] is None for row in some)]
        value, of = ", no ".join([in_unit(unit, totals[place]), *without]), f"b{code:x}-{place}"
        y = wide.height + (GAP if last and shown else 1)
        wide.text(edge - 12 - beside, y + 12, shown, room, text_anchor="end")
        wide.text(edge - 6, y + 12, group, beside, text_anchor="end", class_="dim")
        wide.text(edge + x + 5, y + 12, value, class_="dim")
        wide.add("g", Markup("").join(bar.parts), id=of, transform=f"translate({edge:.1f} {y:.0f})")
        low = narrow.height + (GAP if last and shown else 1) + 16
        told = f"{group}: {value}".removeprefix(": ")
        narrow.text(0, low - 4, f"{shortened(shown, MOST_NARROW - len(told))} {told}".lstrip())
        again.add("use", href=f"#{of}", y=low - y)
        wide.height, narrow.height, last = y + BAR, low + BAR, label
    narrow.add("g", Markup("").join(again.parts), transform=f"scale({NARROW / full:.3f} 1) translate({-edge:.1f})")
    for drawing in (wide, narrow):
        drawing.height += 10
        legend(drawing, dict(sorted(signs.items())) if how.get("hue") else signs | passes)
        _left_out(drawing, len(made) - MOST_BARS, "bars")
    said = f"{section.title}: {len(made)} bars, the longest {in_unit(unit, most)}"
    return wide.svg(said, "wide") + narrow.svg(said, "narrow")


def pair(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Two bars of each row, of A and of the other run, on one scale."""
    look = {"label": "name", "group": "run", "parts": ["total_ns"], "hue": "name", "whole": "nameless" in how}
    return bars(section, sides(rows, how), look)


def sides(rows: Sequence[Row], how: Row) -> list[dict[str, Any]]:
    """Each row twice: its name (`nameless`: columns that stand for it without a layer), the run, and its time there."""
    return [
        {"name": named(row, how[key]), "run": side, "total_ns": row[column]}
        for row in rows
        for key in ("label" if "nameless" not in how or row["layer"] else "nameless",)
        for side, column in (("A", how["before"]), (str(row["run"]), how["after"]))
    ]


def lines(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A line for each name over time."""
    x_name, y_name = how["x"], how["y"]
    first, last = min(row[x_name] for row in rows), max(row[x_name] for row in rows)
    most = max(row[y_name] for row in rows)
    if last <= first or most <= 0:
        return None
    drawing, unit = Drawing(height=240), style(y_name, [most])
    _frame(drawing, unit, most, style(x_name, [last - first]), last - first)
    looks = ("", "6 3", "2 3", "10 3 2 3")
    for place, (name, some) in enumerate(groupby(rows, lambda row: str(row[how["line"]]))):
        points = " ".join(
            f"{attribute(70 + (row[x_name] - first) / (last - first) * (WIDTH - 90))},"
            f"{attribute(200 - row[y_name] / most * 180)}"
            for row in some
        )
        drawing.add(
            "polyline", title=name, points=points, class_="line", stroke=SERIES[place % len(SERIES)],
            stroke_dasharray=looks[place % len(looks)],
        )  # fmt: skip
        drawing.add("rect", x=0, y=drawing.height - 8, width=14, height=3, fill=SERIES[place % len(SERIES)])
        drawing.text(20, drawing.height - 2, name, WIDTH - 40)
        drawing.height += 16
    return drawing.svg(f"{section.title}: at most {in_unit(unit, most)}")


def areas(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Areas on top of each other over time, each level until the next moment; a moment may be marked."""
    x_name, y_name = how["x"], how["y"]
    times = sorted({row[x_name] for row in rows})
    tops = dict.fromkeys(times, 0)
    bands = []
    for name, some in groupby(rows, lambda row: str(row[how["area"]])):
        values = {row[x_name]: row[y_name] for row in some}
        below, tops = tops, {time: top + values.get(time, 0) for time, top in tops.items()}
        if any(values.values()):
            bands.append((name, below, tops, max(values.values())))
    most, span = max(tops.values(), default=0), times[-1] - times[0]
    if most <= 0 or span <= 0:
        return None
    drawing, unit, across = Drawing(height=224), style(y_name, [most]), style(x_name, [span])
    _frame(drawing, unit, most, across, span)

    def edge(levels: Mapping[int, int]) -> list[tuple[float, float]]:
        xs = [70 + (time - times[0]) / span * (WIDTH - 90) for time in times]
        ys = [200 - levels[time] / most * 180 for time in times]
        return [
            point for left, right, y in zip(xs, [*xs[1:], xs[-1]], ys, strict=True) for point in ((left, y), (right, y))
        ]

    for name, below, above, largest in bands:
        corners = [*edge(above), *reversed(edge(below))]
        points = " ".join(f"{attribute(x)},{attribute(y)}" for x, y in corners)
        drawing.add("polygon", title=f"{name}: at most {in_unit(unit, largest)}", points=points, fill=colour(name))
    for row in [row for row in rows if row[how["mark"]]][:1]:
        x = 70 + (row[x_name] - times[0]) / span * (WIDTH - 90)
        drawing.add("line", x1=x, x2=x, y1=20, y2=200, stroke="currentColor", stroke_dasharray="3 3")
        said = f"peak {in_unit(unit, tops[row[x_name]])} at {in_unit(across, row[x_name] - times[0])}"
        anchor = "end" if x > WIDTH / 2 else "start"
        drawing.text(x + (-5 if anchor == "end" else 5), 14, said, text_anchor=anchor)
    legend(drawing, {name: (colour(name), "") for name, *_ in bands})
    return drawing.svg(f"{section.title}: at most {in_unit(unit, most)}")


def blocks(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Rectangles over time and place, those of one name as one path; the largest say what they are."""
    x_name, y_name = how["x"], how["y"]
    first, last = (pick(row[name] for row in rows) for pick, name in ((min, x_name), (max, how["until"])))
    most = max(row[y_name] + row[how["size"]] for row in rows)
    if last <= first:
        return None
    drawing, unit, across = Drawing(height=224), style(y_name, [most]), style(x_name, [last - first])
    _frame(drawing, unit, most, across, last - first)

    def weight(row: Row) -> float:
        return float(row[how["size"]] * (row[how["until"]] - row[x_name]))

    titled = {id(row) for row in sorted(rows, key=weight, reverse=True)[:MOST_TITLED]}
    names: dict[str, set[str]] = {}
    for row in rows:
        # Nothing is thinner than half a pixel; what is drawn alike is drawn once.
        left, right = (70 + (row[name] - first) / (last - first) * (WIDTH - 90) for name in (x_name, how["until"]))
        low, tall = 200 - row[y_name] / most * 180, max(0.5, row[how["size"]] / most * 180)
        x, y, wide = attribute(left), attribute(low - tall), attribute(max(0.5, right - left))
        name, tall_ = str(row[how["block"]]), attribute(tall)
        some = names.setdefault(name, set())
        if id(row) in titled:
            said = f"{row[how['label']]}, {name}: {in_unit(unit, row[how['size']])}"
            drawing.add("rect", title=said, x=x, y=y, width=wide, height=tall_, fill=colour(name))
        else:
            some.add(f"M{x} {y}h{wide}v{tall_}h-{wide}z")
    for name, some in names.items():
        if some:
            drawing.add("path", title=name, d="".join(sorted(some)), fill=colour(name))
    legend(drawing, {name: (colour(name), "") for name in names})
    return drawing.svg(f"{section.title}: {len(rows):,} blocks")


def roofline(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Points under a roof, both axes logarithmic: a roof through the points, or one with a ridge for each type."""
    rows = [row for row in rows if is_positive(row[how["x"]]) and is_positive(row[how["y"]])]
    if not rows:
        return None
    xs = [row[how["x"]] for row in rows]
    roofs = _ridges(rows, how, min(xs), max(xs)) if "peak" in how else _roof(rows, how)
    ys = [row[how["y"]] for row in rows] + [y for _, points in roofs for _, y in points]
    xs += [x for _, points in roofs for x, _ in points]
    left, right = floor(log10(min(xs))), ceil(log10(max(xs)) + 1e-9)
    low, high = floor(log10(min(ys))), ceil(log10(max(ys)) + 1e-9)
    drawing = Drawing(height=330)

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            96 + (log10(x) - left) / max(1, right - left) * (WIDTH - 126),
            290 - (log10(y) - low) / max(1, high - low) * 270,
        )

    for power in range(max(0, low), high + 1):
        _, y = at(10.0**left, 10.0**power)
        drawing.add("line", x1=96, x2=WIDTH - 30, y1=y, y2=y, class_="grid")
        unit = style("rate_flop_per_s", [10**power])
        drawing.text(90, y + 4, in_unit(unit, 10.0**power), text_anchor="end")
    for power in range(left, right + 1):
        x, _ = at(10.0**power, 10.0**low)
        drawing.add("line", x1=x, x2=x, y1=20, y2=290, class_="grid")
        drawing.text(x, 306, f"{10.0**power:g}", text_anchor="middle")
    drawing.text(WIDTH / 2, 324, "FLOPs per byte moved", text_anchor="middle", class_="dim")
    for name, corners in roofs:
        points = " ".join(f"{attribute(x)},{attribute(y)}" for x, y in (at(*corner) for corner in corners))
        drawing.add("polyline", title=name, points=points, class_="line", stroke="currentColor")
        if "peak" in how:
            _, y = at(*corners[-1])
            drawing.text(WIDTH - 34, y - 4, name, text_anchor="end", class_="dim")
    signs: Signs = {}
    for row in rows:
        x, y = at(row[how["x"]], row[how["y"]])
        name = str(row[how["colour"]])
        signs.setdefault(name, (colour(name), ""))
        told = ", ".join(str(row[key]) for key in (how["label"], "direction", "algorithm", "roof") if row.get(key))
        drawing.add("circle", title=told, cx=x, cy=y, r=5, fill=colour(name), class_="edge")
    legend(drawing, signs)
    return drawing.svg(f"{section.title}: {len(rows)} points")


def _roof(rows: Sequence[Row], how: Row) -> list[tuple[str, list[tuple[float, float]]]]:
    """The roof through what each row could reach; none where no row has it."""
    points = sorted({(row[how["x"]], row[how["roof"]]) for row in rows if is_positive(row[how["roof"]])})
    return [("what the device could give", points)] if points else []


def _ridges(rows: Sequence[Row], how: Row, least: float, most: float) -> list[tuple[str, list[tuple[float, float]]]]:
    """A roof for each type: along the bandwidth up to its ridge, then level, a little beyond the points."""
    known = [row for row in rows if is_positive(row[how["peak"]]) and is_positive(row[how["bandwidth"]])]
    types: dict[tuple[float, float], set[str]] = {}
    for row in known:
        types.setdefault((row[how["peak"]], row[how["bandwidth"]]), set()).add(str(row[how["type"]]))
    end = 2 * max([most, *(peak / bandwidth for peak, bandwidth in types)])
    found = []
    for peak, bandwidth in sorted(types):
        name = ", ".join(sorted(types[peak, bandwidth]))
        start = min(least, peak / bandwidth)
        found.append((name, [(start, start * bandwidth), (peak / bandwidth, peak), (end, peak)]))
    return found


def heat(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A cell for each row and column, darker by how far its value is above the least of its column, on one scale."""
    columns = list(dict.fromkeys(str(row[how["column"]]) for row in rows))[:14]
    names = list(dict.fromkeys(str(row[how["row"]]) for row in rows))
    values = {(str(row[how["row"]]), str(row[how["column"]])): row[how["value"]] or 0.0 for row in rows}
    height = 16 if len(names) <= 64 else max(2, 1024 / len(names))
    room = (WIDTH - 150) / len(columns)
    found = [[values.get((name, column), 0.0) for name in names] for column in columns]
    most = max(max(some) - min(some) for some in found)
    drawing = Drawing(height=96 + height * len(names))
    for place, (column, some) in enumerate(zip(columns, found, strict=True)):
        x = 90 + room * place
        drawing.text(x + room / 2, 68, column, transform=f"rotate(-35 {x + room / 2:.0f} 68)")
        for line, (name, value) in enumerate(zip(names, some, strict=True)):
            above, y = value - min(some), 76 + height * line
            drawing.add(
                "rect", title=f"{name}, {column}: {value:.1f} %", x=x, y=y, width=room - 1,
                height=height - (1 if height > 4 else 0), fill="#cc5500",
                fill_opacity=0.1 + 0.6 * above / most if above >= LEAST_PCT else 0.04,
            )  # fmt: skip
            if height >= 12:
                drawing.text(x + 4, y + 12, f"{value:.1f}", room - 6)
    if height >= 12:
        for line, name in enumerate(names):
            drawing.text(84, 76 + height * line + 12, name, 80, text_anchor="end")
    note = (
        f"Percent. Darker: above the least of its column, {most:.1f} where darkest, less than {LEAST_PCT:g} where pale."
    )
    drawing.text(0, drawing.height - 4, note, class_="dim")
    return drawing.svg(f"{section.title}: {len(names)} by {len(columns)}")


def icicle(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Stacks from the top down, as wide as their time; what is narrower than a pixel is left out."""
    whole = sum(row[how["value"]] for row in rows)
    if not whole:
        return None
    drawing, unit, drawn, depth = Drawing(), style(how["value"], [row[how["value"]] for row in rows]), 0, 0
    entries = [([str(frame) for frame in row[how["stack"]]], row[how["value"]], row[how["colour"]]) for row in rows]
    left = deque([(0.0, 0, sorted(entries, key=lambda entry: entry[0]))])
    while left:
        x, level, some = left.popleft()
        deep = [entry for entry in some if len(entry[0]) > level]
        groups = [(name, list(inside)) for name, inside in groupby(deep, lambda entry, at=level: entry[0][at])]  # type: ignore[misc]
        # What takes most stands left.
        for name, below in sorted(groups, key=lambda group: -sum(each for _, each, _ in group[1])):
            value = sum(each for _, each, _ in below)
            # Operators are grey; what ran has the colour of its category.
            fill = OPERATOR if max(len(frames) for frames, _, _ in below) > level + 1 else colour(below[0][2])
            width = value / whole * WIDTH
            if width >= 1 and drawn < MOST_ICICLE:
                told = f"{name}: {in_unit(unit, value)}, {100 * value / whole:.1f} %"
                drawing.add(
                    "rect", title=told, x=x, y=level * 19, width=max(0.5, width - 0.5), height=18,
                    fill=fill,
                )  # fmt: skip
                if width > 30:
                    drawing.text(x + 3, level * 19 + 13, name, width - 4, class_=ink(fill))
                drawn, depth = drawn + 1, max(depth, level + 1)
                left.append((x, level + 1, below))
            x += width
    drawing.height = depth * 19 + 4
    return drawing.svg(f"{section.title}: {len(rows)} stacks, {in_unit(unit, whole)}", "icicle")


def tree(section: Section) -> Markup:
    """Parts within parts, each with what the other columns say of it, which open and close without a script: for pages,
    as it is no SVG."""
    path_name = (section.chart or {})["path"]
    place = [column.name for column in section.columns].index(path_name)
    below: dict[tuple[str, ...], list[tuple[tuple[str, ...], Markup]]] = {}
    columns = [found for found in cells.fields(section) if found.name != path_name]
    for at, row in enumerate(section.rows):
        path = tuple(map(str, row[place]))
        told = Markup("").join(Markup("<b>{}</b>").format(column.cells[at]) for column in reversed(columns))
        below.setdefault(path[:-1], []).append((path, told + clean(path[-1])))

    def inside(parent: tuple[str, ...]) -> Markup:
        whole, part = Markup("<details><summary>{}</summary>{}</details>"), Markup("<p>{}</p>")
        return Markup("").join(
            whole.format(told, inside(path)) if path in below else part.format(told)
            for path, told in below.get(parent, ())
        )

    heads = Markup("").join(Markup("<b>{}</b>").format(column.header) for column in reversed(columns))
    return Markup('<div class="tree"><p class="dim">{}{}</p>{}</div>').format(
        heads, "kind, operator, module", inside(())
    )


def _look(row: Row, part: str, how: Row) -> tuple[str, str, str]:
    """Name, colour and pattern of a part of a bar; math kernels have the colour of their algorithm."""
    name = part.rsplit("_", 1)[0]
    if how.get("hue"):
        shown = str(row[how["hue"]])
        return (
            f"run {row['run']}",
            colour(name) if colour(shown) == OTHER and (how.get("whole") or shown[:1] == "(") else colour(shown),
            "upright" if row["run"] == "A" else "",
        )
    if name == "main" and how.get("colour"):
        shown = str(row[how["colour"]] or "algorithm not known")
        return shown, colour(shown), ""
    return name, colour(name), HATCHED.get(name, "")


def _frame(drawing: Drawing, unit: Style, most: float, across: Style, span: float) -> None:
    for value in round_ticks(most):
        y = 200 - value / most * 180
        drawing.add("line", x1=70, x2=WIDTH - 20, y1=y, y2=y, class_="grid")
        drawing.text(64, y + 4, in_unit(unit, value), text_anchor="end")
    for value in round_ticks(span):
        x = 70 + value / span * (WIDTH - 90)
        label = in_unit(across, value)
        # The last one ends where the chart does.
        half = len(label) * LETTER / 2
        drawing.text(min(x, WIDTH - half), 216, label, text_anchor="middle")


def round_ticks(most: float) -> list[float]:
    """Four to ten round numbers from 0 to at most this one."""
    size = 10.0 ** floor(log10(most / 4))
    step = next(size * by for by in (5, 2, 1) if most >= 4 * size * by)
    return [step * at for at in range(floor(most / step * (1 + 1e-9)) + 1)]


OTHER = "#777777"


def _known() -> dict[str, dict[str, str]]:
    return read_toml(Path(__file__).with_name("colours.toml"))


def colour(name: object) -> str:
    """The colour of a name of any kind; grey for one that has none."""
    text = str(name).strip("()").removeprefix("idle: ")
    return next((group[text] for group in _known().values() if text in group), OTHER)


def ink(fill: str) -> str:
    """The class of text on a colour: black or white, whichever has the larger contrast."""
    parts = [int(fill[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return "on" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179 else "black"


Row = Mapping[str, Any]
Signs = dict[str, tuple[str, str]]
WIDTH, NARROW = 840, 360
"""Width of a chart, so that its letters are as large as others and can be read on paper; and for narrow screens."""
SIZES = {WIDTH: "wide", NARROW: "narrow"}
LETTER = 7.2
"""Width of a letter of the charts' font size, in the wider ones of common fonts."""
MOST_NARROW = int(NARROW / LETTER) - 1
MOST_START = 12
"""Number of letters below which a text is shortened at its end alone."""


@dataclass
class Drawing:
    """An SVG in the making."""

    height: float = 0.0
    width: int = WIDTH
    parts: list[Markup] = field(default_factory=list)

    def add(self, name: str, content: str = "", title: str = "", **attributes: object) -> None:
        """An element; attribute names have - for _."""
        written = Markup("").join(
            Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), attribute(value))
            for key, value in attributes.items()
        )
        hint = Markup("<title>{}</title>").format(clean(title)) if title else Markup("")
        inner = hint + (content if isinstance(content, Markup) else clean(content))
        form = Markup("<{0}{1}>{2}</{0}>") if inner else Markup("<{0}{1}/>")
        self.parts.append(form.format(Markup(name), written, inner))

    def text(self, x: float, y: float, content: str, room: float = 0.0, **attributes: object) -> None:
        """Text, shortened to its room; nothing where there is none."""
        if not content:
            return
        shown = shortened(content, int(room / LETTER)) if room else content
        self.add("text", shown, content if shown != content else "", x=x, y=y, **attributes)

    def svg(self, label: str, kind: str = "") -> Markup:
        """The whole, with a name for those who do not see it."""
        head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}"{}>')
        kind = Markup(' class="{}"').format(kind) if kind else ""
        start = head.format(self.width, attribute(self.height), clean(label), kind)
        return start + Markup("").join(self.parts) + Markup("</svg>")


def shortened(content: str, letters: int) -> str:
    """Return a text that fits into `letters`, else its two ends: names that share their beginning differ in their end,
    and the other way round."""
    if len(content) <= letters:
        return content
    shown = max(1, letters - 1)
    end = shown // 2 if shown >= MOST_START else 0
    return content[: shown - end] + "…" + content[len(content) - end :]


def legend(drawing: Drawing, signs: Signs) -> None:
    """Below what is drawn: each name with its colour and pattern."""
    x = 0.0
    drawing.height += 18
    for name, (fill, pattern) in signs.items():
        width = 22 + len(name) * LETTER + 14
        if x + width > drawing.width:
            x, drawing.height = 0.0, drawing.height + 18
        y = drawing.height - 14
        drawing.add("rect", x=x, y=y, width=12, height=12, fill=fill)
        if pattern:
            drawing.add("rect", x=x, y=y, width=12, height=12, fill=f"url(#{pattern})")
        drawing.text(x + 17, y + 10, name, drawing.width - x - 17)
        x += width


def in_unit(unit: Style, value: Any) -> str:
    """A value with its unit."""
    return quantity("_ns_ns", value) if unit.scale in TIME else f"{unit.text(value)} {symbol(unit)}".rstrip()


def symbol(unit: Style) -> str:
    """The unit of a column, if it has one."""
    return unit.scale.symbol if unit.scale else ""


def is_positive(value: Any) -> bool:
    """Whether a value has a logarithm."""
    return value is not None and isfinite(value) and value > 0


def attribute(value: object) -> object:
    """An attribute of an element: short, and safe."""
    if not isinstance(value, float):
        return escape(value)
    return f"{value:.1f}".removesuffix(".0") if abs(value) >= 1 else f"{value:.2f}".rstrip("0").rstrip(".")


MOST_ROWS = 60
MOST_PANELS = 12
ACROSS = 3
"""Panels beside each other."""
PANEL, FOOT = 170, 44
"""Height of a panel, and of what stands below it."""
DIRECTIONS = ("fprop", "dgrad", "wgrad", "backward")
"""Their order, also where the first row lacks one."""
VERDICTS = {"faster": "#2277aa", "slower": "#cc5500"}
SERIES = ("#cc2200", "#2255ee", "#558877", "#9988cc", "#dd7700", "#117777")
HUES = (*SERIES, "#666655", "#bb8866", "#bb11aa", "#dd0066", "#ff3399", "#447733")
PASSES = {"backward": "diagonal", "both": "upright", "other": "dots"}
"""Patterns of passes; the forward pass has none."""


def named(row: Row, columns: str | Sequence[str]) -> str:
    """Return one column's value or those of several, as one label."""
    keys = [columns] if isinstance(columns, str) else columns
    return " ".join("N=" * (key == "batch") + str(row[key]) for key in keys if row[key] not in (None, ""))


def tiles(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A tile for each row and column with the colour of its value, paler where little depends on it."""
    columns = list(dict.fromkeys(str(row[how["column"]]) for row in rows))
    columns.sort(key=lambda name: DIRECTIONS.index(name) if name in DIRECTIONS else len(DIRECTIONS))
    names = list(dict.fromkeys(named(row, how["row"]) for row in rows))
    at = max(120.0, min(380.0, max(map(len, names)) * LETTER + 10))
    room = (WIDTH - at) / len(columns)
    drawing = Drawing(height=30)
    for place, column in enumerate(columns):
        drawing.text(at + room * place + 4, 20, column, room - 8)
    for line, name in enumerate(names[:MOST_ROWS]):
        drawing.text(at - 8, 30 + 22 * line + 15, name, at - 10, text_anchor="end")
    signs: Signs = {}
    for row in rows:
        line, place = names.index(named(row, how["row"])), columns.index(str(row[how["column"]]))
        if line >= MOST_ROWS:
            continue
        value, strength = str(row[how["value"]]), row[how["strength"]]
        ratio = f" {strength:.2f}" if is_positive(strength) else ""
        # Between pale and full no ink can be read in light and in dark.
        depth = (1.0 if strength >= 2 else 0.25 + 0.2 * max(0.0, strength - 1)) if is_positive(strength) else 0.25
        dark = {"class_": ink(colour(value))} if depth == 1 else {}
        signs.setdefault(value, (colour(value), ""))
        drawing.add(
            "rect", title=f"{named(row, how['row'])}, {columns[place]}: {value}{ratio}", x=at + room * place,
            y=30 + 22 * line, width=room - 2, height=20, fill=colour(value), fill_opacity=round(depth, 2),
        )  # fmt: skip
        drawing.text(at + room * place + 6, 30 + 22 * line + 14, f"{value}{ratio}", room - 10, **dark)
    drawing.height = 34.0 + 22 * min(len(names), MOST_ROWS)
    legend(drawing, signs)
    _left_out(drawing, len(names) - MOST_ROWS, "rows")
    return drawing.svg(f"{section.title}: {len(names)} by {len(columns)}")


def curves(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Panels with a line for each name, both axes logarithmic; of each panel one for every column of values."""
    ups = [how["y"]] if isinstance(how["y"], str) else how["y"]
    panels = [
        (name, up, found)
        for name, some in groupby(rows, lambda row: named(row, how["panel"]))
        for each in [list(some)]
        for up in ups
        if (found := [row for row in each if is_positive(row[how["x"]]) and is_positive(row[up])])
        and len({row[how["x"]] for row in found}) > 1
    ]
    if not panels:
        return None
    drawing = Drawing()
    signs: Signs = {}
    for place, panel in enumerate(panels[:MOST_PANELS]):
        _panel(drawing, place, panel, how, signs)
    legend(drawing, signs)
    _left_out(drawing, len(panels) - MOST_PANELS, "panels")
    return drawing.svg(f"{section.title}: {len(panels)} panels")


def _panel(drawing: Drawing, place: int, panel: tuple[str, str, list[Row]], how: Row, signs: Signs) -> None:
    (name, y_name, rows), x_name, line = panel, how["x"], how["line"]
    left, top = (place % ACROSS) * WIDTH / ACROSS, (place // ACROSS) * (PANEL + FOOT)
    drawing.height = top + PANEL + FOOT
    xs, ys = sorted({row[x_name] for row in rows}), [row[y_name] for row in rows]
    unit, width = style(y_name, ys), WIDTH / ACROSS - 96
    # The axis ends at 1, 2 or 5 times a power of ten.
    first, last = (10.0 ** floor(log10(each)) for each in (min(ys), max(ys)))
    low = max(n * first for n in (1, 2, 5) if n * first <= min(ys) * (1 + 1e-9))
    high = min(n * last for n in (1, 2, 5, 10) if n * last >= max(ys) * (1 - 1e-9))

    def at(row: Row) -> tuple[float, float]:
        return (
            left + 76 + width * _share(row[x_name], xs[0], xs[-1]),
            top + PANEL - 6 - (PANEL - 36) * _share(row[y_name], low, high),
        )

    drawing.text(left, top + 14, f"{name}, {y_name.rsplit('_', 1)[0]}", WIDTH / ACROSS - 10)
    for value in dict.fromkeys((low, high)):
        y = at({x_name: xs[0], y_name: value})[1]
        drawing.add("line", x1=left + 76, x2=left + 76 + width, y1=y, y2=y, class_="grid")
        drawing.text(left + 72, y + 4, in_unit(unit, value), text_anchor="end")
    for value in dict.fromkeys((xs[0], xs[-1])):
        drawing.text(at({x_name: value, y_name: low})[0], top + PANEL + 14, f"{value:g}", text_anchor="middle")
    drawing.text(left + 76 + width / 2, top + PANEL + 28, x_name, text_anchor="middle", class_="dim")
    for series, some in groupby(sorted(rows, key=lambda row: str(row[line])), lambda row: str(row[line])):
        points = sorted((at(row), row[x_name], row[y_name]) for row in some)
        if series not in signs:
            known = colour(series)
            signs[series] = (known if known != OTHER else SERIES[len(signs) % len(SERIES)], "")
        stroke = signs[series][0]
        path = " ".join(f"{attribute(x)},{attribute(y)}" for (x, y), _, _ in points)
        drawing.add("polyline", title=series, points=path, class_="line", stroke=stroke)
        for (x, y), across, up in points:
            drawing.add("circle", title=f"{series}, {across:g}: {in_unit(unit, up)}", cx=x, cy=y, r=3, fill=stroke)


def _share(value: float, least: float, most: float) -> float:
    """How far a value is from the least to the most, by their logarithms."""
    return 0.5 if most <= least else log(value / least) / log(most / least)


def intervals(section: Section, rows: Sequence[Row], how: Row, width: int) -> Markup:
    """A point with its interval for each row, on an axis of ratios with a line where nothing changes."""
    rows = [row for row in rows if is_positive(row[how["value"]])]
    if not rows:
        return Markup("")
    ends = [row[key] for row in rows for key in (how["low"], how["high"], how["value"]) if is_positive(row[key])]
    least, most, drawing = min(0.98, *ends), max(1.02, *ends), Drawing(width=width)
    longest = max(len(str(row[how["label"]])) for row in rows)
    at, right, pitch = (max(120, min(300, longest * LETTER + 10)), 290, 24) if width == WIDTH else (8, 16, 42)

    def x(value: float) -> float:
        return at + (width - at - right) * _share(value, least, most)

    shown = rows[:MOST_ROWS]
    drawing.height = pitch * len(shown) + 26
    drawing.add("line", x1=x(1), x2=x(1), y1=0, y2=drawing.height - 22, class_="grid")
    middle = min(max(x(1), 60), width - 60)
    drawing.text(middle, drawing.height - 6, "1: no difference", text_anchor="middle", class_="dim")
    for line, row in enumerate(shown):
        y, verdict = pitch * (line + 1) - 10, str(row[how["verdict"]] or "")
        value, low, high = (row[how[key]] for key in ("value", "low", "high"))
        fill = VERDICTS.get(verdict, OTHER)
        span = f" ({low:.2f} to {high:.2f})" if is_positive(low) and is_positive(high) else ""
        name, told = str(row[how["label"]]), f"{value:.2f}{span} {verdict}"
        if span:
            drawing.add("line", title=f"{name}: {told}", x1=x(low), x2=x(high), y1=y, y2=y, stroke=fill, stroke_width=3)
        drawing.add("circle", title=f"{name}: {told}", cx=x(value), cy=y, r=5, fill=fill)
        if width == NARROW:
            drawing.text(0, y - 14, f"{shortened(name, MOST_NARROW - len(told))} {told}")
            continue
        drawing.text(at - 8, y + 4, name, at - 10, text_anchor="end")
        drawing.text(width - 280, y + 4, told, 280)
    _left_out(drawing, len(rows) - MOST_ROWS, "rows")
    return drawing.svg(f"{section.title}: {len(rows)} rows", SIZES[width])


def _left_out(drawing: Drawing, n: int, what: str) -> None:
    if n > 0:
        drawing.height += 16
        drawing.text(0, drawing.height - 4, f"{n:,} more {what} are in the table only.", class_="dim")


def twice(draw: Callable[..., Markup]) -> Callable[..., Markup | None]:
    """Return what draws a chart for most screens and paper, and for narrow screens."""
    return lambda *args: Markup("").join(draw(*args, width) for width in SIZES) or None


KINDS: dict[str, Callable[[Section, Sequence[Row], Row], Markup | None]] = {
    **{draw.__name__: draw for draw in (bars, pair, lines, areas, blocks, roofline, heat, icicle, curves)},
    **{draw.__name__: twice(draw) for draw in (stack, intervals)},
    "map": tiles,
}
