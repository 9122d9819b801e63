"""Charts of experiments: which algorithm wins where, curves over the batch, and intervals of speed-ups.

Invariant: as in `charts.py`; times of different settings are never in one panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import log

from markupsafe import Markup

from traceview.analysis.model import Section
from traceview.render.colours import OTHER, colour
from traceview.render.drawing import LETTER, WIDTH, Drawing, Row, attribute, in_unit, is_positive, legend
from traceview.render.units import style

MOST_ROWS = 60
MOST_PANELS = 12
ACROSS = 3
"""Panels beside each other."""
PANEL, FOOT = 170, 44
"""Height of a panel, and of what stands below it."""
DIRECTIONS = ("fprop", "dgrad", "wgrad", "backward")
"""Their order, also where the first row lacks one."""
VERDICTS = {"faster": "#2e8b57", "slower": "#c8553d"}
SERIES = ("#2f7ed8", "#d9822b", "#5b8c2a", "#c2569b", "#8a63d2", "#b8860b")


def named(row: Row, columns: str | Sequence[str]) -> str:
    """What one column or several say, as one label."""
    keys = [columns] if isinstance(columns, str) else columns
    return " ".join(str(row[key]) for key in keys if row[key] not in (None, ""))


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
    signs: dict[str, tuple[str, str]] = {}
    for row in rows:
        line, place = names.index(named(row, how["row"])), columns.index(str(row[how["column"]]))
        if line >= MOST_ROWS:
            continue
        value, strength = str(row[how["value"]]), row[how["strength"]]
        ratio = f" {strength:.2f}" if is_positive(strength) else ""
        depth = min(1.0, 0.25 + 0.75 * max(0.0, strength - 1)) if is_positive(strength) else 0.25
        signs.setdefault(value, (colour(value), ""))
        drawing.add(
            "rect", title=f"{named(row, how['row'])}, {columns[place]}: {value}{ratio}", x=at + room * place,
            y=30 + 22 * line, width=room - 2, height=20, fill=colour(value), fill_opacity=round(depth, 2),
        )  # fmt: skip
        drawing.text(at + room * place + 6, 30 + 22 * line + 14, f"{value}{ratio}", room - 10)
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
    signs: dict[str, tuple[str, str]] = {}
    for place, (name, up, found) in enumerate(panels[:MOST_PANELS]):
        left, top = (place % ACROSS) * WIDTH / ACROSS, (place // ACROSS) * (PANEL + FOOT)
        _panel(drawing, (left, top), f"{name}, {up.rsplit('_', 1)[0]}", found, (how["x"], up, how["line"]), signs)
        drawing.height = top + PANEL + FOOT
    legend(drawing, signs)
    _left_out(drawing, len(panels) - MOST_PANELS, "panels")
    return drawing.svg(f"{section.title}: {len(panels)} panels")


def _panel(
    drawing: Drawing,
    corner: tuple[float, float],
    name: str,
    rows: Sequence[Row],
    keys: tuple[str, str, str],
    signs: dict[str, tuple[str, str]],
) -> None:
    x_name, y_name, line = keys
    left, top = corner
    xs, ys = sorted({row[x_name] for row in rows}), [row[y_name] for row in rows]
    unit, width = style(y_name, ys), WIDTH / ACROSS - 96

    def at(row: Row) -> tuple[float, float]:
        return (
            left + 76 + width * _share(row[x_name], xs[0], xs[-1]),
            top + PANEL - 6 - (PANEL - 36) * _share(row[y_name], min(ys), max(ys)),
        )

    drawing.text(left, top + 14, name, WIDTH / ACROSS - 10)
    for value in dict.fromkeys((min(ys), max(ys))):
        y = at({x_name: xs[0], y_name: value})[1]
        drawing.add("line", x1=left + 76, x2=left + 76 + width, y1=y, y2=y, class_="grid")
        drawing.text(left + 72, y + 4, in_unit(unit, value), text_anchor="end")
    for value in dict.fromkeys((xs[0], xs[-1])):
        drawing.text(at({x_name: value, y_name: min(ys)})[0], top + PANEL + 14, f"{value:g}", text_anchor="middle")
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


def intervals(section: Section, rows: Sequence[Row], how: Row) -> Markup | None:
    """A point with its interval for each row, on an axis of ratios with a line where nothing changes."""
    rows = [row for row in rows if is_positive(row[how["value"]])]
    if not rows:
        return None
    ends = [row[key] for row in rows for key in (how["low"], how["high"], how["value"]) if is_positive(row[key])]
    least, most = min(0.98, *ends), max(1.02, *ends)
    at = max(120.0, min(300.0, max(len(str(row[how["label"]])) for row in rows) * LETTER + 10))

    def x(value: float) -> float:
        return at + (WIDTH - at - 190) * _share(value, least, most)

    shown = rows[:MOST_ROWS]
    drawing = Drawing(height=24.0 * len(shown) + 26)
    drawing.add("line", x1=x(1), x2=x(1), y1=0, y2=24 * len(shown) + 4, class_="grid")
    drawing.text(x(1), 24 * len(shown) + 20, "1: no difference", text_anchor="middle", class_="dim")
    for line, row in enumerate(shown):
        y, verdict = 24 * line + 14, str(row[how["verdict"]] or "")
        value, low, high = (row[how[key]] for key in ("value", "low", "high"))
        fill = VERDICTS.get(verdict, OTHER)
        span = f" ({low:.2f} to {high:.2f})" if is_positive(low) and is_positive(high) else ""
        title = f"{row[how['label']]}: {value:.2f}{span} {verdict}"
        drawing.text(at - 8, y + 4, str(row[how["label"]]), at - 10, text_anchor="end")
        if span:
            drawing.add("line", title=title, x1=x(low), x2=x(high), y1=y, y2=y, stroke=fill, stroke_width=3)
        drawing.add("circle", title=title, cx=x(value), cy=y, r=5, fill=fill)
        drawing.text(WIDTH - 182, y + 4, f"{value:.2f}{span} {verdict}", 182)
    _left_out(drawing, len(rows) - MOST_ROWS, "rows")
    return drawing.svg(f"{section.title}: {len(rows)} rows")


def _left_out(drawing: Drawing, n: int, what: str) -> None:
    if n > 0:
        drawing.height += 16
        drawing.text(0, drawing.height - 4, f"{n:,} more {what} are in the table only.", class_="dim")
