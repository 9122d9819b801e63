"""Pauses of the garbage collector, as they are noted."""

from __future__ import annotations

import gc
import importlib
import time
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def garbage() -> Any:
    return importlib.import_module("traceview_inject.garbage")


def test_a_collection_is_noted_with_its_generation_and_time(garbage, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(garbage, "LEAST_NS", 0)
    pauses, before = garbage.Pauses(), time.time()
    pauses.start()
    gc.collect()
    noted = pauses.stop()
    gc.collect()
    of_all = [pause for pause in noted if pause[0] == 2]
    assert of_all and noted == pauses.noted
    assert 1e6 * before - 1000 <= of_all[0][1] <= 1e6 * time.time() and of_all[0][2] >= 0
    assert pauses.stop() == noted


def test_short_pauses_and_more_than_the_most_are_not(garbage, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(garbage, "LEAST_NS", 10**15)
    pauses = garbage.Pauses()
    pauses.start()
    gc.collect()
    assert pauses.stop() == []
    monkeypatch.setattr(garbage, "LEAST_NS", 0)
    monkeypatch.setattr(garbage, "MOST", 1)
    pauses.start()
    gc.collect()
    gc.collect()
    assert len(pauses.stop()) == 1
