"""One page of a run: HTML that holds everything it shows, opens offline and can be mailed.

Invariant: the page asks for nothing (its content security policy forbids it), its one script and its style are known to
the policy by their hashes, and text of a trace is text: escaped by the template, or data that the script only draws.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from traceview.analysis.model import Page, Section, Timeline
from traceview.render import cells, told
from traceview.render.characters import clean
from traceview.render.charts import chart
from traceview.render.colours import colour
from traceview.render.lines import lines
from traceview.render.varints import varints

MOST_ROWS = 200
"""Rows of a table on the page; reports hold the rest."""


def render(page: Page, version: str) -> str:
    """The whole file, signed with the version of the program."""
    script, look = _part("timeline.js"), _part("page.css")
    return (
        _environment()
        .from_string(_part("page.html"))
        .render(
            page=page,
            version=version,
            style=Markup(look),
            script=Markup(script) if page.timeline else "",
            policy=f"default-src 'none'; style-src {_hash(look)}; script-src {_hash(script)}; img-src data:",
            data=_data(page.timeline) if page.timeline else "",
            facts=_facts(page.timeline) if page.timeline else "",
        )
    )


@cache
def _part(name: str) -> str:
    return (files("traceview.render.page") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _environment() -> Environment:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        chart=chart, table=_table, lines=lines, told=told, clean=_text, percent=lambda value: f"{value:.1f} %"
    )
    return environment


def _table(section: Section) -> dict[str, Any]:
    """Headers, with what each column means and whether it is of numbers, and the rows as texts; names of kernels short
    with the whole name as a hint."""
    found = cells.fields(section)
    heads = [(field.header, column.doc, field.is_numeric) for field, column in zip(found, section.columns, strict=True)]
    rows = [
        [
            (shown, _text(str(value)) if isinstance(value, str) and clean(value) != shown else "", field.is_numeric)
            for shown, value, field in zip(texts, row, found, strict=True)
        ]
        for texts, row in zip(
            zip(*(field.cells for field in found), strict=True), section.rows[:MOST_ROWS], strict=False
        )
    ]
    return {"heads": heads, "rows": rows, "left_out": len(section.rows) - len(rows)}


def _data(timeline: Timeline) -> str:
    """The columns of the timeline as varints, one column after the other, compressed, as text.

    Starts are differences within their track; texts and steps are moved up by one, so that nothing is 0.
    """
    columns = {name: np.asarray(values, np.int64) for name, values in timeline.columns.items()}
    starts = columns["start_ns"]
    moved = np.diff(starts, prepend=0)
    firsts = np.cumsum([0, *(track.n_slices for track in timeline.tracks)])[:-1]
    moved[firsts] = starts[firsts]
    encoded = [
        varints(moved if name == "start_ns" else values if name == "dur_ns" else values + 1).text()
        for name, values in columns.items()
    ]
    return base64.b64encode(zlib.compress(b"".join(encoded), 9)).decode()


def _facts(timeline: Timeline) -> Markup:
    """What the script needs beside the columns, as JSON that cannot end its element."""
    used = np.unique(np.asarray(timeline.columns["category"]))
    colours = {str(place): colour(timeline.texts[place]) for place in used.tolist() if place >= 0}
    facts = {
        "tracks": [[track.group, track.label, track.n_slices] for track in timeline.tracks],
        "texts": [clean(text) for text in timeline.texts],
        "columns": list(timeline.columns),
        "colours": colours,
    }
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _text(value: str | None) -> str:
    return clean(value or "")
