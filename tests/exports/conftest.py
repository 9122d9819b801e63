"""One capture of the built timeline for all tests that only read it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import timelines


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A connection to it."""
    return timelines.opened(tmp_path_factory.mktemp("timeline"), timelines.EVENTS)


@pytest.fixture(scope="session")
def file(run: Any) -> Any:
    """Its file in a format."""
    return cache(lambda form: timelines.written(run, form))
