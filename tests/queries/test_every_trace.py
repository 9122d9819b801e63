"""Every section of every report on every public trace: it runs, and its shares are shares."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from public_traces import EACH, TRACES

from traceview import readers
from traceview.analysis import findings, reports
from traceview.decode.files import peek
from traceview.errors import InputError

CAN_EXCEED = ("link_pct", "cv_pct")
"""Shares of a limit, not of a whole."""


@pytest.mark.long
@pytest.mark.shared
@EACH
def test_reports(trace: Path, shared: Path, captures) -> None:  # type: ignore[no-untyped-def]
    try:
        readers.detect(peek(trace if trace.is_file() else next(trace.iterdir())))
    except InputError:
        pytest.skip(f"no reader knows {trace.name}")
    connection = captures.open(trace)
    for name in reports.names():
        for section in reports.run(connection, name, best=findings.best).sections:
            assert section.rows or section.note, (name, section.name)
            shares = [
                (column.name, value)
                for row in section.rows
                for column, value in zip(section.columns, row, strict=True)
                if column.name.endswith("_pct") and value is not None
            ]
            for column, value in shares:
                assert math.isfinite(value), (name, section.name, column, value)
                assert value > -1e-6, (name, section.name, column, value)
                assert value < 100.001 or column in CAN_EXCEED, (name, section.name, column, value)


def test_without_the_public_traces_this_is_said(shared: Path) -> None:
    assert TRACES
