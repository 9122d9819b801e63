"""Facts that queries join: tables in `.toml` files beside this module, each a table of the schema `names`, as
`facts.toml` lists them.

Invariant: a key that an entry lacks is NULL; `position` is its place in the file, for the first entry that fits wins.
"""

from __future__ import annotations

import re
from typing import Any

from traceview.classify import models
from traceview.classify.rules import FOLDER
from traceview.paths import read_toml

TABLES: dict[str, dict[str, str]] = read_toml(FOLDER / "facts.toml")
"""By name, which is that of the table in the schema `names`: the `file` with the entries `[[NAME]]`, and the `columns`,
keys that they may have, with DuckDB types. Of a `family` of models the operators, and at which place each has the
arguments of these names."""


def columns(name: str) -> dict[str, str]:
    """The columns of `names.NAME`, with their types."""
    return {"position": "BIGINT"} | dict(column.split() for column in TABLES[name]["columns"].split(","))


def rows(name: str) -> list[tuple[Any, ...]]:
    """The rows of `names.NAME`, in the order of the file."""
    family = TABLES[name].get("family")
    entries = models.places(family) if family else read_toml(FOLDER / TABLES[name]["file"])[name]
    keys = [*columns(name)][1:]
    return [(position, *map(entry.get, keys)) for position, entry in enumerate(entries)]


def is_product(name: str) -> bool:
    """Whether peak rates are known of a device of this name."""
    return any(re.search(device["pattern"], name, re.IGNORECASE) for device in _devices())


def products() -> list[str]:
    """A name of every product of which peak rates are known."""
    return [str(device["examples"][0]) for device in _devices()]


def _devices() -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = read_toml(FOLDER / TABLES["device"]["file"])["device"]
    return devices
