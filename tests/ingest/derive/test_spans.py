"""Columns between the staging database and arrays."""

from __future__ import annotations

import numpy as np
import pytest

from traceview.ingest.derive import spans


@pytest.mark.parametrize("marked", [0, spans.MARKED])
def test_values_are_numbered_by_marks_as_by_sorting(monkeypatch: pytest.MonkeyPatch, marked: int) -> None:
    monkeypatch.setattr(spans, "MARKED", marked)
    values = np.array([7, 2, 7, 0, 9, 2], np.int64)
    distinct, places = spans.numbered(values, 10)
    assert distinct == [0, 2, 7, 9]
    assert places.tolist() == [2, 1, 2, 0, 3, 1]


def test_no_values_have_no_numbers() -> None:
    assert spans.numbered(np.empty(0, np.int64), 0)[0] == []
