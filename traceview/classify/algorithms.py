"""Reads `algorithms.toml`: which algorithm is admissible for which convolution, and which is usually the fastest.

The one law: a condition that the file does not name does not limit; every fact names its source.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from traceview.classify.rules import FOLDER

ALGORITHM = {
    "name": "VARCHAR",
    "directions": "VARCHAR[]",
    "dims": "BIGINT",
    "dtypes": "VARCHAR[]",
    "layout": "VARCHAR",
    "stride_max": "BIGINT",
    "dilation_max": "BIGINT",
    "filters": "BIGINT[]",
    "filter_max": "BIGINT",
    "filter_max_3d": "BIGINT",
    "padded_max": "BIGINT",
    "padding_below_filter": "BOOLEAN",
    "method": "VARCHAR",
    "memory": "VARCHAR",
    "since": "VARCHAR",
    "source": "VARCHAR",
}
"""Columns of `names.algorithm`: the keys of an [[algorithm]], NULL where it has none."""

TENDENCY = {
    "name": "VARCHAR",
    "filter_min": "BIGINT",
    "filter_max": "BIGINT",
    "stride_min": "BIGINT",
    "stride_max": "BIGINT",
    "channels_max": "BIGINT",
    "directions": "VARCHAR[]",
    "order": "VARCHAR[]",
    "source": "VARCHAR",
}
"""Columns of `names.tendency`: the keys of a [[tendency]], in the file's order."""


def algorithms() -> list[tuple[Any, ...]]:
    """One row per algorithm."""
    return _rows("algorithm", ALGORITHM)


def tendencies() -> list[tuple[Any, ...]]:
    """One row per tendency; the first that fits a convolution holds for it."""
    return _rows("tendency", TENDENCY)


def _rows(key: str, columns: Mapping[str, str]) -> list[tuple[Any, ...]]:
    entries = tomllib.loads((FOLDER / "algorithms.toml").read_text(encoding="utf-8"))[key]
    return [tuple(entry.get(column) for column in columns) for entry in entries]
