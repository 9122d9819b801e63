"""Colours of charts: one per category, algorithm, cause of idle time and part of a bar, the same everywhere.

Invariant: colour is never the only sign: what is drawn is also written, in a label, a legend or a table.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

OTHER = "#808080"


@cache
def _known() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("traceview.render") / "colours.toml").read_text(encoding="utf-8"))


def colour(name: object) -> str:
    """The colour of a name of any kind; grey for one that has none."""
    text = str(name).strip("()")
    return next((group[text] for group in _known().values() if text in group), OTHER)
