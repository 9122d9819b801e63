"""One page of a run: HTML that holds everything it shows, opens offline and can be mailed.

Invariant: the page asks for nothing (its content security policy forbids it), its one script and its style are known to
the policy by their hashes, and text of a trace is text: escaped by the template, or data that the script only draws.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup, escape

from traceview.analysis import certainty
from traceview.analysis.model import Page, Section, Timeline
from traceview.render import cells, for_people, names
from traceview.render.cells import lines
from traceview.render.characters import clean
from traceview.render.charts import PATTERNS, chart, colour, tree
from traceview.render.page.varints import varints

MOST_ROWS = 200
"""Rows of a table on the page; reports hold the rest."""
MOST_COLUMNS = 9
"""Columns from which on those that hold nothing but zeros, or nothing, are only named below the table."""
MOST_ON_PAPER = 12
"""Columns of a table on paper: those of least value stay on the screen."""
LONG_TEXT = 40
_CODE = re.compile("`([^`]+)`")


def render(page: Page, version: str) -> str:
    """The whole file, signed with the version of the program."""
    script, look = _part("tables.js") + (_part("timeline.js") if page.timeline else ""), _part("page.css")
    return (
        environment()
        .from_string(_part("page.html"))
        .render(
            page=page,
            version=version,
            style=Markup(look),
            patterns=PATTERNS,
            script=Markup(script),
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
def environment() -> Environment:
    """Jinja with the filters of pages, which escapes what it is given."""
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        chart=chart,
        tree=tree,
        table=_table,
        lines=lines,
        for_people=for_people,
        clean=_text,
        prose=lambda value: Markup(_CODE.sub(r"<code>\1</code>", str(escape(_text(value))))),
        percent=lambda value: f"{value:.1f} %",
        level=certainty.level,
        on_path=certainty.path_sentence,
        said=certainty.said,
    )
    return environment


def _table(section: Section) -> dict[str, Any]:
    """Headers, with what each column means and whether it is of numbers, and the rows as texts; names of kernels short
    with the whole name as a hint. A long text that is the same in all rows stands below them, once."""
    found = cells.fields(section)
    rows = section.rows[:MOST_ROWS]
    short = names.short({name for row in rows for value in row if isinstance(value, list) for name in map(str, value)})
    once = {at for at, field in enumerate(found) if len(rows) > 1 and _is_said_once(field.cells[: len(rows)])}
    columns = [at for at in range(len(found)) if at not in once]
    empty = [at for at in columns if len(columns) > MOST_COLUMNS and cells.is_zero(found[at])]
    columns = [at for at in columns if at not in empty]
    least = cells.by_value([found[at] for at in columns], section.look.leave_out)
    screen = {field.name for field in least[: max(0, len(columns) - MOST_ON_PAPER)]}

    def look(at: int) -> str:
        words = ("t" * (not found[at].is_numeric), "s" * (found[at].name in screen))
        return " ".join(filter(None, words))

    def cell(at: int, row: int) -> tuple[str, str, str]:
        shown, value = found[at].cells[row], rows[row][at]
        if isinstance(value, list):
            # An operator that calls itself again says nothing more.
            return clean(" > ".join(name for name, _ in groupby(short[str(name)] for name in value))), "", look(at)
        whole = _text(str(value)) if isinstance(value, str) and clean(value) != shown else ""
        return shown, whole, look(at)

    return {
        "heads": [(found[at].header, section.columns[at].doc, look(at)) for at in columns],
        "rows": [[cell(at, row) for at in columns] for row in range(len(rows))],
        "once": [(found[at].header, found[at].cells[0]) for at in sorted(once)],
        "empty": ", ".join(found[at].header for at in empty),
        "left_out": len(section.rows) - len(rows),
    }


def _is_said_once(texts: Sequence[str]) -> bool:
    return len(texts[0]) > LONG_TEXT and len(set(texts)) == 1


def _data(timeline: Timeline) -> str:
    """The columns of the timeline as varints, what columns each text stands in, and the texts in JSON, each with its
    length before it: compressed, as text. Starts are differences within their track; texts and steps are moved up by
    one, so that nothing is 0."""
    columns = {name: np.asarray(values, np.int64) for name, values in timeline.columns.items()}
    moved = np.diff(columns["start_ns"], prepend=0)
    firsts = np.cumsum([0, *(track.n_slices for track in timeline.tracks)])[:-1]
    moved[firsts] = columns["start_ns"][firsts]
    keyed = ("name", "layer", "op", "category")  # As in the script: columns to whose texts rows of tables lead.
    uses = sum(np.isin(range(len(timeline.texts)), columns[name]) << bit for bit, name in enumerate(keyed))
    written = [moved if name == "start_ns" else values + (name != "dur_ns") for name, values in columns.items()]
    blocks = [varints(values).text() for values in (*written, np.asarray(uses, np.int64))]
    texts = [list(map(clean, timeline.texts)), ["\n".join(map(clean, it.split("\n"))) for it in timeline.details]]
    blocks += [json.dumps(each, separators=(",", ":")).encode() for each in texts]
    packed = b"".join(part for block in blocks for part in (varints(np.array([len(block)])).text(), block))
    return base64.b64encode(zlib.compress(packed, 9)).decode()


def _facts(timeline: Timeline) -> Markup:
    """Return facts that the script needs beside columns and texts, as JSON that cannot end its element."""
    used = np.unique(np.asarray(timeline.columns["category"]))
    colours = {str(place): colour(timeline.texts[place]) for place in used.tolist() if place >= 0}
    facts = {
        "tracks": [[track.group, track.label, track.n_slices] for track in timeline.tracks],
        "columns": list(timeline.columns),
        "colours": colours,
        "step": timeline.step,
        "long": bool(int(np.max(timeline.columns["dur_ns"])) >> 32),
    }
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # Without it neither an end of the element nor a comment can begin.


def _text(value: str | None) -> str:
    return clean(value or "")
