"""Charts for notebooks: a section as an altair chart, by the same words that say how the page draws it.

Invariant: colours are the page's. altair and vl-convert-python (static SVG and PNG without a browser) are the extra
`plot`; nothing else of traceview imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from traceview.analysis.model import Section
from traceview.errors import UsageError
from traceview.render.characters import clean, flat
from traceview.render.charts import sides
from traceview.render.colours import colour
from traceview.render.panels import named
from traceview.render.units import Style, is_number, style

if TYPE_CHECKING:
    import altair

MOST_ROWS = 60
"""Bars of a chart; the tables hold all."""
WIDTH = 620

Rows = list[dict[str, Any]]


def plot(section: Section) -> altair.TopLevelMixin:
    """The chart of a section. Raises `UsageError` where there is nothing to draw, or altair is not installed."""
    try:
        import altair
    except ImportError as error:
        raise UsageError("plots need altair: pip install 'traceview[plot]'.") from error
    how = section.chart or _default(section)
    if not section.rows or not how:
        raise UsageError(f"section {section.name!r} has nothing to draw; to_pandas() gives its table.")
    names = [column.name for column in section.columns]
    rows = [dict(zip(names, map(_plain, row), strict=True)) for row in section.rows]
    made = KINDS[how["kind"]](altair, rows, how)
    # Of several panels each has its own width.
    size = {} if how["kind"] == "curves" else {"width": WIDTH}
    drawn: altair.TopLevelMixin = made.properties(title=clean(section.title), **size)
    return drawn


def is_drawn(section: Section) -> bool:
    """Whether a section says how it is drawn and has something to draw."""
    return bool(section.chart and section.rows)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value
    return float(value) if is_number(value) else [clean(str(each)) for each in value] if isinstance(
        value, list) else clean(str(flat(value)))  # fmt: skip


def _default(section: Section) -> dict[str, Any] | None:
    """Bars of the first column of times, or of the first numbers, by the first column of texts."""
    columns = list(zip(*section.rows, strict=True))
    numeric = [
        column.name
        for column, values in zip(section.columns, columns, strict=False)
        if all(value is None or is_number(value) for value in values)
    ]
    labels = [column.name for column in section.columns if column.name not in numeric]
    best = next((name for name in numeric if name.endswith("_ns")), next(iter(numeric), None))
    return {"kind": "bars", "label": labels[0], "parts": [best]} if labels and best else None


def _scaled(name: str, values: list[Any]) -> tuple[Style, float]:
    """How an axis is named and what its values are divided by: one unit, also where a table gives each value one."""
    known = [value for value in values if value is not None]
    unit = style(name, known)
    if unit.scales:
        largest = max(map(abs, known), default=0)
        fits = next((scale for scale in reversed(unit.scales) if largest >= scale.factor), unit.scales[0])
        unit = replace(unit, scale=fits)
    return unit, float(unit.scale.factor if unit.scale else 1)


def _colours(altair: Any, names: list[str]) -> Any:
    known = list(dict.fromkeys(names))
    return altair.Scale(domain=known, range=[colour(name) for name in known])


def _stack(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    only = how.get("only", how["value"])
    rows = [row for row in rows if row[only] is not None and (row[how["value"]] or 0) > 0]
    unit, factor = _scaled(how["value"], [row[how["value"]] for row in rows])
    data = [{"name": row[how["label"]], "value": row[how["value"]] / factor} for row in rows]
    return (
        altair.Chart(altair.Data(values=data))
        .mark_bar()
        .encode(
            x=altair.X("value:Q", title=unit.header),
            color=altair.Color("name:N", title=how["label"], scale=_colours(altair, [row["name"] for row in data])),
            tooltip=["name:N", altair.Tooltip("value:Q", title=unit.header, format=".4g")],
        )
    )


def _bars(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    labels = [how["label"]] if isinstance(how["label"], str) else how["label"]
    group = how.get("group")
    data = []
    for row in rows:
        label = " ".join(str(row[key]) for key in [*labels, *([group] if group else [])] if row[key] not in (None, ""))
        for part in how["parts"]:
            name = part.rsplit("_", 1)[0]
            if name == "main" and how.get("colour"):
                name = str(row[how["colour"]] or "algorithm not known")
            if row[part]:
                data.append({"label": label, "part": name, "value": row[part]})
    order = list(dict.fromkeys(entry["label"] for entry in data))[:MOST_ROWS]
    data = [entry for entry in data if entry["label"] in order]
    unit, factor = _scaled(how["parts"][0], [entry["value"] for entry in data])
    data = [{**entry, "value": entry["value"] / factor} for entry in data]
    return (
        altair.Chart(altair.Data(values=data))
        .mark_bar()
        .encode(
            x=altair.X("sum(value):Q", title=unit.header if len(how["parts"]) == 1 else f"time [{_symbol(unit)}]"),
            y=altair.Y("label:N", sort=order, title=None, axis=altair.Axis(labelLimit=260)),
            color=altair.Color("part:N", title=None, scale=_colours(altair, [entry["part"] for entry in data])),
            tooltip=["label:N", "part:N", altair.Tooltip("sum(value):Q", format=".4g")],
        )
    )


def _pair(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    return _bars(altair, sides(rows, how), {"label": "name", "group": "run", "parts": ["total_ns"]})


def _lines(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    across, x = _scaled(how["x"], [row[how["x"]] for row in rows])
    up, y = _scaled(how["y"], [row[how["y"]] for row in rows])
    data = [{"x": row[how["x"]] / x, "y": row[how["y"]] / y, "line": row[how["line"]]} for row in rows]
    return (
        altair.Chart(altair.Data(values=data))
        .mark_line()
        .encode(
            x=altair.X("x:Q", title=across.header),
            y=altair.Y("y:Q", title=up.header),
            color=altair.Color("line:N", title=how["line"]),
            strokeDash="line:N",
        )
    )


def _roofline(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    rows = [row for row in rows if (row[how["x"]] or 0) > 0 and (row[how["y"]] or 0) > 0]
    data = [
        {"x": row[how["x"]], "y": row[how["y"]], "roof": row[how["roof"]], "name": row[how["colour"]],
         "label": row[how["label"]]}
        for row in rows
    ]  # fmt: skip
    log = altair.Scale(type="log")
    base = altair.Chart(altair.Data(values=data)).encode(x=altair.X("x:Q", scale=log, title="FLOPs per byte moved"))
    points = base.mark_point(filled=True, size=60).encode(
        y=altair.Y("y:Q", scale=log, title="FLOP/s", axis=altair.Axis(format="~s")),
        color=altair.Color("name:N", title=how["colour"], scale=_colours(altair, [row["name"] for row in data])),
        tooltip=["label:N", "name:N"],
    )
    return base.mark_line(color="grey").encode(y=altair.Y("roof:Q", scale=log)) + points


def _heat(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    data = [{"row": row[how["row"]], "column": row[how["column"]], "value": row[how["value"]]} for row in rows]
    return (
        altair.Chart(altair.Data(values=data))
        .mark_rect()
        .encode(
            x=altair.X("column:N", title=how["column"], sort=None),
            y=altair.Y("row:N", title=how["row"], sort=None),
            color=altair.Color("value:Q", title=style(how["value"], [1.0]).header),
            tooltip=["row:N", "column:N", altair.Tooltip("value:Q", format=".4g")],
        )
    )


def _map(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    data = [
        {"row": named(row, how["row"]), "column": row[how["column"]], "name": row[how["value"]],
         "strength": row[how["strength"]]}
        for row in rows
    ]  # fmt: skip
    return (
        altair.Chart(altair.Data(values=data))
        .mark_rect()
        .encode(
            x=altair.X("column:N", title=how["column"], sort=None),
            y=altair.Y("row:N", title=None, sort=None, axis=altair.Axis(labelLimit=260)),
            color=altair.Color("name:N", title=how["value"], scale=_colours(altair, [row["name"] for row in data])),
            tooltip=["row:N", "column:N", "name:N", altair.Tooltip("strength:Q", title=how["strength"], format=".3g")],
        )
    )


def _curves(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    ups = [how["y"]] if isinstance(how["y"], str) else how["y"]
    across, x = _scaled(how["x"], [row[how["x"]] for row in rows])
    scaled = {up: _scaled(up, [row[up] for row in rows]) for up in ups}
    data = [
        {"panel": f"{named(row, how['panel'])}, {unit.header}", "x": row[how["x"]] / x, "y": row[up] / y,
         "name": row[how["line"]]}
        for row in rows
        for up, (unit, y) in scaled.items()
        if (row[up] or 0) > 0 and (row[how["x"]] or 0) > 0
    ]  # fmt: skip
    base = altair.Chart(altair.Data(values=data), width=WIDTH / 3)
    log = altair.Scale(type="log")
    return (
        base.mark_line(point=True)
        .encode(
            x=altair.X("x:Q", title=across.header, scale=log),
            y=altair.Y("y:Q", title=None, scale=log, axis=altair.Axis(format="~g")),
            color=altair.Color("name:N", title=how["line"], scale=_colours(altair, [row["name"] for row in data])),
            tooltip=["name:N", "x:Q", "y:Q"],
        )
        .facet("panel:N", columns=2)
        .resolve_scale(y="independent")
    )


def _intervals(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    data = [
        {"label": row[how["label"]], "value": row[how["value"]], "low": row[how["low"]], "high": row[how["high"]],
         "verdict": row[how["verdict"]]}
        for row in rows
        if row[how["value"]]
    ]  # fmt: skip
    base = altair.Chart(altair.Data(values=data)).encode(
        y=altair.Y("label:N", sort=None, title=None, axis=altair.Axis(labelLimit=260)),
        color=altair.Color("verdict:N", title=how["verdict"]),
    )
    scale = altair.Scale(type="log", zero=False)
    points = base.mark_point(filled=True, size=60).encode(x=altair.X("value:Q", title=how["value"], scale=scale))
    return base.mark_rule(strokeWidth=2).encode(x=altair.X("low:Q", scale=scale), x2="high:Q") + points


def _icicle(altair: Any, rows: Rows, how: Mapping[str, Any]) -> Any:
    named = [{"name": row[how["stack"]][-1], how["value"]: row[how["value"]]} for row in rows]
    return _bars(altair, named, {"label": "name", "parts": [how["value"]]})


def _symbol(unit: Style) -> str:
    return unit.scale.symbol if unit.scale else ""


KINDS: dict[str, Callable[[Any, Rows, Mapping[str, Any]], Any]] = {
    "stack": _stack,
    "bars": _bars,
    "pair": _pair,
    "lines": _lines,
    "roofline": _roofline,
    "heat": _heat,
    "icicle": _icicle,
    "map": _map,
    "curves": _curves,
    "intervals": _intervals,
}
