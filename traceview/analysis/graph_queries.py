"""The queries of the graph of dependencies: read without what works it out, which few commands need."""

from __future__ import annotations

from traceview.analysis import chosen
from traceview.paths import content
from traceview.sql import Query, load


def query(name: str) -> Query:
    """`queries/graph/<name>.sql`."""
    return load(content("queries") / "graph" / f"{name}.sql")


def asked() -> str:
    """The text of every query here, which says what views the path rests on."""
    paths = sorted((content("queries") / "graph").glob("*.sql"))
    return "\n".join([*(load(path).body for path in paths), chosen.middle_step().body])
