"""DuckDB, loaded when something of it is first used: that takes 0.1 s, and an answer that is remembered needs none."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb as duckdb
else:
    duckdb = ModuleType("duckdb")
    duckdb.__getattr__ = lambda name: getattr(import_module("duckdb"), name)
