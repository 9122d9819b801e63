"""Framework, kind of device, model and threads of a capture, as trials of `tune` are told apart."""

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


def of(connection: duckdb.DuckDBPyConnection) -> Place:
    """Return the framework and device that a capture ran on."""
    ((title, device, model, threads),) = sql.load(content("queries") / "ran_on.sql").run(connection)
    ranks = sql.load(content("queries") / "framework.sql").run(connection)
    found = next((str(name) for _, name, _ in ranks if name), None)
    framework = next((key for key in advice.frameworks() if found and key in found), found)
    return Place(framework, str(device), title or framework or "", model, threads)


def remember(folder: Path, connection: duckdb.DuckDBPyConnection) -> Place:
    """Return the framework and device that a capture ran on, and keep them for later calls."""
    found = of(connection)
    answers.remember(folder, _NAME, asdict(found))
    return found


def recalled(folder: Path) -> Place | None:
    """Return the remembered place; None where there is none, or the file is not what `remember` writes."""
    try:
        return Place(**answers.recall(folder, _NAME))
    except TypeError:
        return None
