"""DuckDB, loaded when something of it is first used: that takes 0.1 s, and an answer that is remembered needs none."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb as duckdb
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("duckdb"), name)

    duckdb = _Later()
