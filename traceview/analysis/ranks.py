"""Sections with a row for each rank, where there are many: minimum, median and maximum, and the worst few ranks."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

from traceview.analysis.model import Section

MOST = 16
"""Ranks up to which each has its row."""
WORST = 5
"""Ranks that are named of more."""
KINDS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "HUGEINT")
_OF = (("minimum", min), ("median", median), ("maximum", max))


def summed_up(section: Section, worst: str) -> Section:
    """The section with three rows about all its ranks, each column by itself, and the ranks with most of one column."""
    at = [column.name for column in section.columns].index(worst)
    known = [row for row in section.rows if row[at] is not None]
    last = sorted(known, key=lambda row: (-row[at], row[0]))[:WORST]
    rows = [_row(section, name, of) for name, of in _OF]
    what = section.look.headings.get(worst, worst.rpartition("_")[0] or worst)
    note = (
        f"{len(section.rows):,} ranks: minimum, median and maximum of each column, then the {len(last)} ranks "
        f"with most {what}. --limit 0 shows all."
    )
    return replace(section, rows=(*rows, *last), note=note, unseen=section.rows)


def _row(section: Section, name: str, of: Any) -> tuple[Any, ...]:
    row: list[Any] = [name]
    for place, column in enumerate(section.columns[1:], 1):
        values = [row[place] for row in section.rows if row[place] is not None]
        is_number = any(kind in column.type for kind in KINDS) and "[" not in column.type
        found = of(values) if is_number and values else None
        row.append(round(found) if found is not None and "INT" in column.type else found)
    return tuple(row)
