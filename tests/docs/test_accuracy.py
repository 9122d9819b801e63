"""The table of docs/accuracy.md is what benchmarks/accuracy.py counts and what traceview says now."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from public_traces import SHARED

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = runpy.run_path(str(ROOT / "benchmarks/accuracy.py"))
ROWS = SCRIPT["cells"](SCRIPT["PAGE"].read_text(encoding="utf-8"))


def _found(name: str) -> Path | None:
    return next((path for path in (ROOT / name, SHARED / "traces" / name) if path.exists()), None)


def _marks(name: str) -> Any:
    return () if name.startswith("samples/") else pytest.mark.long


HERE = [
    pytest.param(row, id=row[0].strip("`"), marks=_marks(row[0].strip("`")))
    for row in ROWS
    if _found(row[0].strip("`"))
]


@pytest.mark.parametrize("row", HERE)
def test_a_row_is_what_the_script_gives(row: list[str]) -> None:
    path = _found(row[0].strip("`"))
    assert SCRIPT["row"](row, path) == row


def test_every_cell_is_filled() -> None:
    assert len(ROWS) >= 18
    assert [row[0] for row in ROWS if len(row) != 12 or not all(row)] == []


def test_intervals_that_overlap_count_once() -> None:
    assert SCRIPT["union"]([(5, 9), (0, 4), (3, 6), (20, 21)]) == 10


def test_a_number_that_differs_by_more_than_a_thousandth_is_named() -> None:
    true = {"busy [ms]": (100.0,), "recording [ms]": (200.0,)}
    assert SCRIPT["verdict"](true, true) == "2 of 2"
    assert SCRIPT["verdict"]({**true, "busy [ms]": (100.2,)}, true) == "1 of 2: busy 100.200"
    assert SCRIPT["verdict"]("not its format", true) == "not its format"
