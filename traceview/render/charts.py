"""Charts as SVG from the rows of a section: its `chart` says which columns are what.

Invariant: an SVG is text and numbers made safe here; nothing of a trace is markup. Every chart has a table beside it,
so a chart may leave out what is too small or too much, and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from math import ceil, floor, log10
from typing import Any

from markupsafe import Markup

from traceview.analysis.model import Section
from traceview.render.colours import OTHER, colour
from traceview.render.drawing import LETTER, WIDTH, Drawing, Row, attribute, in_unit, is_positive, legend
from traceview.render.panels import SERIES, curves, intervals, named, tiles
from traceview.render.units import Style, style

MOST_LABEL = 350
"""Room for labels at the left of bars, at most."""
BAR, GAP = 16, 6
MOST_BARS = 60
MOST_ICICLE = 1200
OPERATOR = "#66717d"
HATCHED = {"layout": "diagonal", "bias": "dots", "activation": "upright", "transform": "level", "idle": "dots"}
"""Parts that have a pattern beside their colour."""


def chart(section: Section) -> Markup | None:
    """The chart of a section; none where it has none, or no rows."""
    if not section.chart or not section.rows:
        return None
    rows = [dict(zip((column.name for column in section.columns), row, strict=True)) for row in section.rows]
    return KINDS[section.chart["kind"]](section, rows, section.chart)


def stack(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """One bar of all rows (of those that have a value in the column `only`), with a legend of names and shares."""
    rows = [row for row in rows if (row[how["value"]] or 0) > 0 and row[how.get("only", how["value"])] is not None]
    whole = sum(row[how["value"]] for row in rows)
    if not whole:
        return None
    drawing, at = Drawing(height=34), 0.0
    unit = style(how["value"], [row[how["value"]] for row in rows])
    for place, row in enumerate(rows):
        share = row[how["value"]] / whole
        name = str(row[how["label"]])
        told = f"{name}: {in_unit(unit, row[how['value']])}, {100 * share:.1f} %"
        drawing.add("rect", title=told, x=at, y=0, width=WIDTH * share, height=30, fill=colour(name), class_="edge")
        if WIDTH * share > len(name) * LETTER + 8:
            drawing.text(at + 4, 20, name, class_="on")
        column, line = place % 4, place // 4
        x, y = column * WIDTH / 4, 52 + 18 * line
        drawing.add("rect", x=x, y=y - 10, width=11, height=11, fill=colour(name))
        drawing.text(x + 16, y, f"{name} {100 * share:.1f} %", WIDTH / 4 - 20)
        drawing.height = y + 8
        at += WIDTH * share
    return drawing.svg(f"{section.title}: {len(rows)} parts of {in_unit(unit, whole)}")


def bars(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A bar for each row, of its parts; rows of one label and group share a bar, rows of one label stand together.

    A bar says which of the parts that `every` names it has none of.
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
    drawing, y, last = Drawing(), 6.0, ""
    beside = min(150.0, max(len(name[1]) for name, _ in made) * LETTER + 4)
    room = min(MOST_LABEL - 18 - beside, max(len(name[0]) for name, _ in made[:MOST_BARS]) * LETTER + 4)
    edge = room + beside + 18
    signs: dict[str, tuple[str, str]] = {}
    for ((label, group), some), total in list(zip(made, totals, strict=True))[:MOST_BARS]:
        y += GAP if last and label != last else 1
        shown = "" if label == last else label
        drawing.text(edge - 12 - beside, y + 12, shown, room, text_anchor="end")
        drawing.text(edge - 6, y + 12, group, beside, text_anchor="end", class_="dim")
        x = edge
        for row in some:
            for part in parts:
                width = (row[part] or 0) / most * (WIDTH - edge - 90)
                name, fill, pattern = _look(row, part, how)
                if width <= 0:
                    continue
                signs.setdefault(name, (fill, pattern))
                told = f"{label} {group} {name}: {in_unit(unit, row[part])}"
                drawing.add("rect", title=told, x=x, y=y, width=width, height=BAR, fill=fill)
                if pattern:
                    drawing.add("rect", x=x, y=y, width=width, height=BAR, fill=f"url(#{pattern})")
                x += width
        without = [part.rsplit("_", 1)[0] for part in how.get("every", ()) if all(row[part] is None for row in some)]
        drawing.text(x + 5, y + 12, ", no ".join([in_unit(unit, total), *without]), class_="dim")
        y += BAR
        last = label
    drawing.height = y + 10
    legend(drawing, signs)
    if len(made) > MOST_BARS:
        drawing.height += 16
        drawing.text(0, drawing.height - 4, f"{len(made) - MOST_BARS:,} more bars are in the table only.", class_="dim")
    return drawing.svg(f"{section.title}: {len(made)} bars, the longest {in_unit(unit, most)}")


def pair(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Two bars of each row, of A and of the other run, on one scale."""
    return bars(section, sides(rows, how), {"label": "name", "group": "run", "parts": ["total_ns"], "hue": "name"})


def sides(rows: Sequence[Row], how: Row) -> list[dict[str, Any]]:
    """Each row twice: its name, the run, and its time there; A first."""
    return [
        {"name": named(row, how["label"]), "run": side, "total_ns": row[column]}
        for row in rows
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


def roofline(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """Points under a roof, both axes logarithmic."""
    rows = [row for row in rows if is_positive(row[how["x"]]) and is_positive(row[how["y"]])]
    if not rows:
        return None
    roofs = sorted((row[how["x"]], row[how["roof"]]) for row in rows if is_positive(row[how["roof"]]))
    xs = [row[how["x"]] for row in rows]
    ys = [row[how["y"]] for row in rows] + [roof for _, roof in roofs]
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
    if roofs:
        points = " ".join(f"{attribute(x)},{attribute(y)}" for x, y in (at(*roof) for roof in roofs))
        drawing.add("polyline", title="what the device could give", points=points, class_="line", stroke="currentColor")
    signs: dict[str, tuple[str, str]] = {}
    for row in rows:
        x, y = at(row[how["x"]], row[how["y"]])
        name = str(row[how["colour"]])
        signs.setdefault(name, (colour(name), ""))
        told = ", ".join(str(row[key]) for key in ("layer", "direction", "algorithm") if row.get(key))
        drawing.add("circle", title=told, cx=x, cy=y, r=5, fill=colour(name), class_="edge")
    legend(drawing, signs)
    return drawing.svg(f"{section.title}: {len(rows)} points")


def heat(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A cell for each row and column, darker where its value is larger among its column's."""
    columns = list(dict.fromkeys(str(row[how["column"]]) for row in rows))[:14]
    names = list(dict.fromkeys(str(row[how["row"]]) for row in rows))
    values = {(str(row[how["row"]]), str(row[how["column"]])): row[how["value"]] or 0.0 for row in rows}
    height = 16 if len(names) <= 64 else max(2, 1024 / len(names))
    room = (WIDTH - 90) / len(columns)
    drawing = Drawing(height=40 + height * len(names))
    for place, column in enumerate(columns):
        drawing.text(90 + room * place + 2, 28, column, room - 4)
        some = [values.get((name, column), 0.0) for name in names]
        least, most = min(some), max(some)
        for line, (name, value) in enumerate(zip(names, some, strict=True)):
            depth = (value - least) / (most - least) if most > least else 0.0
            x, y = 90 + room * place, 36 + height * line
            drawing.add(
                "rect", title=f"{name}, {column}: {value:.1f} %", x=x, y=y, width=room - 1,
                height=height - (1 if height > 4 else 0), fill="#c8553d", fill_opacity=0.06 + 0.8 * depth,
            )  # fmt: skip
            if height >= 12:
                drawing.text(x + 4, y + 12, f"{value:.1f}", room - 6)
    if height >= 12:
        for line, name in enumerate(names):
            drawing.text(84, 36 + height * line + 12, name, 80, text_anchor="end")
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
        for name, inside in groupby(deep, lambda entry, at=level: entry[0][at]):  # type: ignore[misc]
            below = list(inside)
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
                    drawing.text(x + 3, level * 19 + 13, name, width - 4, class_="on")
                drawn, depth = drawn + 1, max(depth, level + 1)
                left.append((x, level + 1, below))
            x += width
    drawing.height = depth * 19 + 4
    return drawing.svg(f"{section.title}: {len(rows)} stacks, {in_unit(unit, whole)}")


KINDS: dict[str, Callable[[Section, Sequence[Row], Row], Markup | None]] = {
    "stack": stack,
    "bars": bars,
    "pair": pair,
    "lines": lines,
    "roofline": roofline,
    "heat": heat,
    "icicle": icicle,
    "map": tiles,
    "curves": curves,
    "intervals": intervals,
}


def _look(row: Row, part: str, how: Row) -> tuple[str, str, str]:
    """Name, colour and pattern of a part of a bar; math kernels have the colour of their algorithm."""
    name = part.rsplit("_", 1)[0]
    if how.get("hue"):
        shown = str(row[how["hue"]])
        return name, colour(shown) if colour(shown) != OTHER else colour(name), "upright" if row["run"] == "A" else ""
    if name == "main" and how.get("colour"):
        shown = str(row[how["colour"]] or "algorithm not known")
        return shown, colour(shown), ""
    return name, colour(name), HATCHED.get(name, "")


def _frame(drawing: Drawing, unit: Style, most: float, across: Style, span: float) -> None:
    for quarter in range(5):
        y = 200 - quarter * 45
        drawing.add("line", x1=70, x2=WIDTH - 20, y1=y, y2=y, class_="grid")
        drawing.text(64, y + 4, in_unit(unit, most * quarter / 4), text_anchor="end")
        drawing.text(70 + quarter * (WIDTH - 90) / 4, 216, in_unit(across, span * quarter / 4), text_anchor="middle")
