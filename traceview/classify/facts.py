"""Facts that queries join: tables in `.toml` files beside this module, each a table of the schema `names`.

Invariant: a key that an entry lacks is NULL; `position` is its place in the file, for the first entry that fits wins.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from traceview.classify import models
from traceview.classify.rules import FOLDER


@dataclass(frozen=True)
class Facts:
    """The entries `[[NAME]]` of one file: the keys that they may have, with DuckDB types. Of a family of models the
    operators, and at which place each has the arguments of these names."""

    file: str
    columns: Mapping[str, str]
    family: str | None = None


TABLES = {
    "algorithm": Facts(
        "algorithms.toml",
        {
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
            "memory": "VARCHAR",
            "since": "VARCHAR",
            "source": "VARCHAR",
        },
    ),
    "tendency": Facts(
        "algorithms.toml",
        {
            "name": "VARCHAR",
            "filter_min": "BIGINT",
            "filter_max": "BIGINT",
            "stride_min": "BIGINT",
            "stride_max": "BIGINT",
            "channels_max": "BIGINT",
            "directions": "VARCHAR[]",
            "order": "VARCHAR[]",
            "source": "VARCHAR",
        },
    ),
    "method": Facts(
        "algorithms.toml",
        {"algorithm": "VARCHAR", "filter": "BIGINT", "implementation": "VARCHAR", "method": "VARCHAR"},
    ),
    "transform": Facts("algorithms.toml", {"method": "VARCHAR", "side": "BIGINT", "library": "VARCHAR"}),
    "tile": Facts(
        "algorithms.toml",
        {"method": "VARCHAR", "library": "VARCHAR", "fused": "BOOLEAN"}
        | dict.fromkeys(("filter", "m", "a"), "BIGINT")
        | dict.fromkeys(("data_flop", "filter_flop", "output_flop"), "BIGINT"),
    ),
    "control": Facts("algorithms.toml", dict.fromkeys(("framework", "setting", "does", "cannot"), "VARCHAR")),
    "device": Facts(
        "devices.toml",
        {"pattern": "VARCHAR"}
        | {f"{kind}_flop_per_s": "DOUBLE" for kind in ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")}
        | {"memory_bytes_per_s": "DOUBLE", "host_link_bytes_per_s": "DOUBLE", "source": "VARCHAR"}
        | {"n_cores": "BIGINT", "max_threads_per_core": "BIGINT"},
    ),
    "architecture": Facts("devices.toml", dict.fromkeys(("name", "pattern", "chip", "product", "source"), "VARCHAR")),
    "conv": Facts(
        "models.toml",
        {"name": "VARCHAR"}
        | dict.fromkeys(("input", "weight", "grad", "bias", "stride", "padding", "dilation"), "BIGINT")
        | dict.fromkeys(("transposed", "groups", "output_mask"), "BIGINT"),
        family="conv",
    ),
    "gemm": Facts(
        "models.toml",
        {"name": "VARCHAR"} | dict.fromkeys(("a", "b", "x", "w", "added", "bias"), "BIGINT"),
        family="gemm",
    ),
    "framework": Facts("frameworks.toml", {"name": "VARCHAR", "kernels": "VARCHAR"}),
    "package": Facts("packages.toml", {"kind": "VARCHAR", "names": "VARCHAR[]"}),
}
"""By name, which is that of the table in the schema `names` and that of an entry."""


def columns(name: str) -> dict[str, str]:
    """The columns of `names.NAME`, with their types."""
    return {"position": "BIGINT", **TABLES[name].columns}


def rows(name: str) -> list[tuple[Any, ...]]:
    """The rows of `names.NAME`, in the order of the file."""
    family = TABLES[name].family
    entries = list(models.places(family)) if family else _read(TABLES[name].file)[name]
    return [
        (position, *(entry.get(column) for column in TABLES[name].columns)) for position, entry in enumerate(entries)
    ]


def is_product(name: str) -> bool:
    """Whether peak rates are known of a device of this name."""
    return any(re.search(device["pattern"], name, re.IGNORECASE) for device in _read(TABLES["device"].file)["device"])


def products() -> list[str]:
    """A name of every product of which peak rates are known."""
    return [str(device["examples"][0]) for device in _read(TABLES["device"].file)["device"]]


@cache
def _read(file: str) -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))
