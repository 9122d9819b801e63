"""One capture of the built timeline for all tests that only read it."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import timeline


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A connection to it."""
    return timeline.opened(tmp_path_factory.mktemp("timeline"), timeline.EVENTS)


@pytest.fixture(scope="session")
def file(run: Any) -> Any:
    """Its file in a format."""
    return cache(lambda form: timeline.written(run, form))
