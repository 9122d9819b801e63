"""Facts that queries join: tables in `.toml` files beside this module, each a table of the schema `names`, as
`facts.toml` lists them.

Invariant: a key that an entry lacks is NULL; `position` is its place in the file, for the first entry that fits wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from traceview.classify import models
from traceview.classify.rules import FOLDER
from traceview.paths import read_toml


@dataclass(frozen=True)
class Facts:
    """The entries `[[NAME]]` of one file: the keys that they may have, with DuckDB types. Of a family of models the
    operators, and at which place each has the arguments of these names."""

    file: str
    columns: Mapping[str, str]
    family: str | None = None


def _facts(entry: Mapping[str, str]) -> Facts:
    columns = dict(column.split() for column in entry["columns"].split(","))
    return Facts(entry["file"], columns, entry.get("family"))


TABLES = {name: _facts(entry) for name, entry in read_toml(FOLDER / "facts.toml").items()}
"""By name, which is that of the table in the schema `names` and that of an entry."""


def columns(name: str) -> dict[str, str]:
    """The columns of `names.NAME`, with their types."""
    return {"position": "BIGINT", **TABLES[name].columns}


def rows(name: str) -> list[tuple[Any, ...]]:
    """The rows of `names.NAME`, in the order of the file."""
    family = TABLES[name].family
    entries = list(models.places(family)) if family else read_toml(FOLDER / TABLES[name].file)[name]
    return [
        (position, *(entry.get(column) for column in TABLES[name].columns)) for position, entry in enumerate(entries)
    ]


def is_product(name: str) -> bool:
    """Whether peak rates are known of a device of this name."""
    return any(re.search(device["pattern"], name, re.IGNORECASE) for device in _devices())


def products() -> list[str]:
    """A name of every product of which peak rates are known."""
    return [str(device["examples"][0]) for device in _devices()]


def _devices() -> list[dict[str, Any]]:
    devices: list[dict[str, Any]] = read_toml(FOLDER / TABLES["device"].file)["device"]
    return devices
