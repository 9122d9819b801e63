"""The queries of the graph of dependencies: read without what works it out, which few commands need."""

from __future__ import annotations

from traceview.paths import content
from traceview.sql import Query, load


def query(name: str) -> Query:
    """`queries/graph/<name>.sql`."""
    return load(content("queries") / "graph" / f"{name}.sql")
