"""Which cases of many `make test` runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(n: int, cases: Iterable[Any]) -> list[Any]:
    """The first cases as they are; the others take long and run with `make test-all`."""
    marked = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*case, marks=() if at < n else pytest.mark.long) for at, case in enumerate(marked)]
