"""What a capture ran on: framework, kind of device, model and threads, as trials of `tune` are told apart."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import duckdb

from traceview import sql
from traceview.analysis import advice
from traceview.paths import content
from traceview.store import answers
from traceview.store.learned import Place

_NAME = "what it ran on"


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


def remember(folder: Path, connection: duckdb.DuckDBPyConnection) -> Place:
    """What it ran on, kept for whoever asks next."""
    found = of(connection)
    answers.remember(folder, _NAME, asdict(found))
    return found


def recalled(folder: Path) -> Place | None:
    """What was remembered; None where that is nothing, or not what `remember` writes."""
    try:
        return Place(**answers.recall(folder, _NAME))
    except TypeError:
        return None
