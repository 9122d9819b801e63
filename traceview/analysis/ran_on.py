"""What a capture ran on: framework, kind of device, model and threads, as trials of `tune` are told apart."""

from __future__ import annotations

import duckdb

from traceview import sql
from traceview.analysis import advice
from traceview.paths import content
from traceview.store.learned import Place


def asked() -> str:
    """The text of the queries that `of` runs."""
    return "\n".join(sql.text(name) for name in ("framework", "ran_on"))


def of(connection: duckdb.DuckDBPyConnection) -> Place:
    """What it ran on."""
    ((title, device, model, threads),) = sql.load(content("queries") / "ran_on.sql").run(connection)
    ranks = sql.load(content("queries") / "framework.sql").run(connection)
    found = next((str(name) for _, name, _ in ranks if name), None)
    framework = next((key for key in advice.frameworks() if found and key in found), found)
    return Place(framework, str(device), title or framework or "", model, threads)
