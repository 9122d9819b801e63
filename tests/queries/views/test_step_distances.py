"""The step that stands for all: by length and busy time together."""

from __future__ import annotations

from pathlib import Path

import pytest
from given import Given

from traceview.analysis import critical

pytestmark = pytest.mark.slow


def test_the_step_that_stands_for_all_is_not_the_odd_one(tmp_path: Path) -> None:
    """All are as long, and the first holds a third more work; of equal ones the one in the middle."""
    given = Given()
    for step, busy in enumerate([132, 101.5, 101.6, 101.6, 101.8]):
        at = 200 * step
        given.span("step", f"ProfilerStep#{step}", at, at + 200)
        given.kernel("gemm", at + 10, at + 10 + busy, launched=at + 5)
    assert critical.middle_step().run(given.open(tmp_path)) == [(2,)]
